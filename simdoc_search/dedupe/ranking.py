"""Ranks rows by preference. The most preferred row of a group is kept.

Except with the rule `first`, rows are ranked by their texts and the values of a column, and by position only in a tie.
So the order of the shards does not change which texts are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.dedupe.rows import FLOAT, INTEGER, NO_VALUE, STRING, Rows
from simdoc_search.duplicates.arrays import AnyInts, Ints, run_starts
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import MeasureName

_SIGN_BIT = 1 << 63
_MAX_UINT32 = np.uint32(0xFFFFFFFF)
_INVERTED_BYTES = bytes(range(255, -1, -1))


@dataclass(frozen=True, slots=True)
class RowRule:
    """The rule that chooses the kept row of a group.

    | Rule | The kept row |
    |---|---|
    | `longest` | has the most copies with the same words; in a tie, the most distinct shingles |
    | `first` | is the first one in the order of the shards |
    | `max:COLUMN`, `min:COLUMN` | has the largest or smallest value; any number is preferred to a string |

    With a measure of containment, `longest` only uses the length, because the longer text must come first. Rows without
    a value in the column come last.

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
        kind, colon, column = self.rule.partition(":")
        return column if kind in ("max", "min") and colon and column else None

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
        kinds, bits = rows.column("keep_kind"), rows.column("keep")
        is_descending = self.rule.startswith("max:")
        ranks = np.full(len(kinds), np.iinfo(np.int64).max)
        numeric = np.flatnonzero((kinds == INTEGER) | (kinds == FLOAT))
        is_float = kinds[numeric] == FLOAT
        if is_float.any():
            values: NDArray[np.generic] = np.where(is_float, bits[numeric].view(np.float64), bits[numeric])
        else:
            values = bits[numeric]
        distinct, inverse = np.unique(values, return_inverse=True)
        ranks[numeric] = len(distinct) - 1 - inverse if is_descending else inverse
        if (kinds > FLOAT).any():
            import pyarrow.compute as pc  # noqa: PLC0415 - an optional dependency

            string_rows, strings = rows.read_keep_rule_strings()
            order = "descending" if is_descending else "ascending"
            ranks[string_rows] = len(distinct) + pc.rank(strings, sort_keys=order, tiebreaker="dense").to_numpy()
        ranks[kinds == NO_VALUE] = np.iinfo(np.int64).max
        return ranks


def _order_by_copies(hashes: NDArray[np.uint64]) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Return the positions sorted by hash, and for each of these positions how often its hash occurs."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    begins = run_starts(hashes[order])
    sizes = np.diff(begins, append=len(hashes))
    return order, np.repeat(sizes.astype(np.uint32), sizes)


def _sort_again(order: NDArray[np.int32], keys: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Sort positions by key, given in the current order. Positions with equal keys keep their order."""
    return order[np.argsort(keys, kind="stable")]


def sortable_values(kinds: NDArray[np.uint8], numbers: Ints, strings: bytes, *, is_descending: bool) -> list[bytes]:
    """Encode the value of each row as bytes that sort like the ranks of `RowRule`.

    Args:
        kinds: the kind of the value of each row.
        numbers: for each row, the integer, the bits of the float, or the length of the string.
        strings: all strings, one after the other; UTF-8.
        is_descending: whether the largest value is preferred.
    """
    values, begin = [], 0
    for kind, number in zip(kinds.tolist(), numbers.tolist(), strict=True):
        value = b""
        if kind == STRING:
            value = b"\1" + strings[begin : begin + number].replace(b"\0", b"\0\xff") + b"\0\0"
            begin += number
        elif kind == INTEGER:
            value = b"\0" + (number + _SIGN_BIT).to_bytes(8, "big")
        elif kind == FLOAT:
            bits = number + 2 * _SIGN_BIT if number < 0 else number
            bits = _SIGN_BIT if bits in (0, _SIGN_BIT) else bits ^ (2 * _SIGN_BIT - 1 if number < 0 else _SIGN_BIT)
            value = b"\0" + bits.to_bytes(8, "big")
        if is_descending:
            value = value[:1] + value[1:].translate(_INVERTED_BYTES)
        values.append(value or b"\2")
    return values
