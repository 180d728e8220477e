"""Computes the bucket minima of shingles, as Lucene's MinHashFilter does.

Each shingle has one 128-bit hash, (val1, val2). The highest 32 bits of val2 choose the bucket, and each bucket keeps
its smallest value (one-permutation MinHash; Li, Owen, Zhang 2012). Values are ordered by val2, then val1.

Source: Lucene 10.3.1, `org.apache.lucene.analysis.minhash.MinHashFilter`, unchanged since 6.6.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import check_whole_number
from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import MAX_SLOTS, Minima, Sketch
from simdoc_search.sketch.hash_functions import Hashes
from simdoc_search.sketch.hashing import apply_hash_function
from simdoc_search.sketch.key import HashKey

_MAX_HASH = np.uint64(2**64 - 1)
_HALF_BITS = np.uint64(32)


@dataclass(frozen=True, slots=True)
class MinHash(Sketch):
    """A sketch with the parameters of Lucene's `min_hash` filter.

    Attributes:
        hash_count: H, the number of hash functions, at least 1.
        bucket_count: B, the number of buckets per hash function, 1 to 2**32.
        hash_set_size: S, the number of values kept per bucket, at least 1.
        with_rotation: whether each empty bucket gets a copy of the next non-empty bucket to its right. Lucene does this
            by default if S is 1. Here the default is False, because copies make the estimate worse.
        key: as in `Sketch`.
    """

    name: ClassVar[str] = "minhash"
    stored_name: ClassVar[str] = "bucketed"
    parameter_names: ClassVar[tuple[str, ...]] = ("bucket_count", "hash_set_size", "with_rotation")
    fills_all_slots: ClassVar[bool] = False

    hash_count: int = 1
    bucket_count: int = 512
    hash_set_size: int = 1
    with_rotation: bool = False
    key: HashKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("hash_count", "bucket_count", "hash_set_size"):
            check_whole_number(name, getattr(self, name), 1, 1 << 32)
        if not isinstance(self.with_rotation, bool):
            raise ValueError(f"with_rotation must be True or False, not {self.with_rotation!r}")
        if self.key is not None and not isinstance(self.key, HashKey):
            raise ValueError("key must be a HashKey or None")

    @property
    def slot_count(self) -> int:
        """Number of slots. A slot is a bucket."""
        return self.bucket_count

    @property
    def bucket_size(self) -> int:
        """Width of a bucket: how many consecutive values of the highest 32 bits of val2 it covers."""
        return -(-(1 << 32) // self.bucket_count)

    def minima(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the smallest values of each bucket."""
        if self.hash_set_size == 1:
            return _compute_minima(h1, h2, shingles.counts, self)
        bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
        return [_compute_minima_sets(h1[begin:end], h2[begin:end], self) for begin, end in itertools.pairwise(bounds)]

    @property
    def can_merge(self) -> bool:
        """Whether minima can be merged.

        They cannot be merged if a bucket has several values, because these depend on the order of the shingles.
        """
        return self.hash_set_size == 1

    def merge(self, a: Minima, b: Minima) -> Minima:
        """Return the smaller value of each bucket, by val2, then val1."""
        both = _concatenate([a, b])
        order = np.lexsort((both.val1, both.val2, both.slots))
        first = order[np.flatnonzero(np.diff(both.slots[order], prepend=-1))]
        return Minima(both.slots[first], both.val1[first], both.val2[first])

    def complete(self, minima: Minima) -> Minima:
        """Return the minima, rotated if `with_rotation` is set."""
        return _rotate(minima, self) if self.with_rotation and self.hash_set_size == 1 else minima

    def require_bucketed_tokens(self) -> None:
        """Raise a ValueError unless these settings can make tokens in the format `bucketed`."""
        count = self.bucket_count
        if self.hash_count != 1 or self.hash_set_size != 1:
            raise ValueError(
                f"format 'bucketed' needs hash_count 1 and hash_set_size 1, not {self.hash_count} and "
                f"{self.hash_set_size}; use format 'lucene'"
            )
        if count & (count - 1) or count > MAX_SLOTS:
            raise ValueError(
                f"format 'bucketed' needs a bucket_count that is a power of two up to {MAX_SLOTS}, such as "
                f"{min(1 << count.bit_length() - 1, MAX_SLOTS)}, not {count}; the sketches xor and universal take any "
                "size"
            )

    def lucene_terms(self, minima: Minima, *, keep_repeats: bool = False) -> list[str]:
        """Return the terms that Lucene's MinHashFilter indexes, in the order in which it emits them.

        A term has 8 UTF-16 units: val2 and val1. If there are several hash functions, a term has the index of the
        function, val2 and the upper half of val1. Units that are not valid UTF-16 become U+FFFD, as in Lucene.

        Args:
            minima: the minima of a text, after `complete`.
            keep_repeats: whether to return a term as often as the filter emits it. Otherwise only its first occurrence
                is returned.

        Raises:
            ValueError: the sketch has a hash key, which an engine's filter does not support.
        """
        if self.key is not None:
            raise ValueError("fingerprints with a hash key have no Lucene terms; use format 'bucketed'")
        rows = np.empty((len(minima.slots), 8), ">u2")
        if self.hash_count == 1:
            rows[:, :4] = minima.val2.astype(">u8").view(">u2").reshape(-1, 4)
            rows[:, 4:] = minima.val1.astype(">u8").view(">u2").reshape(-1, 4)
        else:
            rows[:, :2] = (minima.slots // self.bucket_count).astype(">u4").view(">u2").reshape(-1, 2)
            rows[:, 2:6] = minima.val2.astype(">u8").view(">u2").reshape(-1, 4)
            rows[:, 6:] = (minima.val1 >> _HALF_BITS).astype(">u4").view(">u2").reshape(-1, 2)
        terms = [row.tobytes().decode("utf-16-be", "replace") for row in rows]
        return terms if keep_repeats else list(dict.fromkeys(terms))


def bucket_indices(val2: Hashes, minhash: MinHash) -> NDArray[np.int64]:
    """Return the index of the bucket of each value; int64, shape (values,)."""
    size = minhash.bucket_size
    top = val2 >> _HALF_BITS
    if size & (size - 1) == 0:
        return (top >> np.uint64(size.bit_length() - 1)).astype(np.int64)
    return (top // np.uint64(size)).astype(np.int64)


def _compute_minima(h1: Hashes, h2: Hashes, shingle_counts: NDArray[np.int64], minhash: MinHash) -> list[Minima]:
    """Return the smallest value of each bucket, for all texts at once."""
    buckets = minhash.bucket_count
    per_text: list[list[Minima]] = [[] for _ in shingle_counts]
    offset = np.repeat(np.arange(len(shingle_counts)) * buckets, shingle_counts)
    for index in range(minhash.hash_count):
        val1, val2 = apply_hash_function(h1, h2, index)
        slot = bucket_indices(val2, minhash)
        slot += offset
        best2 = np.full(len(shingle_counts) * buckets, _MAX_HASH)
        np.minimum.at(best2, slot, val2)
        # A slot has several winners if a shingle is repeated, or (in theory) if different shingles have the same val2.
        winners = val2 == best2[slot]
        best1 = np.full(len(best2), _MAX_HASH)
        filled = np.zeros(len(best2), bool)
        np.minimum.at(best1, slot[winners], val1[winners])
        filled[slot] = True
        for text, parts in enumerate(per_text):
            of_text = slice(text * buckets, (text + 1) * buckets)
            used = np.flatnonzero(filled[of_text])
            parts.append(Minima(used + index * buckets, best1[of_text][used], best2[of_text][used]))
    return [parts[0] if len(parts) == 1 else _concatenate(parts) for parts in per_text]


def _concatenate(parts: list[Minima]) -> Minima:
    return Minima(
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.val1 for part in parts]),
        np.concatenate([part.val2 for part in parts]),
    )


