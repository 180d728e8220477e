"""Hashes shingles, and derives the values of further hash functions from these hashes.

Source: Lucene 10.3.1, `org.apache.lucene.analysis.minhash.MinHashFilter`, unchanged since 6.6.
"""

from __future__ import annotations

import itertools
from functools import cache

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import Minima, Sketch
from simdoc_search.sketch.hash_functions import Hashes, mix_bits, murmur3_x64_128, siphash_2_4_128
from simdoc_search.sketch.key import HashKey

_MULTIPLIER = np.uint64(37)
_TOP_BIT_COUNT = 30  # a token has five characters of 6 bits each


def hash_shingles(shingles: ShingleBatch, key: HashKey | None) -> tuple[Hashes, Hashes]:
    """Return both halves of the hash of each shingle; uint64, shape (shingles,). Equal shingles have equal hashes."""
    if key is None:
        return murmur3_x64_128(shingles.units, shingles.starts, shingles.ends)
    return siphash_2_4_128(shingles.units, shingles.starts, shingles.ends, key.siphash_key)


def compute_minima(shingles: ShingleBatch, sketch: Sketch, h1: Hashes, h2: Hashes) -> list[Minima]:
    """Return the minima of each text. `Sketch.complete` has not been applied to them.

    `h1` and `h2` are the result of `hash_shingles`.
    """
    if shingles.with_frequencies:
        h1, h2 = occurrence_hashes(h1, shingles.counts), occurrence_hashes(h2, shingles.counts)
    return sketch.minima(shingles, h1, h2)


def count_distinct_shingles(shingles: ShingleBatch, h1: Hashes) -> list[int]:
    """Return the number of distinct shingles of each text.

    If the analysis counts frequencies (`shingles.with_frequencies`), return the number of all shingles instead.
    The function compares 64 bits of the hashes. Two different shingles have equal bits with a probability of 1 in
    10**19.
    """
    if shingles.with_frequencies:
        return list(map(int, shingles.counts))
    bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
    texts = (np.sort(h1[begin:end]) for begin, end in itertools.pairwise(bounds))
    return [int(np.count_nonzero(text[1:] != text[:-1])) + 1 if len(text) else 0 for text in texts]


def occurrence_hashes(hashes: Hashes, counts: NDArray[np.int64]) -> Hashes:
    """Return hashes that differ for each occurrence of a shingle. The hash of the first occurrence is unchanged.

    The Jaccard similarity of sets of these hashes is the Jaccard similarity of the multisets of shingles. It is the sum
    of the smaller frequencies divided by the sum of the larger ones (Chum, Philbin, Zisserman 2008, "Near duplicate
    image detection: min-hash and tf-idf weighting", section 4.1).

    Args:
        hashes: hashes of the shingles of all texts, one text after the other; uint64, shape (shingles,).
        counts: number of shingles of each text; int64, shape (texts,).
    """
    owner = np.repeat(np.arange(len(counts)), counts)
    order = np.lexsort((hashes, owner))
    is_first = np.ones(len(order), bool)
    is_first[1:] = (np.diff(hashes[order]) != 0) | (np.diff(owner[order]) != 0)
    index = np.arange(len(order))
    begins = np.maximum.accumulate(np.where(is_first, index, 0))
    result = np.empty_like(hashes)
    result[order] = hashes[order] + mix_bits((index - begins).astype(np.uint64))
    return result


def top_bits(h1: Hashes) -> NDArray[np.uint32]:
    """For each shingle, return the highest 30 bits of the value of hash function 0; uint32, shape (shingles,).

    `h1` is the first half of the hash of each shingle.
    """
    val1 = h1 * _MULTIPLIER
    val1 += _hash_index(0)[0]
    val1 >>= np.uint64(64 - _TOP_BIT_COUNT)
    return val1.astype(np.uint32)


def apply_hash_function(h1: Hashes, h2: Hashes, index: int) -> tuple[Hashes, Hashes]:
    """Return both 64-bit halves of the value of hash function `index` for each shingle.

    Both halves combine the hash of the shingle with the hash of the index, like Guava's combineOrdered.
    """
    index1, index2 = _hash_index(index)
    return h1 * _MULTIPLIER + index1, h2 * _MULTIPLIER + index2


@cache
def _hash_index(index: int) -> tuple[Hashes, Hashes]:
    units = np.frombuffer(index.to_bytes(4, "big"), "<u2")
    return murmur3_x64_128(units, np.zeros(1, np.int64), np.full(1, 2, np.int64))
