"""Fingerprints without texts: of random shingles, with any overlap, thousands in a moment."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.fingerprint_table import FingerprintTable

BITS, BUCKETS = 15, 512

Shingles = NDArray[np.uint64]


def shingles(rng: np.random.Generator, count: int) -> Shingles:
    """So many different shingles, as their hashes."""
    return rng.integers(0, 1 << 63, count, np.uint64)


def codes(of: Shingles) -> NDArray[np.uint32]:
    """The tokens of a set of shingles: of each bucket the smallest hash, and 15 bits that did not choose it."""
    buckets = (of >> np.uint64(54)).astype(np.int64)
    order = np.lexsort((of, buckets))
    first = order[np.flatnonzero(np.diff(buckets[order], prepend=-1))]
    return (buckets[first] << BITS | (of[first] & np.uint64((1 << BITS) - 1)).astype(np.int64)).astype(np.uint32)


def pair(rng: np.random.Generator, count: int, overlap: float) -> tuple[Shingles, Shingles]:
    """Two sets whose union has `count` shingles, of which they share `overlap`; the rest is half of each."""
    union = shingles(rng, count)
    shared = round(count * overlap)
    side = (count - shared) // 2
    return union[: shared + side], np.concatenate((union[:shared], union[shared + side :]))


def table(sets: Iterable[Shingles]) -> FingerprintTable:
    """The fingerprints of sets of shingles."""
    sets = list(sets)
    made = [codes(each) for each in sets]
    counts = np.array([len(each) for each in made], np.int64)
    sizes = np.array([len(each) for each in sets], np.int64)
    every = np.concatenate(made) if made else np.zeros(0, np.uint32)
    return FingerprintTable(every, np.cumsum(counts) - counts, counts, sizes, BITS, BUCKETS)
