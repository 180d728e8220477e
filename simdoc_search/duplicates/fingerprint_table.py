"""The fingerprints of all documents as a few arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.ragged_arrays import expand_runs, positions_in_runs
from simdoc_search.duplicates.arrays import AnyInts, Bools, Floats, Ints, Keys, mix_bits, release_memory, slices
from simdoc_search.duplicates.key_files import KeyMatrix
from simdoc_search.sketch.estimate import correct_for_chance
from simdoc_search.sketch.tokens import HASH_BITS

BucketMatrix = NDArray[np.uint16]

_DOCUMENTS_AT_ONCE = 1 << 12
_MAX_MATRIX_CELLS = 1 << 27
_DOCUMENTS_IN_CACHE = 1 << 9
_PAIRS_AT_ONCE = 1 << 13
_PAIRS_IN_CACHE = 1 << 9
_MAX_PACKED_COLUMNS = 8 * 255
_LOW_BIT_COUNT = np.uint64(32)
_MAX_MAPPED_BYTES = 1 << 26
_BYTES_PER_ACCESS = 1 << 16  # at a page fault, Linux maps up to 16 pages of 4 KiB

MAX_TOKENS_WITH_LOW_BITS = 128
"""Documents with more tokens have no low hash bits; see `FingerprintTable.low_hash_bits`."""


@dataclass(slots=True, eq=False)
class FingerprintTable:
    """The fingerprints of documents, by document index. A token id contains a bucket and a hash."""

    # the token ids of all documents, one document after the other, ascending within a document; uint32, possibly in a
    # memory-mapped file
    token_ids: NDArray[np.uint32]
    begins: AnyInts  # where the tokens of each document begin in `token_ids`; shape (documents,)
    token_counts: AnyInts  # number of tokens of each document; shape (documents,)
    # number of distinct shingles of each document, at least 1 if it has tokens; shape (documents,)
    shingle_counts: AnyInts
    bucket_count: int  # number of buckets of a fingerprint
    # for documents with at most MAX_TOKENS_WITH_LOW_BITS tokens, the lowest 32 bits of the hash of each token, and
    # the position at which the bits of each document begin; None if the bits are unknown
    low_hash_bits: tuple[NDArray[np.uint32], AnyInts] | None = field(default=None, repr=False)
    _whole_matrix: BucketMatrix | None = field(default=None, repr=False)
    # total number of rows of the matrices that `_matrix_of_pairs` has made so far
    _built_row_count: int = field(default=0, repr=False)
    # upper bound of the bytes of `token_ids` and `low_hash_bits` that are in memory
    _mapped_bytes: int = field(default=0, repr=False)

    @classmethod
    def from_token_ids(
        cls, token_ids: Sequence[NDArray[np.uint32]], shingle_counts: Ints, bucket_count: int
    ) -> FingerprintTable:
        """Make a table from the token ids of each document."""
        counts = np.array([len(tokens) for tokens in token_ids], np.int64)
        joined = np.concatenate(token_ids) if token_ids else np.zeros(0, np.uint32)
        return cls(joined, np.cumsum(counts) - counts, counts, shingle_counts, bucket_count)

    def storage_order(self, documents: AnyInts) -> Ints:
        """Return the order in which the token ids of documents are stored. They are read fastest in this order."""
        return np.argsort(self.begins[documents])

    def shingle_counts_of(self, documents: AnyInts) -> Ints:
        """Return the number of distinct shingles of these documents; int64."""
        return self.shingle_counts[documents].astype(np.int64)

    def token_counts_of(self, documents: AnyInts) -> Ints:
        """Return the number of tokens of these documents; int64."""
        return self.token_counts[documents].astype(np.int64)

    def token_ids_of_documents(self, documents: AnyInts) -> tuple[NDArray[np.uint32], Ints]:
        """Return the token ids of these documents, and for each id, the position of its document in `documents`."""
        begins = self.begins[documents].astype(np.int64)
        self._limit_mapped_memory(begins)
        owner, position = expand_runs(begins, self.token_counts_of(documents))
        return self.token_ids[position], owner

    def token_hashes(self, documents: AnyInts, *, with_low_bits: bool) -> tuple[Keys, Ints]:
        """Return a 64-bit hash of each token, and the position of each token's document in `documents`.

        A hash is computed from the id of the token. There are only 2**18 different ids, so among millions of
        documents, many tokens match by chance. If `with_low_bits`, a hash is also computed from `low_hash_bits`.
        """
        token_ids, owner = self.token_ids_of_documents(documents)
        return mix_bits(self._token_values(documents, token_ids, with_low_bits=with_low_bits)), owner

    def _token_values(self, documents: AnyInts, token_ids: NDArray[np.uint32], *, with_low_bits: bool) -> Keys:
        """Return the token ids of these documents as uint64. If `with_low_bits`, add the low hash bits."""
        values = token_ids.astype(np.uint64)
        if with_low_bits and self.low_hash_bits is not None:
            low_bits, begins = self.low_hash_bits
            positions = positions_in_runs(begins[documents].astype(np.int64), self.token_counts_of(documents))
            values = values << _LOW_BIT_COUNT | low_bits[positions].astype(np.uint64)
        return values

    def band_keys(
        self, documents: AnyInts, rows_per_band: int, band_count: int, *, with_low_bits: bool = False
    ) -> Iterator[Keys]:
        """For each band, yield the keys of these documents. Keys are equal if all tokens of the band are equal.

        Band j takes the first `rows_per_band` tokens from bucket `j * buckets / band_count` on. After the last token,
        it continues with the first one. So each band has `rows_per_band` tokens, even if few buckets are filled. Two
        documents with Jaccard similarity J have an equal key with a probability of J**rows_per_band, because the tokens
        in the first `rows_per_band` filled buckets of their union must be equal. With `with_low_bits`, tokens are
        compared by `token_hashes`.

        The function is fastest if the documents are in `storage_order`.
        """
        with KeyMatrix(band_count, len(documents)) as matrix:
            for part in slices(len(documents), _DOCUMENTS_AT_ONCE):
                keys = [
                    self._keys_of_bands(documents[part][few], rows_per_band, band_count, with_low_bits=with_low_bits)
                    for few in slices(len(documents[part]), _DOCUMENTS_IN_CACHE)
                ]
                matrix.write_columns(part.start, np.concatenate(keys).T)
            for band in range(band_count):
                yield matrix.read_row(band)

    def _keys_of_bands(self, documents: AnyInts, rows_per_band: int, band_count: int, *, with_low_bits: bool) -> Keys:
        """Return the keys of a few documents; uint64, shape (documents, bands)."""
        token_ids, owner = self.token_ids_of_documents(documents)
        values = self._token_values(documents, token_ids, with_low_bits=with_low_bits)
        band_of_bucket = np.arange(self.bucket_count) * band_count // self.bucket_count
        bands_of_tokens = owner * band_count + band_of_bucket[token_ids >> HASH_BITS]
        token_counts = np.bincount(bands_of_tokens, minlength=len(documents) * band_count).reshape(-1, band_count)
        ends = np.cumsum(token_counts.sum(axis=1))[:, None]
        position = np.cumsum(token_counts).reshape(-1, band_count) - token_counts
        first = position[:, :1].copy()
        keys = np.zeros(position.shape, np.uint64)
        for _ in range(rows_per_band):
            position = np.where(position < ends, position, first)
            keys = mix_bits(keys + values[position])
            position += 1
        return keys

    def _limit_mapped_memory(self, begins: Ints) -> None:
        """Release the memory of mapped files if reading the documents that begin here may exceed the limit."""
        if not isinstance(self.token_ids, np.memmap) or not len(begins):
            return
        size = self.token_ids.itemsize * int(begins.max() - begins.min()) + _BYTES_PER_ACCESS
        size = min(size, _BYTES_PER_ACCESS * len(begins))
        if self._mapped_bytes + size > _MAX_MAPPED_BYTES:
            release_memory(self.token_ids)
            if self.low_hash_bits is not None:
                release_memory(self.low_hash_bits[0])
            self._mapped_bytes = 0
        self._mapped_bytes += size

    def estimate_jaccard(self, first: Ints, second: Ints) -> tuple[Floats, Ints]:
        """Estimate the Jaccard similarity of each pair, as `estimate.compare_token_ids` does.

        This method is faster if `first` is ascending.

        Returns:
            The estimates, 0..1, and the number of buckets that are filled in either document.
        """
        matched, union = np.empty(len(first), np.int64), np.empty(len(first), np.int64)
        for part in slices(len(first), _PAIRS_AT_ONCE):
            matrix, rows, other_rows = self._matrix_of_pairs(first[part], second[part])
            for batch in slices(len(rows), _PAIRS_IN_CACHE):
                left, right = matrix.take(rows[batch], axis=0), matrix.take(other_rows[batch], axis=0)
                equal = count_true(left == right)
                left |= right
                filled = count_true(left != 0)
                pairs = slice(part.start + batch.start, part.start + batch.start + len(filled))
                # `equal` also counts the buckets that are empty in both documents.
                matched[pairs], union[pairs] = equal - (self.bucket_count - filled), filled
        common = self.token_counts_of(first) + self.token_counts_of(second) - union
        shared, scaled_union = correct_for_chance(matched, common, union)
        return shared / scaled_union, union

    def bucket_matrix(self, documents: AnyInts) -> BucketMatrix:
        """Return the hash in each bucket plus 1, or 0 if the bucket is empty; shape (documents, buckets)."""
        matrix = np.zeros((len(documents), self.bucket_count), np.uint16)
        order = self.storage_order(documents)
        for part in slices(len(documents), _DOCUMENTS_IN_CACHE):
            token_ids, owner = self.token_ids_of_documents(documents[order[part]])
            matrix[order[part][owner], token_ids >> HASH_BITS] = (
                token_ids & np.uint32((1 << HASH_BITS) - 1)
            ) + np.uint32(1)
        return matrix

    def _matrix_of_pairs(self, first: Ints, second: Ints) -> tuple[BucketMatrix, Ints, Ints]:
        """Return a matrix of documents, and the rows of `first` and `second` in it.

        The first calls make a matrix of the documents of the call. When these matrices would have as many rows in total
        as there are documents, a matrix of all documents is made for all later calls, unless it would be too large.
        """
        if self._whole_matrix is None:
            documents = distinct(np.concatenate((first, second)))
            self._built_row_count += len(documents)
            is_large = self.bucket_count * len(self.token_counts) > _MAX_MATRIX_CELLS
            if is_large or self._built_row_count < len(self.token_counts):
                matrix = self.bucket_matrix(documents)
                return matrix, np.searchsorted(documents, first), np.searchsorted(documents, second)
            self._whole_matrix = self.bucket_matrix(np.arange(len(self.token_counts)))
        return self._whole_matrix, first, second


def count_true(values: Bools) -> Ints:
    """Count the true values in each row. Eight columns are added at once if the sums fit into bytes."""
    width = values.shape[1]
    if width % 8 == 0 and width <= _MAX_PACKED_COLUMNS:
        values = np.add.reduce(values.view(np.uint64), axis=1)[:, None].view(np.bool_)
    counts: Ints = values.view(np.uint8).sum(axis=1, dtype=np.uint16).astype(np.int64)
    return counts
