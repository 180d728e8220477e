"""The fingerprints of all documents as a few arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.duplicates.arrays import Bools, Ints, Keys, mixed, slices

Board = NDArray[np.uint16] | NDArray[np.uint32]

_DOCUMENTS_AT_ONCE = 1 << 12
_WHOLE_BOARD = 1 << 27  # buckets
_PAIRS_AT_ONCE = 1 << 16
_PAIRS_IN_CACHE = 1 << 9
_MAX_PACKED_COLUMNS = 8 * 255


@dataclass(slots=True, eq=False)
class FingerprintTable:
    """The fingerprints of documents, by document number."""

    # the tokens of all documents, document after document, ascending within each; uint32, possibly a memory-mapped
    # file
    codes: NDArray[np.uint32]
    begins: Ints  # where the tokens of each document begin; int64, shape (documents,)
    counts: Ints  # number of tokens of each document; int64, shape (documents,)
    # number of distinct shingles of each document, at least 1 if it has tokens; int64, shape (documents,)
    shingles: Ints
    bits: int  # number of low bits of a code that are hash; the others are the bucket
    buckets: int  # number of buckets of a fingerprint
    _whole_board: Board | None = field(default=None, repr=False)

    @classmethod
    def of(cls, codes: Sequence[NDArray[np.uint32]], shingles: Ints, bits: int, buckets: int) -> FingerprintTable:
        """Make a table from the codes of each document."""
        counts = np.array([len(tokens) for tokens in codes], np.int64)
        joined = np.concatenate(codes) if codes else np.zeros(0, np.uint32)
        return cls(joined, np.cumsum(counts) - counts, counts, shingles, bits, buckets)

    def tokens_of(self, documents: Ints) -> tuple[NDArray[np.uint32], Ints]:
        """Return the tokens of some documents, and for each token the position of its document in `documents`."""
        counts = self.counts[documents]
        owner = np.repeat(np.arange(len(documents)), counts)
        ends = np.cumsum(counts)
        return self.codes[np.arange(len(owner)) + np.repeat(self.begins[documents] - (ends - counts), counts)], owner

    def band_keys(self, documents: Ints, rows: int, bands: int) -> Iterator[Keys]:
        """Yield for each band one key per document. Keys are equal if the `rows` tokens of the band are equal.

        Band j takes the first `rows` tokens from bucket `j * buckets / bands` on; after the last token it continues
        with the first. So each band has `rows` tokens, even if few buckets are filled. All of them are equal with
        probability J**rows, because the first filled buckets of the union must be equal.
        """
        starts = np.empty((len(documents), bands), np.uint16)
        for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
            codes, owner = self.tokens_of(documents[part])
            band_of_token = (codes >> self.bits).astype(np.int64) * bands // self.buckets
            size = len(starts[part])
            counts_in_band = np.bincount(owner * bands + band_of_token, minlength=size * bands).reshape(size, bands)
            starts[part] = np.cumsum(counts_in_band, axis=1) - counts_in_band
        begins, counts = self.begins[documents], self.counts[documents]
        for band in range(bands):
            place = starts[:, band].astype(np.int64)
            keys = np.zeros(len(documents), np.uint64)
            for _ in range(rows):
                place[place >= counts] = 0
                keys = mixed(keys + self.codes[begins + place])
                place += 1
            yield keys

    def shared_and_union(self, first: Ints, second: Ints) -> tuple[Ints, Ints]:
        """Count for each pair the equal tokens, and the buckets filled in either, as `estimate.shared_and_union`.

        Faster if `first` is in order.
        """
        shared, union = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
        for part in slices(len(first), _PAIRS_AT_ONCE):
            board, rows, other_rows = self._board_of_pairs(first[part], second[part])
            for few in slices(len(rows), _PAIRS_IN_CACHE):
                left, right = board.take(rows[few], axis=0), board.take(other_rows[few], axis=0)
                equal = count_true(left == right)
                left |= right
                filled = count_true(left != 0)
                at = slice(part.start + few.start, part.start + few.start + len(filled))
                shared[at], union[at] = equal - (self.buckets - filled), filled  # empty buckets are equal, too
        return shared, union

    def board(self, documents: Ints) -> Board:
        """Return the hash in each bucket, plus 1; 0 where a bucket is empty. Shape (documents, buckets)."""
        board = np.zeros((len(documents), self.buckets), np.uint16 if self.bits < 16 else np.uint32)
        for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
            codes, owner = self.tokens_of(documents[part])
            board[part][owner, codes >> self.bits] = (codes & np.uint32((1 << self.bits) - 1)) + np.uint32(1)
        return board

    def _board_of_pairs(self, first: Ints, second: Ints) -> tuple[Board, Ints, Ints]:
        """Return a board with these documents, and their rows. A small table has one board, which is made once."""
        if self.buckets * len(self.counts) > _WHOLE_BOARD:
            documents = distinct(np.concatenate((first, second)))
            return self.board(documents), np.searchsorted(documents, first), np.searchsorted(documents, second)
        if self._whole_board is None:
            self._whole_board = self.board(np.arange(len(self.counts)))
        return self._whole_board, first, second


def count_true(values: Bools) -> Ints:
    """Count the true values of each row. Eight columns are added at once if the sums fit into bytes."""
    width = values.shape[1]
    if width % 8 == 0 and width <= _MAX_PACKED_COLUMNS:
        values = np.add.reduce(values.view(np.uint64), axis=1)[:, None].view(np.bool_)
    counts: Ints = values.view(np.uint8).sum(axis=1, dtype=np.uint16).astype(np.int64)
    return counts