def _compute_minima_sets(h1: Hashes, h2: Hashes, minhash: MinHash) -> Minima:
    """Return up to S values per bucket for one text, as Lucene keeps them.

    Lucene removes the largest value of a full set before it adds a smaller one, even if the set already contains the
    new value. A repeated shingle can therefore remove a value. The result depends on the order and repetition of
    shingles.
    """
    rows: list[tuple[int, int, int]] = []
    for index in range(minhash.hash_count):
        val1, val2 = apply_hash_function(h1, h2, index)
        sets: dict[int, list[tuple[int, int]]] = {}
        buckets = bucket_indices(val2, minhash).tolist()
        for bucket, value in zip(buckets, zip(val2.tolist(), val1.tolist(), strict=True), strict=True):
            _insert(sets.setdefault(bucket, []), value, minhash.hash_set_size)
        for bucket in sorted(sets):
            rows += [(index * minhash.bucket_count + bucket, first, second) for second, first in sets[bucket]]
    slots, val1s, val2s = zip(*rows, strict=True) if rows else ((), (), ())
    return Minima(np.array(slots, np.int64), np.array(val1s, np.uint64), np.array(val2s, np.uint64))


def _insert(values: list[tuple[int, int]], value: tuple[int, int], size: int) -> None:
    """Insert a value into a sorted list of up to `size` distinct values, as Lucene does."""
    if len(values) == size:
        if value >= values[-1]:
            return
        values.pop()
    index = bisect.bisect_left(values, value)
    if values[index : index + 1] != [value]:
        values.insert(index, value)


def _rotate(minima: Minima, minhash: MinHash) -> Minima:
    """Fill each empty bucket with a copy of the next non-empty bucket to its right. The first bucket follows the last.

    `hash_set_size` must be 1. The buckets of a text without shingles remain empty.
    """
    if not len(minima.slots):
        return minima
    count = minhash.bucket_count
    all_slots = np.arange(minhash.hash_count * count)
    function = all_slots // count
    first = np.searchsorted(minima.slots, function * count)  # index of the hash function's first value
    end = np.searchsorted(minima.slots, (function + 1) * count)  # index after the hash function's last value
    donor = np.searchsorted(minima.slots, all_slots)
    donor = np.where(donor == end, first, donor)
    return Minima(all_slots, minima.val1[donor], minima.val2[donor])
