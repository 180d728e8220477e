"""Parses FINGERPRINT strings: `doc123_20_80` means document doc123, 20 % overlap, 80 % probability.

    [FINGERPRINT:]<id>[_<overlap>[_<probability>]]

An id may contain underscores and end with a number. So `invoice_10` may be a document, or may mean 10 % overlap with
`invoice`. `parse` returns every reading, and `choose` picks the reading whose document exists. A quoted id, as in
`"my_doc_7"_20`, has only one reading.

Source: Alfresco Search Services, FINGERPRINT. There, 0.2 and 1 mean 20 % and 100 %, and the id ends at the first `_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError

_RANGE_ADVICE = "write a percentage from 1 to 100"
_PREFIX = "FINGERPRINT:"
_MAX_SUGGESTIONS = 3
_MAX_SHOWN = 10
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?: ?%)?")  # longer numbers are part of an id
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:_(?P<overlap>[^_]*)(?:_(?P<probability>[^_]*))?)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FingerprintQuery:
    """One reading of a FINGERPRINT string.

    Attributes:
        id: id of the query document.
        overlap: minimum Jaccard similarity, as a fraction; None for any overlap.
        probability: probability of finding a document of exactly that overlap, as a fraction. None: certainty.
    """

    id: str
    overlap: Fraction | None = None
    probability: Fraction | None = None

    def __str__(self) -> str:
        """Return a FINGERPRINT string that has only this reading."""
        quoted = '"' + self.id.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if self.probability is not None:
            return f"{quoted}_{_percent(self.overlap or Fraction(0))}_{_percent(self.probability)}"
        return quoted if self.overlap is None else f"{quoted}_{_percent(self.overlap)}"


@dataclass(frozen=True, slots=True)
class ParsedFingerprint:
    """All readings of a FINGERPRINT string.

    Attributes:
        text: the string.
        readings: the valid readings, the longest id first.
        refused: pairs of the id of an invalid reading and the error message.
    """

    text: str
    readings: tuple[FingerprintQuery, ...]
    refused: tuple[tuple[str, str], ...] = ()


def fraction_of_percent(text: str, name: str) -> Fraction:
    """Return a percentage as an exact fraction: "12.5" and "12.5%" are 1/8. `name` is for messages.

    Raises:
        QuerySyntaxError: the text is not a number, the number is over 100 or between 0 and 1, or a probability is 0.
    """
    number = _NUMBER.fullmatch(text.strip())
    if not number:
        raise QuerySyntaxError(f"{name} {text!r} is not a percentage; write a number like 20 or 12.5")
    percent = Fraction(number[1])
    if percent > 100:
        raise QuerySyntaxError(f"{name} {text} is over 100; {_RANGE_ADVICE}")
    if 0 < percent < 1:
        intended = _percent(percent)
        advice = f"write {intended} for {intended} %" if percent >= Fraction(1, 100) else _RANGE_ADVICE
        raise QuerySyntaxError(f"{name} {text} is below 1; {advice}")
    if percent == 0 and name == "probability":
        raise QuerySyntaxError(f"probability 0 would find nothing; {_RANGE_ADVICE}")
    return percent / 100


def _percent(fraction: Fraction) -> str:
    """Return a fraction as a percentage that parses to the same fraction (to nine decimals)."""
    digits = f"{Decimal(100 * fraction.numerator) / Decimal(fraction.denominator):.9f}"
    return digits.rstrip("0").rstrip(".")


def parse(text: str) -> ParsedFingerprint:
    """Parse a FINGERPRINT string.

    Raises:
        QuerySyntaxError: there is no id, a quote is not closed, or the part after a quoted id is malformed.
    """
    body = text.strip()
    if body[: len(_PREFIX)].upper() == _PREFIX:
        body = body[len(_PREFIX) :].lstrip()
    if not body:
        raise QuerySyntaxError("the FINGERPRINT is empty; write an id, such as doc123 or doc123_20_80")
    if body.startswith('"'):
        return ParsedFingerprint(text, (_quoted(body),))
    readings, refused = [FingerprintQuery(body)], []
    id = body
    numbers: tuple[str, ...] = ()
    for _ in range(2):
        id, underscore, last = id.rpartition("_")
        if not underscore or not _NUMBER.fullmatch(last):
            break
        numbers = (last, *numbers)
        if not id:
            refused.append(("", f"{text!r} has no id before the numbers; write an id, such as doc123_20_80"))
            break
        try:
            readings.append(_reading(id, numbers[0], *numbers[1:]))
        except QuerySyntaxError as error:
            refused.append((id, str(error)))
    return ParsedFingerprint(text, tuple(readings), tuple(refused))


def _reading(id: str, overlap: str, probability: str | None = None) -> FingerprintQuery:
    share = fraction_of_percent(overlap, "overlap")
    chance = None if probability is None else fraction_of_percent(probability, "probability")
    return FingerprintQuery(id, share, chance)


def _quoted(body: str) -> FingerprintQuery:
    match = _QUOTED.match(body)
    if not match:
        raise QuerySyntaxError(f'the quote in {body!r} is not closed; write "the id"_20_80')
    if match.end() < len(body):
        raise QuerySyntaxError(
            f'{body[match.end() :]!r} after the quoted id is not a number; write percentages, as in "the id"_20_80'
        )
    id = re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
    if not id:
        raise QuerySyntaxError("the quoted id is empty; write an id between the quotes")
    if match["overlap"] is None:
        return FingerprintQuery(id)
    return _reading(id, match["overlap"], match["probability"])


def choose(
    parsed: ParsedFingerprint,
    find: Callable[[str], Sequence[str]],
    suggest: Callable[[str], Sequence[str]] = lambda _: (),
) -> FingerprintQuery:
    """Return the reading whose document exists, with the document's full id.

    Args:
        parsed: the result of `parse`.
        find: a function that returns the ids of all documents that a name may mean.
        suggest: a function that returns ids similar to a name, for the error message.

    Raises:
        AmbiguousQueryError: the documents of several readings exist, or a name may mean several documents.
        QuerySyntaxError: the only reading whose document exists has a number that is out of range.
        UnknownDocumentError: no reading has a document that exists.
    """
    existing = [
        FingerprintQuery(id, reading.overlap, reading.probability)
        for reading in parsed.readings
        for id in find(reading.id)
    ]
    if len(existing) == 1:
        return existing[0]
    if existing:
        written = [str(reading) for reading in existing]
        more = f" and {len(written) - _MAX_SHOWN} more" if len(written) > _MAX_SHOWN else ""
        shown = ", ".join(written[:_MAX_SHOWN]) + more
        raise AmbiguousQueryError(f"{parsed.text!r} may mean several documents; write one of: {shown}", written)
    for id, reason in parsed.refused:
        if not id or find(id):
            raise QuerySyntaxError(reason)
    tried = [reading.id for reading in reversed(parsed.readings)]
    suggestions = dict.fromkeys(id for name in tried for id in suggest(name))
    raise UnknownDocumentError(tried[0], list(suggestions)[:_MAX_SUGGESTIONS])
