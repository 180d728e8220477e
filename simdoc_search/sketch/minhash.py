"""Shingles to bucket minima: the arithmetic of Lucene's MinHashFilter.

One 128-bit hash of a shingle, (val1, val2), serves all buckets: the top 32 bits of val2 choose the bucket, and each
bucket keeps its smallest value (one-permutation MinHash; Li, Owen, Zhang 2012). Values are ordered by val2, then val1.

Source: Lucene 10.3.1, `org.apache.lucene.analysis.minhash.MinHashFilter`, unchanged since 6.6.
"""

from __future__ import annotations

import bisect
import itertools
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.frequencies import numbered
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.murmur3 import murmur3_x64_128
from simdoc_search.sketch.siphash import siphash_2_4_128
from simdoc_search.sketch.slices import Hashes

if TYPE_CHECKING:
    from simdoc_search.sketch.schemes import AnySketch

__all__ = ["MinHash", "Minima", "buckets_of", "minima", "minima_and_hashes", "rotated", "top_bits"]

_MULTIPLIER = np.uint64(37)
_WORST = np.uint64(2**64 - 1)
_32 = np.uint64(32)
_TOP_BITS = 30  # five characters of a token


@dataclass(frozen=True, slots=True)
class MinHash:
    """The parameters of Lucene's `min_hash` filter.

    Attributes:
        hash_count: H, the number of hash functions, at least 1.
        bucket_count: B, buckets per hash function, 1 to 2**32.
        hash_set_size: S, values kept per bucket, at least 1.
        with_rotation: fill each empty bucket from the next one to its right that is not empty. Lucene's factory
            switches it on by default, and ignores it unless S is 1; here it is off, as the copies make the
            estimate worse.
        key: a secret with which shingles are hashed by SipHash-2-4 instead of MurmurHash3; a fingerprint then takes
            about twice the time, and only who has the key can tell its values. None: no key, as in Lucene.
    """

    hash_count: int = 1
    bucket_count: int = 512
    hash_set_size: int = 1
    with_rotation: bool = False
    key: HashKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        for name in ("hash_count", "bucket_count", "hash_set_size"):
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 1 << 32:
                raise ValueError(f"{name} must be a whole number of at least 1, not {value!r}")

        if not isinstance(self.with_rotation, bool):
            raise ValueError(f"with_rotation must be True or False, not {self.with_rotation!r}")
        if self.key is not None and not isinstance(self.key, HashKey):
            raise ValueError("key must be a HashKey or None")

    @property
    def positions(self) -> int:
        """How many numbered places there are, of which a token names its own: a place is a bucket."""
        return self.bucket_count

    @property
    def bucket_size(self) -> int:
        """How many values of the top 32 bits of val2 one bucket takes."""
        return -(-(1 << 32) // self.bucket_count)


@dataclass(frozen=True, slots=True)
class Minima:
    """What the buckets of one text keep, in the order in which Lucene emits it.

    Attributes:
        slots: hash function * bucket_count + bucket; int64, shape (values,), ascending.
        val1: first half of each value; uint64, shape (values,).
        val2: second half, which orders them; uint64, shape (values,).
    """

    slots: NDArray[np.int64]
    val1: Hashes
    val2: Hashes


def minima(shingles: ShingleBatch, settings: AnySketch) -> tuple[list[Minima], list[int], Hashes]:
    """Hash the shingles of some texts and keep the smallest values, without rotation.

    Returns:
        For each text its minima and its number of distinct shingles, or of all where frequencies count; and the
        hashes of `minima_and_hashes`.
    """
    found, h1 = minima_and_hashes(shingles, settings)
    if shingles.with_frequencies:
        return found, shingles.counts.tolist(), h1
    bounds = np.concatenate(([0], np.cumsum(shingles.counts)))
    pairs = list(itertools.pairwise(bounds.tolist()))
    return found, [_count_distinct(h1[a:b]) for a, b in pairs], h1


def minima_and_hashes(shingles: ShingleBatch, settings: AnySketch) -> tuple[list[Minima], Hashes]:
    """For each text its minima, without rotation; and 64 bits of the hash of every shingle, to tell them apart.

    Those are the same for each occurrence of a shingle, also where frequencies count.
    """
    plain, h2 = _hashed(shingles, settings.key)
    h1 = plain
    if shingles.with_frequencies:
        h1, h2 = numbered(plain, shingles.counts), numbered(h2, shingles.counts)
    if not isinstance(settings, MinHash):
        return settings.kept(shingles, h1), plain
    if settings.hash_set_size == 1:
        return _smallest(h1, h2, shingles.counts, settings), plain
    bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
    return [_smallest_sets(h1[a:b], h2[a:b], settings) for a, b in itertools.pairwise(bounds)], plain


def _hashed(shingles: ShingleBatch, key: HashKey | None) -> tuple[Hashes, Hashes]:
    if key is None:
        return murmur3_x64_128(shingles.units, shingles.starts, shingles.ends)
    return siphash_2_4_128(shingles.units, shingles.starts, shingles.ends, key.words)


def _count_distinct(hashes: Hashes) -> int:
    """Different shingles with the same 64 bits are not to be expected: one pair in 10**19."""
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if len(ordered) else 0


def top_bits(h1: Hashes) -> NDArray[np.uint32]:
    """The top 30 bits of val1 of each shingle, by the first hash function, from the hashes of `minima_and_hashes`."""
    val1 = h1 * _MULTIPLIER
    val1 += _of_number(0)[0]
    val1 >>= np.uint64(64 - _TOP_BITS)
    return val1.astype(np.uint32)


def _combined(h1: Hashes, h2: Hashes, index: int) -> tuple[Hashes, Hashes]:
    """Hash function `index` from the plain hash: Guava's combineOrdered with the hash of the number."""
    one1, one2 = _of_number(index)
    return h1 * _MULTIPLIER + one1, h2 * _MULTIPLIER + one2


@cache
def _of_number(index: int) -> tuple[Hashes, Hashes]:
    units = np.frombuffer(index.to_bytes(4, "big"), "<u2")
    return murmur3_x64_128(units, np.zeros(1, np.int64), np.full(1, 2, np.int64))


def buckets_of(val2: Hashes, settings: MinHash) -> NDArray[np.int64]:
    """The bucket of each value; int64, shape (values,)."""
    size = settings.bucket_size
    top = val2 >> _32
    if size & (size - 1) == 0:
        return (top >> np.uint64(size.bit_length() - 1)).astype(np.int64)
    return (top // np.uint64(size)).astype(np.int64)


def _smallest(h1: Hashes, h2: Hashes, counts: NDArray[np.int64], settings: MinHash) -> list[Minima]:
    """One value per bucket, for all texts at once."""
    per_text: list[list[Minima]] = [[] for _ in counts]
    offset = np.repeat(np.arange(len(counts)) * settings.bucket_count, counts)
    for index in range(settings.hash_count):
        val1, val2 = _combined(h1, h2, index)
        slot = buckets_of(val2, settings)
        slot += offset
        best2 = np.full(len(counts) * settings.bucket_count, _WORST)
        np.minimum.at(best2, slot, val2)
        winners = val2 == best2[slot]  # repeats of one shingle, or in theory others with the same val2
        best1 = np.full(len(best2), _WORST)
        filled = np.zeros(len(best2), bool)
        np.minimum.at(best1, slot[winners], val1[winners])
        filled[slot] = True
        for text, part in enumerate(per_text):
            where = slice(text * settings.bucket_count, (text + 1) * settings.bucket_count)
            used = np.flatnonzero(filled[where])
            slots = used + index * settings.bucket_count
            part.append(Minima(slots, best1[where][used], best2[where][used]))
    return [_joined(parts) for parts in per_text]


def _joined(parts: list[Minima]) -> Minima:
    if len(parts) == 1:
        return parts[0]
    return Minima(
        np.concatenate([part.slots for part in parts]),
        np.concatenate([part.val1 for part in parts]),
        np.concatenate([part.val2 for part in parts]),
    )


def _smallest_sets(h1: Hashes, h2: Hashes, settings: MinHash) -> Minima:
    """Up to S values per bucket, for one text, with Lucene's shrinking sets.

    Lucene removes the largest value of a full set before it adds a smaller one, even if the set holds that one
    already: a repeated shingle then costs a value. The result depends on order and repetition; it must be copied.
    """
    rows: list[tuple[int, int, int]] = []
    for index in range(settings.hash_count):
        val1, val2 = _combined(h1, h2, index)
        sets: dict[int, list[tuple[int, int]]] = {}
        buckets = buckets_of(val2, settings).tolist()
        for bucket, value in zip(buckets, zip(val2.tolist(), val1.tolist(), strict=True), strict=True):
            _keep(sets.setdefault(bucket, []), value, settings.hash_set_size)
        for bucket in sorted(sets):
            rows += [(index * settings.bucket_count + bucket, first, second) for second, first in sets[bucket]]
    return Minima(
        np.array([row[0] for row in rows], np.int64),
        np.array([row[1] for row in rows], np.uint64),
        np.array([row[2] for row in rows], np.uint64),
    )


def _keep(values: list[tuple[int, int]], value: tuple[int, int], size: int) -> None:
    if len(values) == size:
        if value >= values[-1]:
            return
        values.pop()
    place = bisect.bisect_left(values, value)
    if values[place : place + 1] != [value]:
        values.insert(place, value)


def rotated(values: Minima, settings: MinHash) -> Minima:
    """Fill every empty bucket from the next one to its right that is not empty, around the end.

    Needs hash_set_size 1; a text without shingles stays empty.
    """
    if not len(values.slots):
        return values
    count = settings.bucket_count
    everything = np.arange(settings.hash_count * count)
    donor = np.searchsorted(values.slots, everything)
    beyond = np.searchsorted(values.slots, (everything // count + 1) * count)  # first value of the next function
    first = np.searchsorted(values.slots, everything // count * count)
    donor = np.where(donor == beyond, first, donor)
    return Minima(everything, values.val1[donor], values.val2[donor])
