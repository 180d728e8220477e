"""What a request asks for: plain values, whether they came in the address, a form or as JSON."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal, cast

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.syntax import fraction_of_percent
from simdoc_search.stores.filters import none_of
from simdoc_search.web.limits import FILTERS, FURTHEST, FURTHEST_VERSION, HITS

if TYPE_CHECKING:
    from simdoc_search.duplicates.measures import MeasureName
    from simdoc_search.web.collection import Collection

_HITS = 10

_SCORE = re.compile(r"0?\.[0-9]{1,9}|0|1(?:\.0{1,9})?")
_YES, _NO = ("1", "on", "true", "yes"), ("", "0", "off", "false", "no")
_LONGEST = 400  # characters of a value that a sentence repeats


def is_yes(text: str) -> bool:
    """Whether a value switches something on."""
    return text.strip().lower() in _YES


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that came with a request; it is nowhere but in memory."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        collection: the documents that are asked about.
        values: what was given by each name, in order.
        upload: a file, if one came along.
        path: the address without `.json`.
        wants_json: whether a program asks.
        posted: whether something is to be done, or only to be shown.
    """

    collection: Collection
    values: Mapping[str, Sequence[str]]
    upload: Upload | None = None
    path: str = "/"
    wants_json: bool = False
    posted: bool = False

    def one(self, name: str, otherwise: str = "") -> str:
        """The value of a name; the last one, if there are several."""
        return next(reversed(self.values.get(name, ())), otherwise)

    def all(self, name: str) -> list[str]:
        """All values of a name that are not empty."""
        return [each for each in self.values.get(name, ()) if each.strip()]

    def number(self, name: str, otherwise: int, least: int, most: int) -> int:
        """A whole number.

        Raises:
            QuerySyntaxError: it is none, or out of range.
        """
        text = self.one(name).strip()
        if not text:
            return otherwise
        digits = text.lstrip("0")[:12] or "0"
        if not (text.isascii() and text.isdigit()) or not least <= int(digits) <= most:
            raise QuerySyntaxError(f"{name} must be a number from {least:,} to {most:,}, not {text[:_LONGEST]!r}")
        return int(digits)

    def choice(self, name: str, choices: Sequence[str]) -> str:
        """One of some words, the first of them if none is given.

        Raises:
            QuerySyntaxError: it is none of them.
        """
        text = self.one(name).strip() or choices[0]
        if text not in choices:
            raise QuerySyntaxError(f"{name} must be one of {', '.join(choices)}, not {text[:_LONGEST]!r}")
        return text

    def is_on(self, name: str) -> bool:
        """Whether a name is switched on.

        Raises:
            QuerySyntaxError: it is neither on nor off.
        """
        text = self.one(name).strip().lower()
        if not is_yes(text) and text not in _NO:
            raise QuerySyntaxError(f"{name} must be on or off, not {text[:_LONGEST]!r}")
        return is_yes(text)

    def percent(self, name: str) -> Fraction | None:
        """A percentage as a fraction; None if it is not given. Raises as `fraction_of_percent`."""
        text = self.one(name).strip()
        return fraction_of_percent(text[:_LONGEST], name) if text else None

    def score(self, name: str) -> float | None:
        """A number from 0 to 1; None if it is not given.

        Raises:
            QuerySyntaxError: it is something else.
        """
        text = self.one(name).strip()
        if text and not _SCORE.fullmatch(text):
            raise QuerySyntaxError(f"{name} must be a number from 0 to 1, not {text[:_LONGEST]!r}")
        return float(text) if text else None

    def filters(self) -> list[dict[str, Any]]:
        """What `filter` and `exclude` say, as the library takes it.

        Raises:
            QuerySyntaxError: one of them is not FIELD=VALUE, or there are too many.
        """
        if (count := len(self.all("filter")) + len(self.all("exclude"))) > FILTERS:
            raise QuerySyntaxError(f"there are {count:,} values of filter and exclude; {FILTERS} is the maximum")
        wanted = [{field: value} for field, value in self._pairs("filter")]
        return wanted + [{field: none_of(value)} for field, value in self._pairs("exclude")]

    def _pairs(self, name: str) -> list[tuple[str, str]]:
        pairs = []
        for each in self.all(name):
            field, equals, value = each.partition("=")
            if not equals or not field.strip():
                shown, article = each[:_LONGEST], "an" if name == "exclude" else "a"
                raise QuerySyntaxError(
                    f"{shown!r} is not {article} {name}; write FIELD=VALUE, like language=de or path=reports/"
                )
            pairs.append((field.strip(), value.strip()))
        return pairs

    @property
    def size(self) -> int:
        """How many hits are wanted. Raises as `number`."""
        return self.number("size", _HITS, 1, HITS)

    @property
    def offset(self) -> int:
        """How many of the best hits are left out. Raises as `number`."""
        return self.number("offset", 0, 0, self._furthest)

    @property
    def _furthest(self) -> int:
        return FURTHEST_VERSION if self.path == "/versions" else FURTHEST

    def pages(self, shown: int, total: int | None = None) -> tuple[int | None, int | None]:
        """The offsets of the pages before and after this one; None: there is none.

        Args:
            shown: how many hits are on this one.
            total: how many hits there are; None: that is not known.
        """
        before = max(self.offset - self.size, 0) if self.offset else None
        after = self.offset + self.size
        is_last = shown < self.size or (total is not None and after >= total)
        return before, None if is_last or after > self._furthest else after

    @property
    def measure(self) -> MeasureName:
        """What being alike means. Raises as `choice`."""
        return cast("MeasureName", self.choice("measure", ("jaccard", "containment", "contained")))

    @property
    def preset(self) -> Literal["edited", "verbatim"]:
        """What a shared passage is. Raises as `choice`."""
        return cast('Literal["edited", "verbatim"]', self.choice("preset", ("edited", "verbatim")))
