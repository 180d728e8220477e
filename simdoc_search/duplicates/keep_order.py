"""Which of several documents is kept? An order of all documents: the first of any is the one."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.corpus.member_names import archive_of
from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.measures import MeasureName
from simdoc_search.duplicates.table import Ints
from simdoc_search.errors import QuerySyntaxError

KEEP = ("longest", "first", "newest", "oldest")

_COPY = re.compile(
    r"^(?:copy of|kopie von) "
    r"|(?: \(\d{1,2}\)|[ _-](?:copy|kopie)(?: ?\(?\d{1,2}\)?)?)(?:\.\w{1,8}){0,2}$"
    r"|(?:~|\.bak)$",
    re.IGNORECASE,
)
"""What file managers, browsers and editors call a second copy. Names that people give (final, new, old) say less."""


@dataclass(frozen=True, slots=True, eq=False)
class KeepCriteria:
    """What a rule can look at.

    Attributes:
        name: gives the id of a document by its number.
        shingles: how many distinct shingles each has; int64, shape (documents,).
        copies: how many documents have its words, itself among them; int64, shape (documents,).
        equal: how many of these have its very text.
        written: when they were written, by `versions.date_written`, in nanoseconds; 0: not known, or not asked for.
        values: what each has in `Keep.field`, if there is one.
        fresh: which are new, so that those that were there before stay; bool, shape (documents,).
        chosen: which were kept before; they stay unless others of them do.
    """

    name: Callable[[int], str]
    shingles: Ints
    copies: Ints
    equal: Ints
    written: Ints
    values: Sequence[MetadataValue | None]
    fresh: NDArray[np.bool_]
    chosen: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Keep:
    """A rule: `longest` (most distinct shingles), `first` (by id), `newest`, `oldest`, or by a metadata field.

    `longest` prefers what most documents have word for word, so that one edited copy of many does not become the one
    for which all others would go; not by the measures of containment, which need the longer document before the
    shorter. `max:FIELD` keeps the document with the greatest value, `min:FIELD` that with the least; a number is less
    than a text. Documents without a date, or without the field, come last. What the rule leaves open is decided by
    length, then by how many have the very text, by what lies in no archive, by a name that is not that of a copy, by
    the shorter id, and by id. How many bytes a file has does not count: of the same words they say only which format
    it is.

    Raises:
        QuerySyntaxError: there is no such rule.
    """

    rule: str = "longest"
    measure: MeasureName = "jaccard"

    def __post_init__(self) -> None:
        if self.rule not in KEEP and not self.field:
            raise QuerySyntaxError(f"keep is one of {', '.join(KEEP)}, max:FIELD or min:FIELD, not {self.rule!r:.60}")

    @property
    def is_by_date(self) -> bool:
        """Whether the time at which documents were written decides."""
        return self.rule in ("newest", "oldest")

    @property
    def field(self) -> str | None:
        """The metadata field that decides, if one does."""
        which, colon, field = self.rule.partition(":")
        return field if which in ("max", "min") and colon and field else None

    def order(self, known: KeepCriteria) -> Ints:
        """The documents in the order in which they would be kept; int64, shape (documents,)."""
        by_rule = self._order_by_rule(known)
        order: Ints = by_rule[np.lexsort((~known.chosen[by_rule], known.fresh[by_rule]))]
        return order

    def _order_by_rule(self, known: KeepCriteria) -> Ints:
        count = len(known.shingles)
        by_id = np.array(sorted(range(count), key=known.name), np.int64)
        if self.rule == "first":
            return by_id
        length = (_order_by_name(by_id, known.name), -known.equal, -known.shingles)
        if self.field:
            return np.lexsort((*length, self._rank(known.values)))
        if self.rule == "longest":
            return np.lexsort((*length, -known.copies) if self.measure == "jaccard" else length)
        date = -known.written if self.rule == "newest" else known.written
        return np.lexsort((*length, date, known.written == 0))

    def _rank(self, values: Sequence[MetadataValue | None]) -> Ints:
        """Equal numbers for equal values, the smaller the better."""
        keys = [_comparable(each) for each in values]
        there = sorted({each for each in keys if each is not None}, reverse=self.rule.startswith("max:"))
        ranks: dict[Any, int] = {each: place for place, each in enumerate(there)}
        return np.array([len(ranks) if each is None else ranks[each] for each in keys], np.int64)


def _order_by_name(by_id: Ints, name: Callable[[int], str]) -> Ints:
    """The rank of each document's name, the smaller the better: in no archive, no copy, then short, then by id."""
    looks = np.fromiter((_least_wanted(name(each)) for each in by_id), np.int64, len(by_id))
    lengths = np.fromiter((len(name(each)) for each in by_id), np.int64, len(by_id))
    ranks = np.empty(len(by_id), np.int64)
    ranks[by_id[np.lexsort((lengths, looks))]] = np.arange(len(by_id))
    return ranks


def _least_wanted(name: str) -> int:
    """2 of what lies in an archive, from which nothing goes; 1 of a copy, else 0."""
    return 2 if archive_of(name) else int(bool(_COPY.search(name.rpartition("/")[2])))


def _comparable(value: MetadataValue | None) -> tuple[int, float, str] | None:
    """A value in an order that all values have; of a list its first."""
    if isinstance(value, list):
        value = value[0] if value else None
    if value is None or value != value:  # noqa: PLR0124 - NaN has no place in any order
        return None
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
