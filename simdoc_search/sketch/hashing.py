"""Hashes of shingles, and the minima that a sketch keeps of them.

Source: Lucene 10.3.1, `org.apache.lucene.analysis.minhash.MinHashFilter`, unchanged since 6.6.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import Minima, Sketch
from simdoc_search.sketch.frequencies import numbered
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.murmur3 import murmur3_x64_128
from simdoc_search.sketch.siphash import siphash_2_4_128
from simdoc_search.sketch.slices import Hashes

_MULTIPLIER = np.uint64(37)
_TOP_BITS = 30  # five characters of a token


def minima(shingles: ShingleBatch, sketch: Sketch) -> tuple[list[Minima], list[int], Hashes]:
    """Hash the shingles of some texts and keep the minima, without rotation.

    Returns:
        For each text its minima and its number of distinct shingles (of all shingles where frequencies count), and
        the hashes of `minima_and_hashes`.
    """
    found, h1 = minima_and_hashes(shingles, sketch)
    if shingles.with_frequencies:
        return found, shingles.counts.tolist(), h1
    bounds = np.concatenate(([0], np.cumsum(shingles.counts)))
    pairs = list(itertools.pairwise(bounds.tolist()))
    return found, [_count_distinct(h1[a:b]) for a, b in pairs], h1


def minima_and_hashes(shingles: ShingleBatch, sketch: Sketch) -> tuple[list[Minima], Hashes]:
    """Return the minima of each text, without rotation, and 64 bits of the hash of every shingle.

    Every occurrence of a shingle has the same 64 bits, also where frequencies count.
    """
    plain, h2 = _hashed(shingles, sketch.key)
    h1 = plain
    if shingles.with_frequencies:
        h1, h2 = numbered(plain, shingles.counts), numbered(h2, shingles.counts)
    return sketch.kept(shingles, h1, h2), plain


def _hashed(shingles: ShingleBatch, key: HashKey | None) -> tuple[Hashes, Hashes]:
    if key is None:
        return murmur3_x64_128(shingles.units, shingles.starts, shingles.ends)
    return siphash_2_4_128(shingles.units, shingles.starts, shingles.ends, key.words)


def _count_distinct(hashes: Hashes) -> int:
    """Count distinct shingles by their 64 bits, which collide for one pair in 10**19."""
    ordered = np.sort(hashes)
    return int(np.count_nonzero(ordered[1:] != ordered[:-1])) + 1 if len(ordered) else 0


def top_bits(h1: Hashes) -> NDArray[np.uint32]:
    """Return the top 30 bits of val1 of each shingle by the first hash function, from `minima_and_hashes`."""
    val1 = h1 * _MULTIPLIER
    val1 += _of_number(0)[0]
    val1 >>= np.uint64(64 - _TOP_BITS)
    return val1.astype(np.uint32)


def combined(h1: Hashes, h2: Hashes, index: int) -> tuple[Hashes, Hashes]:
    """Return hash function `index` of the plain hash: Guava's combineOrdered with the hash of the number."""
    one1, one2 = _of_number(index)
    return h1 * _MULTIPLIER + one1, h2 * _MULTIPLIER + one2


@cache
def _of_number(index: int) -> tuple[Hashes, Hashes]:
    units = np.frombuffer(index.to_bytes(4, "big"), "<u2")
    return murmur3_x64_128(units, np.zeros(1, np.int64), np.full(1, 2, np.int64))
