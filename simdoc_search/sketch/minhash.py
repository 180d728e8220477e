"""Bucket minima of shingles, with the arithmetic of Lucene's MinHashFilter.

One 128-bit hash of a shingle, (val1, val2), serves all buckets: the top 32 bits of val2 choose the bucket, and each
bucket keeps its smallest value (one-permutation MinHash; Li, Owen, Zhang 2012). Values are ordered by val2, then val1.

Source: Lucene 10.3.1, `org.apache.lucene.analysis.minhash.MinHashFilter`, unchanged since 6.6.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import MOST_PLACES, Codes, Minima, Sketch
from simdoc_search.sketch.estimate import shared_and_union
from simdoc_search.sketch.hashing import combined
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.slices import Hashes
from simdoc_search.sketch.tokens import hash_bits

_WORST = np.uint64(2**64 - 1)
_32 = np.uint64(32)
_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class MinHash(Sketch):
    """The parameters of Lucene's `min_hash` filter.

    Attributes:
        hash_count: H, the number of hash functions, at least 1.
        bucket_count: B, buckets per hash function, 1 to 2**32.
        hash_set_size: S, values kept per bucket, at least 1.
        with_rotation: fill each empty bucket from the next non-empty bucket to its right. Lucene's factory enables
            this by default, and ignores it unless S is 1. It is off here, because the copies make the estimate worse.
        key: as in `Sketch`.
    """

    name: ClassVar[str] = "minhash"
    size_field: ClassVar[str] = "bucket_count"
    fills_all_places: ClassVar[bool] = False
    STORED_NAME: ClassVar[str] = "bucketed"

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
        """Number of numbered places; a place is a bucket."""
        return self.bucket_count

    @property
    def bucket_size(self) -> int:
        """Number of values of the top 32 bits of val2 that fall into one bucket."""
        return -(-(1 << 32) // self.bucket_count)

    @property
    def stored_name(self) -> str:
        """The name in stored settings, after the format of the tokens."""
        return self.STORED_NAME

    @property
    def values(self) -> tuple[str, ...]:
        """Number of buckets, values per bucket, and whether empty buckets are filled."""
        return str(self.bucket_count), str(self.hash_set_size), str(self.with_rotation).lower()

    @classmethod
    def of_values(cls, values: Sequence[str]) -> MinHash:
        """Return the sketch of stored parameters. Unknown ones are refused: they may change every token."""
        buckets, kept, rotation = values
        if rotation not in _BOOLEANS:
            raise ValueError(f"{rotation!r:.60} is neither true nor false")
        return cls(bucket_count=int(buckets), hash_set_size=int(kept), with_rotation=_BOOLEANS[rotation])

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the smallest values of each bucket."""
        if self.hash_set_size == 1:
            return _smallest(h1, h2, shingles.counts, self)
        bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
        return [_smallest_sets(h1[a:b], h2[a:b], self) for a, b in itertools.pairwise(bounds)]

    @property
    def can_merge(self) -> bool:
        """Whether minima can be merged: with one value per bucket, the order of shingles does not matter."""
        return self.hash_set_size == 1

    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the smaller value of each bucket, by val2, then val1."""
        slots = np.concatenate((a.slots, b.slots))
        val1: Hashes = np.concatenate((a.val1, b.val1))
        val2: Hashes = np.concatenate((a.val2, b.val2))
        order = np.lexsort((val1, val2, slots))
        first = order[np.flatnonzero(np.diff(slots[order], prepend=-1))]
        return Minima(slots[first], val1[first], val2[first])

    def completed(self, minima: Minima) -> Minima:
        """Return the minima, rotated if `with_rotation` is set."""
        return _rotated(minima, self) if self.with_rotation and self.hash_set_size == 1 else minima

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Count equal tokens, and buckets filled in either document; see `estimate.shared_and_union`."""
        return shared_and_union(a, b, hash_bits(self, length))

    def check_tokens(self) -> None:
        """Check that these settings have bucketed tokens.

        Raises:
            ValueError: hash_count or hash_set_size is not 1, or bucket_count is not a power of two up to 4,096.
        """
        count = self.bucket_count
        if self.hash_count != 1 or self.hash_set_size != 1:
            raise ValueError(f"bucketed tokens need hash_count 1 and hash_set_size 1, not {self}; use format 'lucene'")
        if count & (count - 1) or count > MOST_PLACES:
            raise ValueError(
                f"bucketed tokens need a power of two up to {MOST_PLACES} as the number of buckets, such as "
                f"{min(1 << count.bit_length() - 1, MOST_PLACES)}, not {count}; the sketches xor, universal and "
                "bottom_k take any size"
            )

    def lucene_terms(self, minima: Minima, *, repeats: bool = False) -> list[str]:
        """Return the terms of a Lucene index, in the order in which the filter emits them.

        A term is 8 UTF-16 units: val2, then val1. With several hash functions it is the number of the function, val2,
        and the upper half of val1. Units that are not valid UTF-16 become U+FFFD, as when Lucene writes UTF-8.

        Args:
            minima: the `completed` minima of a text.
            repeats: return a term as often as the filter emits it; otherwise once, at its first place.

        Raises:
            ValueError: there is a hash key, which no engine's filter knows.
        """
        if self.key is not None:
            raise ValueError("fingerprints with a hash key have no terms of Lucene's; use format 'bucketed'")
        rows = np.empty((len(minima.slots), 8), ">u2")
        if self.hash_count == 1:
            rows[:, :4] = minima.val2.astype(">u8").view(">u2").reshape(-1, 4)
            rows[:, 4:] = minima.val1.astype(">u8").view(">u2").reshape(-1, 4)
        else:
            rows[:, :2] = (minima.slots // self.bucket_count).astype(">u4").view(">u2").reshape(-1, 2)
            rows[:, 2:6] = minima.val2.astype(">u8").view(">u2").reshape(-1, 4)
            rows[:, 6:] = (minima.val1 >> np.uint64(32)).astype(">u4").view(">u2").reshape(-1, 2)
        terms = [row.tobytes().decode("utf-16-be", "replace") for row in rows]
        return terms if repeats else list(dict.fromkeys(terms))


def buckets_of(val2: Hashes, settings: MinHash) -> NDArray[np.int64]:
    """Return the bucket of each value; int64, shape (values,)."""
    size = settings.bucket_size
    top = val2 >> _32
    if size & (size - 1) == 0:
        return (top >> np.uint64(size.bit_length() - 1)).astype(np.int64)
    return (top // np.uint64(size)).astype(np.int64)


def _smallest(h1: Hashes, h2: Hashes, counts: NDArray[np.int64], settings: MinHash) -> list[Minima]:
    """Return one value per bucket, for all texts at once."""
    per_text: list[list[Minima]] = [[] for _ in counts]
    offset = np.repeat(np.arange(len(counts)) * settings.bucket_count, counts)
    for index in range(settings.hash_count):
        val1, val2 = combined(h1, h2, index)
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
    """Return up to S values per bucket for one text, with Lucene's shrinking sets.

    Lucene removes the largest value of a full set before it adds a smaller one, even if the set already contains the
    new value. A repeated shingle therefore costs a value, and the result depends on order and repetition.
    """
    rows: list[tuple[int, int, int]] = []
    for index in range(settings.hash_count):
        val1, val2 = combined(h1, h2, index)
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


def _rotated(values: Minima, settings: MinHash) -> Minima:
    """Fill every empty bucket from the next non-empty bucket to its right, around the end.

    Requires hash_set_size 1. A text without shingles stays empty.
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
