"""The FINGERPRINT string: `doc123_20_80` is document doc123, 20 % overlap, 80 % probability.

    [FINGERPRINT:]<id>[_<overlap>[_<probability>]]

Ids may contain underscores and end in numbers, so `report_2023` can be a document, or 2023 % of `report`. `parse`
returns every reading; `choose` picks the one whose document exists. A quoted id, `"my_doc_7"_20`, has one reading only.

Source: Alfresco Search Services, FINGERPRINT. There 0.2 and 1 mean 20 % and 100 %, and the id ends at the first `_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction

from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError

_PREFIX = "FINGERPRINT:"
_MAX_SUGGESTIONS = 3
_MAX_SHOWN = 10
_NUMBER = re.compile(r"([0-9]{1,9}(?:\.[0-9]{1,9})?)(?: ?%)?")  # longer ones are part of an id
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"(?:_(?P<overlap>[^_]*)(?:_(?P<probability>[^_]*))?)?', re.DOTALL)


@dataclass(frozen=True, slots=True)
class FingerprintQuery:
    """One reading of a FINGERPRINT string.

    Attributes:
        id: id of the query document.
        overlap: minimum Jaccard similarity, a fraction; None for any overlap.
        probability: probability of finding a document of exactly that overlap, a fraction; None: all are found.
    """

    id: str
    overlap: Fraction | None = None
    probability: Fraction | None = None

    def __str__(self) -> str:
        """Return the string that has only this reading."""
        quoted = '"' + self.id.replace("\\", "\\\\").replace('"', '\\"') + '"'
        if self.probability is not None:
            return f"{quoted}_{_percent(self.overlap or Fraction(0))}_{_percent(self.probability)}"
        return quoted if self.overlap is None else f"{quoted}_{_percent(self.overlap)}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """All readings of a FINGERPRINT string, the longest id first, and the reasons for refused ones."""

    text: str
    readings: tuple[FingerprintQuery, ...]
    refused: tuple[tuple[str, str], ...] = ()  # (id, reason)


def fraction_of_percent(text: str, name: str) -> Fraction:
    """Return the fraction of a percentage, exactly: "12.5" and "12.5%" are 1/8.

    Raises:
        QuerySyntaxError: it is not a number, is over 100 or between 0 and 1, or is a probability of 0.
    """
    number = _NUMBER.fullmatch(text.strip())
    if not number:
        raise QuerySyntaxError(f"{name} {text!r} is not a percentage; write a number like 20 or 12.5")
    percent = Fraction(number[1])
    if percent > 100:
        raise QuerySyntaxError(f"{name} {text} is over 100; it is a percentage from 1 to 100")
    if 0 < percent < 1:
        meant = _percent(percent)
        hint = f"write {meant} for {meant} %" if percent >= Fraction(1, 100) else "it is a percentage from 1 to 100"
        raise QuerySyntaxError(f"{name} {text} is below 1; {hint}")
    if percent == 0 and name == "probability":
        raise QuerySyntaxError("probability 0 would find nothing; it is a percentage from 1 to 100")
    return percent / 100


def _percent(fraction: Fraction) -> str:
    """Return a fraction as a percentage that parses to the same fraction (to nine decimals)."""
    digits = f"{Decimal(100 * fraction.numerator) / Decimal(fraction.denominator):.9f}"
    return digits.rstrip("0").rstrip(".")


def parse(text: str) -> Parsed:
    """Parse a FINGERPRINT string.

    Raises:
        QuerySyntaxError: it has no id, a quote is not closed, or a quoted id is followed by something malformed.
    """
    body = text.strip()
    if body[: len(_PREFIX)].upper() == _PREFIX:
        body = body[len(_PREFIX) :].lstrip()
    if not body:
        raise QuerySyntaxError("the FINGERPRINT is empty; write an id, like doc123 or doc123_20_80")
    if body.startswith('"'):
        return Parsed(text, (_quoted(body),))
    readings, refused = [FingerprintQuery(body)], []
    id = body
    numbers: tuple[str, ...] = ()
    for _ in range(2):
        id, underscore, last = id.rpartition("_")
        if not underscore or not _NUMBER.fullmatch(last):
            break
        numbers = (last, *numbers)
        if not id:
            refused.append(("", f"{text!r} has no id before the numbers; write an id, like doc123_20_80"))
            break
        try:
            readings.append(_reading(id, numbers[0], *numbers[1:]))
        except QuerySyntaxError as error:
            refused.append((id, str(error)))
    return Parsed(text, tuple(readings), tuple(refused))


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
            f'{body[match.end() :]!r} after the quoted id is not a number; write "the id"_20_80, percent'
        )
    id = re.sub(r"\\(.)", r"\1", match[1], flags=re.DOTALL)
    if not id:
        raise QuerySyntaxError("the quoted id is empty; write an id between the quotes")
    if match["overlap"] is None:
        return FingerprintQuery(id)
    return _reading(id, match["overlap"], match["probability"])


def choose(
    parsed: Parsed, find: Callable[[str], Sequence[str]], suggest: Callable[[str], Sequence[str]] = lambda _: ()
) -> FingerprintQuery:
    """Return the reading whose document exists, with the document's full id.

    Args:
        parsed: the result of `parse`.
        find: name -> ids of the documents that it can mean; none, one, or several.
        suggest: name -> similar ids, for the message when nothing exists.

    Raises:
        AmbiguousQueryError: several readings exist, or a name means several documents.
        QuerySyntaxError: the only reading that exists has a number that is out of range.
        UnknownDocumentError: no reading exists.
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
        raise AmbiguousQueryError(f"{parsed.text!r} can mean several documents; write one of: {shown}", written)
    for id, reason in parsed.refused:
        if not id or find(id):
            raise QuerySyntaxError(reason)
    tried = [reading.id for reading in reversed(parsed.readings)]
    suggestions = dict.fromkeys(id for name in tried for id in suggest(name))
    raise UnknownDocumentError(tried[0], list(suggestions)[:_MAX_SUGGESTIONS])
