"""Parses FINGERPRINT strings as Alfresco does: `workspace://SpacesStore/UUID_20_80`, `UUID_0.2_0.8`.

In Alfresco, the id ends at the first `_`. A number up to 1 is a fraction. A larger number, or one with a percent
sign, is a percentage. The id may be a node reference. The field name is case-insensitive. The whole value or only the
id may be quoted. One bug of Alfresco is not reproduced: here, a probability of 100 % does not discard the overlap.

Source: Solr4QueryParser of Alfresco Search Services.
"""

from __future__ import annotations

import re
from fractions import Fraction

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.query.syntax import FingerprintQuery

_MAX_PARTS = 3
_FINGERPRINT_PATTERN = re.compile(
    r'\s*(?:FINGERPRINT\s*:)?\s*(?:"(?P<quoted>[^"]*)"(?P<more>[^"]*)|(?P<bare>[^"]*))', re.IGNORECASE
)
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(%?)")


def parse_alfresco(text: str) -> FingerprintQuery:
    """Return the query that a string stands for in Alfresco. The id of the query is the UUID of the node.

    To get the same hits as Alfresco, use `planner="all"` and `include_self=True`. An index does not contain
    permissions. Add filters for the documents that the user may read, as the repository does in Alfresco.

    Raises:
        QuerySyntaxError: there is no id, or a number is malformed or out of range.
    """
    match = _FINGERPRINT_PATTERN.fullmatch(text)
    value = "".join(group for group in match.groups() if group) if match else ""
    id, *numbers = value.strip().rstrip("_").split("_")
    if not id or len(numbers) >= _MAX_PARTS:
        raise QuerySyntaxError(
            f"{text!r} is not a FINGERPRINT in Alfresco's syntax; write UUID or UUID_20_80, without _ in the UUID"
        )
    overlap, probability = [*(_parse_number(number, text) for number in numbers), None, None][:2]
    return FingerprintQuery(id.rpartition("/")[2], overlap, probability)


def _parse_number(part: str, text: str) -> Fraction:
    """Return a number as a fraction. A number greater than 1 or with a percent sign is a percentage."""
    match = _NUMBER.fullmatch(part)
    if not match:
        raise QuerySyntaxError(f"{part!r} in {text!r} is not a number; write a percentage, as in UUID_20_80")
    number = Fraction(match[1])
    if number > 100:
        raise QuerySyntaxError(f"{part!r} in {text!r} is over 100; write a percentage from 0 to 100")
    return parse_fraction(number / 100 if number > 1 or match[2] else number, f"{part!r} in {text!r}")
