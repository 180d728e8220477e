"""FINGERPRINT strings as Alfresco read them: `workspace://SpacesStore/UUID_20_80`, `UUID_0.2_0.8`.

There the id ends at the first `_`, a number up to 1 is a fraction and a greater one percent, and a node may be named by
its reference. A field may be written in any case, and its value, or the id alone, in quotes. What is plainly a fault
there is not copied: a probability of 100 % keeps the overlap.

Source: Solr4QueryParser of Alfresco Search Services.
"""

from __future__ import annotations

import re
from fractions import Fraction

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import exact
from simdoc_search.query.syntax import FingerprintQuery

_MOST_PARTS = 3
_WRITTEN = re.compile(
    r'\s*(?:FINGERPRINT\s*:)?\s*(?:"(?P<quoted>[^"]*)"(?P<more>[^"]*)|(?P<bare>[^"]*))', re.IGNORECASE
)
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)")


def parse_alfresco(text: str) -> FingerprintQuery:
    """The query that Alfresco would have read, with the UUID of the node as id.

    Ask with `planner="all"` and `include_self=True` for Alfresco's answers, and with the filters that say what the user
    may read: the repository added them, an index does not know them.

    Raises:
        QuerySyntaxError: there is no id, or a number is none, or out of range.
    """
    written = _WRITTEN.fullmatch(text)
    value = "".join(each for each in written.groups() if each) if written else ""
    parts = value.strip().rstrip("_").split("_")
    if not parts[0] or len(parts) > _MOST_PARTS:
        raise QuerySyntaxError(f"{text!r} is no FINGERPRINT of Alfresco; write UUID_20_80, without _ in the id")
    numbers = [_share(part, text) for part in parts[1:]]
    overlap, probability = [*numbers, None, None][:2]
    return FingerprintQuery(parts[0].rpartition("/")[2], overlap, probability)


def _share(part: str, text: str) -> Fraction:
    """A number up to 1 as it is, a greater one, or one with a percent sign, as percent."""
    found = _NUMBER.fullmatch(part)
    if not found:
        raise QuerySyntaxError(f"{part!r} in {text!r} is no number; write UUID_20_80")
    number = Fraction(found[1])
    return exact(number / 100 if number > 1 or found[2] else number, "a number of FINGERPRINT")
