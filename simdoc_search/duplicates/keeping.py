"""Which of several documents is kept? An order of all documents: the first of any is the one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.table import Ints
from simdoc_search.errors import QuerySyntaxError

__all__ = ["KEEP", "Keep", "Known"]

KEEP = ("longest", "first", "newest", "oldest")


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What a rule can look at.

    Attributes:
        name: gives the id of a document by its number.
        shingles: how many distinct shingles each has; int64, shape (documents,).
        sizes: bytes of their files; -1: not known.
        changed: when their files last changed; 0: not known.
        values: what each has in `Keep.field`, if there is one.
        fresh: which are new, so that those that were there before stay; bool, shape (documents,).
        chosen: which were kept before; they stay unless others of them do.
    """

    name: Callable[[int], str]
    shingles: Ints
    sizes: Ints
    changed: Ints
    values: Sequence[MetadataValue | None]
    fresh: NDArray[np.bool_]
    chosen: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Keep:
    """A rule: `longest` (most distinct shingles), `first` (by id), `newest`, `oldest`, or by a metadata field.

    `max:FIELD` keeps the document with the greatest value, `min:FIELD` that with the least; a number is less than a
    text. Documents without a date, or without the field, come last. What the rule leaves open is decided by length,
    then by size, then by id.

    Raises:
        QuerySyntaxError: there is no such rule.
    """

    rule: str = "longest"

    def __post_init__(self) -> None:
        if self.rule not in KEEP and not self.field:
            raise QuerySyntaxError(f"keep is one of {', '.join(KEEP)}, max:FIELD or min:FIELD, not {self.rule!r:.60}")

    @property
    def field(self) -> str | None:
        """The metadata field that decides, if one does."""
        which, colon, field = self.rule.partition(":")
        return field if which in ("max", "min") and colon and field else None

    def order(self, known: Known) -> Ints:
        """The documents in the order in which they would be kept; int64, shape (documents,)."""
        by_rule = self._order_by_rule(known)
        order: Ints = by_rule[np.lexsort((~known.chosen[by_rule], known.fresh[by_rule]))]
        return order

    def _order_by_rule(self, known: Known) -> Ints:
        count = len(known.shingles)
        by_id = np.array(sorted(range(count), key=known.name), np.int64)
        alphabetical = np.empty(count, np.int64)
        alphabetical[by_id] = np.arange(count)
        if self.rule == "first":
            return by_id
        length = (alphabetical, -known.sizes, -known.shingles)
        if self.field:
            return np.lexsort((*length, self._rank(known.values)))
        if self.rule == "longest":
            return np.lexsort(length)
        date = -known.changed if self.rule == "newest" else known.changed
        return np.lexsort((*length, date, known.changed == 0))

    def _rank(self, values: Sequence[MetadataValue | None]) -> Ints:
        """Equal numbers for equal values, the smaller the better."""
        keys = [_comparable(each) for each in values]
        there = sorted({each for each in keys if each is not None}, reverse=self.rule.startswith("max:"))
        ranks: dict[Any, int] = {each: place for place, each in enumerate(there)}
        return np.array([len(ranks) if each is None else ranks[each] for each in keys], np.int64)


def _comparable(value: MetadataValue | None) -> tuple[int, float, str] | None:
    """A value in an order that all values have; of a list its first."""
    if isinstance(value, list):
        value = value[0] if value else None
    if value is None or value != value:  # noqa: PLR0124 - NaN has no place in any order
        return None
    return (1, 0.0, value) if isinstance(value, str) else (0, float(value), "")
