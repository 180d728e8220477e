"""In which language is a text?

identification.py a text to the code of its language, by its parts
"""

from simdoc_search.languages.identification import (
    FIELD,
    MIXED,
    UNKNOWN,
    Identified,
    check_can_identify,
    identified,
    language_candidates,
    language_of,
    language_said,
)

__all__ = [
    "FIELD",
    "MIXED",
    "UNKNOWN",
    "Identified",
    "check_can_identify",
    "identified",
    "language_candidates",
    "language_of",
    "language_said",
]
