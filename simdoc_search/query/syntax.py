"""Parses FINGERPRINT strings: `doc123_20_80` means document doc123, 20 % overlap, 80 % probability.

    [FINGERPRINT:]<id>[_<overlap>[_<probability>]]

An id can contain underscores and end with a number. So `invoice_10` is either the id of a document, or 10 % overlap
with `invoice`. `parse` returns all readings, and `choose_reading` returns the reading whose document exists. A string
with a quoted id, such as `"my_doc_7"_20`, has only one reading. If a string is not a valid quoted id, such as
`"draft" of May`, the quotation marks are part of the id.

Source: FINGERPRINT in Alfresco Search Services. There, 0.2 and 1 mean 20 % and 100 %, and the id ends at the first
`_`; see `alfresco.py`.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError

_RANGE_ADVICE = "write a percentage from 1 to 100"
_PREFIX = "FINGERPRINT:"
_MAX_SUGGESTIONS = 10
_MAX_ALTERNATIVES = 10
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?: ?%)?")  # longer numbers are part of an id
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:_(?P<overlap>[^_]*)(?:_(?P<probability>[^_]*))?)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FingerprintQuery:
    """One reading of a FINGERPRINT string.

    Attributes:
        id: id of the query document.
        overlap: minimum Jaccard similarity, as a fraction. None: any overlap.
        probability: probability of finding a document of exactly that overlap, as a fraction. None: 1.
    """

    id: str
    overlap: Fraction | None = None
    probability: Fraction | None = None

    def __str__(self) -> str:
        """Return a FINGERPRINT string whose only reading is this query."""
        quoted = '"' + self.id.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if self.probability is not None:
            return f"{quoted}_{_format_percentage(self.overlap or Fraction(0))}_{_format_percentage(self.probability)}"
        return quoted if self.overlap is None else f"{quoted}_{_format_percentage(self.overlap)}"


@dataclass(frozen=True, slots=True)
class ParsedFingerprint:
    """All readings of a FINGERPRINT string.

    The valid readings are sorted by descending length of the id. An invalid reading is the id, which may be empty, and
    the error message.
    """

    text: str
    readings: tuple[FingerprintQuery, ...]
    invalid_readings: tuple[tuple[str, str], ...] = ()


def parse_percentage(text: str, name: str) -> Fraction:
    """Return a percentage as an exact fraction: "12.5" and "12.5%" are 1/8. `name` names the number in error messages.

    Raises:
        QuerySyntaxError: the string is not a number, the number is over 100 or between 0 and 1, or a probability is 0.
    """
    number = _NUMBER.fullmatch(text.strip())
    if not number:
        raise QuerySyntaxError(f"{name} {text!r} is not a percentage; write a number such as 20 or 12.5")
    percent = Fraction(number[1])
    if percent > 100:
        raise QuerySyntaxError(f"{name} {text} is over 100; {_RANGE_ADVICE}")
    if 0 < percent < 1:
        intended = _format_percentage(percent)
        advice = f"write {intended} for {intended} %" if percent >= Fraction(1, 100) else _RANGE_ADVICE
        raise QuerySyntaxError(f"{name} {text} is below 1; {advice}")
    if percent == 0 and name == "probability":
        raise QuerySyntaxError(f"probability 0 would find nothing; {_RANGE_ADVICE}")
    return percent / 100


def _format_percentage(fraction: Fraction) -> str:
    """Return a fraction as a percentage without a percent sign, rounded to nine decimals."""
    digits = f"{Decimal(100 * fraction.numerator) / Decimal(fraction.denominator):.9f}"
    return digits.rstrip("0").rstrip(".")


def parse(text: str) -> ParsedFingerprint:
    """Parse a FINGERPRINT string.

    Raises:
        QuerySyntaxError: the id is missing.
    """
    body = text.strip()
    if body[: len(_PREFIX)].upper() == _PREFIX:
        body = body[len(_PREFIX) :].lstrip()
    if not body:
        raise QuerySyntaxError(
            "the query has no id; write an id, such as doc123, or ID_OVERLAP_PROBABILITY, such as doc123_20_80"
        )
    readings, invalid_readings = [FingerprintQuery(body)], []
    if body.startswith('"'):
        try:
            return ParsedFingerprint(text, (_parse_quoted(body),))
        except QuerySyntaxError as error:
            invalid_readings.append(("", str(error)))
    id = body
    numbers: tuple[str, ...] = ()
    for _ in range(2):
        id, underscore, last = id.rpartition("_")
        if not underscore or not _NUMBER.fullmatch(last):
            break
        numbers = (last, *numbers)
        if not id:
            invalid_readings.append(
                ("", f"{text!r} has no id before the numbers; write an id before them, as in doc123_20_80")
            )
            break
        try:
            readings.append(_parse_reading(id, numbers[0], *numbers[1:]))
        except QuerySyntaxError as error:
            invalid_readings.append((id, str(error)))
    return ParsedFingerprint(text, tuple(readings), tuple(invalid_readings))


def _parse_reading(id: str, overlap: str, probability: str | None = None) -> FingerprintQuery:
    overlap_fraction = parse_percentage(overlap, "overlap")
    probability_fraction = None if probability is None else parse_percentage(probability, "probability")
    return FingerprintQuery(id, overlap_fraction, probability_fraction)


def _parse_quoted(body: str) -> FingerprintQuery:
    match = _QUOTED.match(body)
    if not match:
        raise QuerySyntaxError(f'the quotation mark in {body!r} is not closed; write the query as in "my id"_20_80')
    if match.end() < len(body):
        raise QuerySyntaxError(
            f'{body[match.end() :]!r} after the quoted id is not a number; write percentages, as in "my id"_20_80'
        )
    id = re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
    if not id:
        raise QuerySyntaxError("the quoted id is empty; write an id between the quotes")
    if match["overlap"] is None:
        return FingerprintQuery(id)
    return _parse_reading(id, match["overlap"], match["probability"])


def choose_reading(
    parsed: ParsedFingerprint,
    find_ids: Callable[[str], Sequence[str]],
    suggest_ids: Callable[[str], Sequence[str]] = lambda _: (),
) -> FingerprintQuery:
    """Return the reading whose document exists. If its id is only a file name, the result has the full id.

    Args:
        parsed: the result of `parse`.
        find_ids: a function that returns the ids of all documents that match a name.
        suggest_ids: a function that returns ids similar to a name, for the error message.

    Raises:
        AmbiguousQueryError: the readings match several documents.
        QuerySyntaxError: only the document of an invalid reading exists, or the string has no id.
        UnknownDocumentError: the readings match no document.
    """
    existing = [
        FingerprintQuery(id, reading.overlap, reading.probability)
        for reading in parsed.readings
        for id in find_ids(reading.id)
    ]
    if len(existing) == 1:
        return existing[0]
    if existing:
        alternatives = [str(reading) for reading in existing]
        more = f" and {len(alternatives) - _MAX_ALTERNATIVES} more" if len(alternatives) > _MAX_ALTERNATIVES else ""
        shown = ", ".join(map(shlex.quote, alternatives[:_MAX_ALTERNATIVES])) + more  # a shell removes other quotes
        raise AmbiguousQueryError(
            f"{parsed.text!r} matches several documents; use one of these queries instead: {shown}",
            alternatives,
            parsed.text,
        )
    for id, reason in parsed.invalid_readings:
        if not id or find_ids(id):
            raise QuerySyntaxError(reason)
    tried_ids = [reading.id for reading in reversed(parsed.readings)]
    suggestions = dict.fromkeys(id for name in tried_ids for id in suggest_ids(name))
    raise UnknownDocumentError(tried_ids[0], list(suggestions)[:_MAX_SUGGESTIONS])
