"""Makes fingerprints of random shingles with any overlap. They are faster to make than fingerprints of texts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.sketch.tokens import HASH_BITS

BUCKETS = 512

Shingles = NDArray[np.uint64]


def shingles(rng: np.random.Generator, count: int) -> Shingles:
    """Return the hashes of random shingles."""
    return rng.integers(0, 1 << 63, count, np.uint64)


def token_ids(hashes: Shingles) -> NDArray[np.uint32]:
    """Return the tokens of a set of shingles: the bucket and the low 9 bits of the smallest hash of each bucket."""
    buckets = (hashes >> np.uint64(54)).astype(np.int64)
    order = np.lexsort((hashes, buckets))
    first = order[np.flatnonzero(np.diff(buckets[order], prepend=-1))]
    low_bits = hashes[first] & np.uint64((1 << HASH_BITS) - 1)
    return (buckets[first] << HASH_BITS | low_bits.astype(np.int64)).astype(np.uint32)


def pair(rng: np.random.Generator, count: int, overlap: float) -> tuple[Shingles, Shingles]:
    """Return two sets with this overlap and the same size. Their union has `count` shingles."""
    union = shingles(rng, count)
    shared = round(count * overlap)
    side = (count - shared) // 2
    return union[: shared + side], np.concatenate((union[:shared], union[shared + side :]))


def table(sets: Iterable[Shingles]) -> FingerprintTable:
    """Return the fingerprints of sets of shingles."""
    sets = list(sets)
    tokens = [token_ids(hashes) for hashes in sets]
    counts = np.array([len(row) for row in tokens], np.int64)
    sizes = np.array([len(hashes) for hashes in sets], np.int64)
    all_tokens = np.concatenate([np.zeros(0, np.uint32), *tokens])
    return FingerprintTable(all_tokens, np.cumsum(counts) - counts, counts, sizes, BUCKETS)
