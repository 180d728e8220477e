"""The fingerprints of all documents as a few arrays, and what is counted over many pairs of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Number = TypeVar("Number", bound=np.generic)
Ints = NDArray[np.int64]
Keys = NDArray[np.uint64]
Board = NDArray[np.uint16] | NDArray[np.uint32]

_DOCUMENTS_AT_ONCE = 1 << 12
_WHOLE_BOARD = 1 << 27  # buckets
_PAIRS_AT_ONCE = 1 << 16
_PAIRS_IN_CACHE = 1 << 9
_MOST_LANES = 8 * 255
_MIX = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFT = np.uint64(29)


@dataclass(slots=True, eq=False)
class Table:
    """The fingerprints of some documents, which are known by their numbers.

    Attributes:
        codes: the tokens of all documents as numbers, uint32; those of one ascending; perhaps a memory-mapped file.
        begins: where those of each document begin; int64, shape (documents,).
        counts: how many each has; int64, shape (documents,).
        shingles: how many distinct shingles each has, at least 1 where it has tokens; int64, shape (documents,).
        bits: low bits of a code that are hash; the others are the bucket.
        buckets: how many buckets a fingerprint has.
    """

    codes: NDArray[np.uint32]
    begins: Ints
    counts: Ints
    shingles: Ints
    bits: int
    buckets: int
    _whole: Board | None = field(default=None, repr=False)

    @classmethod
    def of(cls, codes: Sequence[NDArray[np.uint32]], shingles: Ints, bits: int, buckets: int) -> Table:
        """The fingerprints of some documents, by the codes of each."""
        counts = np.array([len(each) for each in codes], np.int64)
        joined = np.concatenate(codes) if codes else np.zeros(0, np.uint32)
        return cls(joined, np.cumsum(counts) - counts, counts, shingles, bits, buckets)

    def tokens_of(self, who: Ints) -> tuple[NDArray[np.uint32], Ints]:
        """The tokens of some documents, one document after the other, and to which of them each belongs."""
        counts = self.counts[who]
        owner = np.repeat(np.arange(len(who)), counts)
        ends = np.cumsum(counts)
        return self.codes[np.arange(len(owner)) + np.repeat(self.begins[who] - (ends - counts), counts)], owner

    def windows(self, who: Ints, rows: int, bands: int) -> Iterator[Keys]:
        """For each band one number per document: equal where `rows` tokens in a row are equal.

        Band j takes the first tokens at or after bucket `j * buckets / bands`, and goes on with the first ones after
        the last. So each has as many tokens, however few buckets are filled; and all of them are equal with probability
        J**rows, as the first filled buckets of the union must be.
        """
        firsts = np.empty((len(who), bands), np.uint16)
        for some in slices(len(who), _DOCUMENTS_AT_ONCE):
            codes, owner = self.tokens_of(who[some])
            part = (codes >> self.bits).astype(np.int64) * bands // self.buckets
            size = len(firsts[some])
            inside = np.bincount(owner * bands + part, minlength=size * bands).reshape(size, bands)
            firsts[some] = np.cumsum(inside, axis=1) - inside
        begins, counts = self.begins[who], self.counts[who]
        for band in range(bands):
            place = firsts[:, band].astype(np.int64)
            keys = np.zeros(len(who), np.uint64)
            for _ in range(rows):
                place[place >= counts] = 0
                keys = mixed(keys + self.codes[begins + place])
                place += 1
            yield keys

    def shared_and_union(self, a: Ints, b: Ints) -> tuple[Ints, Ints]:
        """For each pair of documents the equal tokens, and the buckets filled in either: `estimate.shared_and_union`.

        Faster if `a` is in order.
        """
        shared, union = np.empty(len(a), np.int64), np.empty(len(a), np.int64)
        for some in slices(len(a), _PAIRS_AT_ONCE):
            board, rows, others = self._boarded(a[some], b[some])
            for few in slices(len(rows), _PAIRS_IN_CACHE):
                left, right = board.take(rows[few], axis=0), board.take(others[few], axis=0)
                equal = true_in_row(left == right)
                left |= right
                filled = true_in_row(left != 0)
                at = slice(some.start + few.start, some.start + few.start + len(filled))
                shared[at], union[at] = equal - (self.buckets - filled), filled  # empty in both is equal, too
        return shared, union

    def _boarded(self, a: Ints, b: Ints) -> tuple[Board, Ints, Ints]:
        """A board with these documents, and the rows of them: that of all if it is small, so that it is made once."""
        if self.buckets * len(self.counts) <= _WHOLE_BOARD:
            whole = self.board(np.arange(len(self.counts))) if self._whole is None else self._whole
            self._whole = whole
            return whole, a, b
        who = distinct(np.concatenate((a, b)))
        return self.board(who), np.searchsorted(who, a), np.searchsorted(who, b)

    def board(self, who: Ints) -> Board:
        """What stands in each bucket of some documents; 0: nothing. Shape (documents, buckets)."""
        board = np.zeros((len(who), self.buckets), np.uint16 if self.bits < 16 else np.uint32)
        for some in slices(len(who), _DOCUMENTS_AT_ONCE):
            codes, owner = self.tokens_of(who[some])
            board[some][owner, codes >> self.bits] = (codes & np.uint32((1 << self.bits) - 1)) + np.uint32(1)
        return board


def distinct(values: NDArray[Number]) -> NDArray[Number]:
    """Each value once, in order. `np.unique` hashes numbers first, and is slow for some."""
    values = np.sort(values)
    return values[np.concatenate(([True], values[1:] != values[:-1]))] if len(values) else values


def mixed(values: Keys) -> Keys:
    """Numbers whose bits are well mixed; the same for the same."""
    values = values * _MIX[0]
    values ^= values >> _SHIFT
    values *= _MIX[1]
    values ^= values >> _SHIFT
    return values


def smallest(codes: NDArray[np.uint32], count: int) -> list[int]:
    """The few of some tokens whose mixed values are the smallest: of any two documents by one order."""
    found: list[int] = codes[np.argsort(mixed(codes.astype(np.uint64)))[:count]].tolist()
    return found


def slices(count: int, size: int) -> Iterator[slice]:
    """So many in slices of a size."""
    return (slice(start, start + size) for start in range(0, count, size))


def true_in_row(found: NDArray[np.bool_]) -> Ints:
    """How many are true in each row; eight columns are added at once, as far as bytes do not overflow."""
    width = found.shape[1]
    if width % 8 == 0 and width <= _MOST_LANES:
        found = np.add.reduce(found.view(np.uint64), axis=1)[:, None].view(np.bool_)
    counts: Ints = found.view(np.uint8).sum(axis=1, dtype=np.uint16).astype(np.int64)
    return counts
