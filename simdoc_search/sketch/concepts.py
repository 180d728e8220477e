"""The concepts of a text as tokens, paragraph by paragraph, and the simhashes of its paragraphs.

They are stored as one list of numbers of 30 bits, in order: for each paragraph those of its concepts, one as often as
the paragraph has it, and then 0, which no concept has. So each paragraph's simhash can be made from them at any time,
without and with weights, and these from how many documents of the store have a concept today.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["CONCEPT_LENGTH", "PARAGRAPH_END", "Concepts"]

CONCEPT_LENGTH = 5
"""Characters of a token, of 6 bits each."""

PARAGRAPH_END = 0
"""The number after each paragraph."""

_NAME = re.compile(r"[a-z0-9][a-z0-9/._-]{0,17}")
_CHECK = re.compile(r"(?:[0-9a-f]{6})?")

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Concepts:
    """How the concepts of documents are found.

    Attributes:
        extractor: the name of what finds them, up to 18 small letters, digits, `/`, `.`, `_` and `-`.
        synonyms: 6 hexadecimal digits that change with the synonyms; empty: there are none.
    """

    extractor: str = "yake"
    synonyms: str = ""

    def __post_init__(self) -> None:
        if not _NAME.fullmatch(self.extractor):
            raise ValueError(
                f"the name of an extractor is like 'yake' or 'spacy/core_web_sm', not {self.extractor!r:.60}"
            )
        if not _CHECK.fullmatch(self.synonyms):
            raise ValueError(f"synonyms are named by 6 hexadecimal digits, not {self.synonyms!r:.60}")
