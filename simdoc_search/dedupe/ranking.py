"""Ranks rows by preference. The most preferred row of a group is kept.

Except with the rule `first`, rows are ranked by their texts and the values of a column, and by position only in a tie.
So the order of the shards does not change which texts are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.dedupe.rows import Rows
from simdoc_search.duplicates.arrays import AnyInts, Ints, run_starts
from simdoc_search.duplicates.field_values import field_of_rule, prefers_largest, rank_values
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import MeasureName

_MAX_UINT32 = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True, slots=True)
class RowRule:
    """The rule that chooses the kept row of a group.

    | Rule | The kept row |
    |---|---|
    | `longest` | has the most copies with the same words; in a tie, the most distinct shingles |
    | `first` | is the first one in the order of the shards |
    | `max:COLUMN`, `min:COLUMN` | has the largest or smallest value; see `duplicates.field_values` |

    With a measure of containment, `longest` only uses the length, because the longer text must come first.

    Raises:
        QuerySyntaxError: the rule does not exist.
    """

    rule: str = "longest"
    measure: MeasureName = "jaccard"

    def __post_init__(self) -> None:
        if self.rule not in ("longest", "first") and self.column is None:
            raise QuerySyntaxError(
                f"keep must be 'longest', 'first', 'max:COLUMN' or 'min:COLUMN', not {self.rule!r:.60}"
            )

    @property
    def column(self) -> str | None:
        """The column of the rule; None if it does not use one."""
        return field_of_rule(self.rule)

    def order(self, rows: Rows, same_words_labels: AnyInts, old_row_count: int) -> AnyInts:
        """Return the row numbers, most preferred first. Old rows precede new rows.

        The rows are sorted by one criterion after the other, the most important one last, because `lexsort` needs all
        criteria in memory at once.
        """
        if self.rule == "first":
            return np.arange(len(rows), dtype=np.int32)
        order, copies = _order_by_copies(rows.column("text_hash", 0))
        # the number of shingles, then the number of rows with the same text, both descending
        key = ((_MAX_UINT32 - rows.column("shingles"))[order]).astype(np.uint64) << np.uint64(32)
        key |= _MAX_UINT32 - copies
        del copies
        order = _sort_again(order, key)
        del key
        if self.column is not None:
            order = _sort_again(order, self._rank_values(rows)[order])
        elif self.measure == "jaccard":
            counts = np.bincount(same_words_labels + 1).astype(np.uint32)
            order = _sort_again(order, _MAX_UINT32 - counts[same_words_labels[order] + 1])
        is_old = order < old_row_count
        return np.append(order[is_old], order[~is_old]) if old_row_count else order

    def _rank_values(self, rows: Rows) -> Ints:
        """Return the rank of the value of each row. Equal values have equal ranks."""
        import pyarrow.compute as pc  # noqa: PLC0415 - an optional dependency

        strings = rows.read_keep_rule_strings()
        string_ranks = pc.rank(strings, sort_keys="ascending", tiebreaker="dense").to_numpy().astype(np.int64)
        kinds, numbers = rows.column("keep_kind"), rows.column("keep")
        return rank_values(kinds, numbers, string_ranks, largest_first=prefers_largest(self.rule))


def _order_by_copies(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Return the positions sorted by hash, and for each of these positions how often its hash occurs."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    begins = run_starts(hashes[order])
    sizes = np.diff(begins, append=len(hashes))
    return order, np.repeat(sizes.astype(np.uint32), sizes)


def _sort_again(order: NDArray[np.int32], keys: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Sort positions by key, given in the current order. Positions with equal keys keep their order."""
    return order[np.argsort(keys, kind="stable")]
