"""Estimates the overlap from the terms of a field that an engine's own `min_hash` filter fills.

The filter keeps up to S values in each bucket of each hash function; S is `hash_set_size`. If S is 1, it keeps the
smallest value of the bucket. If S is over 1, a repeated shingle can remove the largest value of a full bucket (see
`minhash._compute_minima_sets`). Only the S - 1 smallest values are therefore reliable, and queries and estimates use
only these.

Rotation copies the value of another bucket. In the index, the copy and the original are the same term, so rotation does
not change the terms of a text.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.base import Minima
from simdoc_search.sketch.estimate import TokenOverlap, count_common
from simdoc_search.sketch.minhash import MinHash, bucket_indices

_TERM_ID_BITS = 64
_BUCKET_BITS = 32  # the 32 highest bits of val2 determine the bucket


def select_reliable_minima(minima: Minima, minhash: MinHash) -> Minima:
    """Return the values of each bucket that the filter always keeps. Copies from rotation are omitted."""
    is_own = bucket_indices(minima.val2, minhash) == minima.slots % minhash.bucket_count
    slots = minima.slots[is_own]
    is_reliable = _rank_in_slot(slots) < _count_reliable_minima(minhash)
    return Minima(slots[is_reliable], minima.val1[is_own][is_reliable], minima.val2[is_own][is_reliable])


def encode_terms(minima: Minima, minhash: MinHash) -> NDArray[np.uint64]:
    """Return an integer for each value that identifies its term in the index; uint64, ascending.

    The highest bits are the slot of the value: its bucket, numbered across all hash functions (see `Minima`). The other
    bits are the offset of `val2` from the start of the bucket. If the offset has too many bits, its lowest bits are
    dropped.
    """
    bits = _slot_bits(minhash)
    size = minhash.bucket_size
    buckets = (minima.slots % minhash.bucket_count).astype(np.uint64)
    in_bucket = minima.val2 - (buckets * np.uint64(size) << np.uint64(_BUCKET_BITS))
    dropped_bits = max(0, (size - 1).bit_length() + _BUCKET_BITS + bits - _TERM_ID_BITS)
    return minima.slots.astype(np.uint64) << np.uint64(_TERM_ID_BITS - bits) | in_bucket >> np.uint64(dropped_bits)


def compare_terms(a: NDArray[Any], b: NDArray[Any], minhash: MinHash) -> TokenOverlap:
    """Compare the terms of two documents. The estimate of the Jaccard similarity J is unbiased.

    For each bucket, take the smallest values of the union of both sets. On average, the share of these values that is
    in both sets is J (Broder 1997, "On the resemblance and containment of documents", section 4). Buckets that are
    empty in both documents do not count (Li, Owen, Zhang 2012).

    In the result, `union_count` is the number of these values in all buckets together. `matched_token_count` is the
    number of these that are in both documents. Terms contain 64 bits of the hash, so the result is not corrected for
    terms that are equal by chance.
    """
    union = np.union1d(a, b)
    slots = union >> np.uint64(_TERM_ID_BITS - _slot_bits(minhash))
    smallest = union[_rank_in_slot(slots) < _count_reliable_minima(minhash)]
    matched = count_common(np.intersect1d(a, b, assume_unique=True), smallest)
    return TokenOverlap(matched, matched, len(smallest))


def _count_reliable_minima(minhash: MinHash) -> int:
    """Return how many of the smallest values of a bucket the filter always keeps."""
    return max(1, minhash.hash_set_size - 1)


def _slot_bits(minhash: MinHash) -> int:
    return max(1, (minhash.hash_count * minhash.bucket_count - 1).bit_length())


def _rank_in_slot(slots: NDArray[Any]) -> NDArray[np.int64]:
    """Return the rank of each value in its slot, starting at 0. `slots` must be ascending."""
    return np.arange(len(slots)) - np.searchsorted(slots, slots)
