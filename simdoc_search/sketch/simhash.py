"""Computes simhashes: one 64-bit number per chunk of text. The simhashes of similar chunks differ in few bits.

The hash of each feature of a chunk votes on each bit of the simhash: a 1 bit is a vote for 1, and a 0 bit is a vote for
0. The majority decides. Sources: Charikar 2002, "Similarity estimation techniques from rounding algorithms"; Manku,
Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import positions_in_runs

SIMHASH_BITS = 64

_FEATURES_PER_BATCH = 1 << 16
_MAX_SUMMED_ROWS = 255  # this many rows are added at once, because the sum of their bits fits into a byte
_POPCOUNTS_OF_16_BITS = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(
    1, dtype=np.uint8
)

Simhashes = NDArray[np.uint64]


def simhashes(
    hashes: NDArray[np.uint64], counts: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> Simhashes:
    """Return the simhashes of chunks from the hashes of their features.

    Args:
        hashes: hashes of the features of all chunks, one chunk after the other; uint64.
        counts: number of features of each chunk; int64, shape (chunks,). The simhash of a chunk without features is 0.
        weights: weight of each feature. If None, all weights are 1.

    Returns:
        uint64, shape (chunks,). A bit is 1 if the votes for 1 outweigh the votes for 0.
    """
    votes = np.zeros((len(counts), SIMHASH_BITS))
    chunk_of = np.repeat(np.arange(len(counts)), counts)
    for start in range(0, len(hashes), _FEATURES_PER_BATCH):
        part = slice(start, start + _FEATURES_PER_BATCH)
        bits = np.unpackbits(hashes[part].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        chunks, begins = np.unique(chunk_of[part], return_index=True)
        if weights is None:
            features = np.diff(begins, append=len(bits))
            votes[chunks] += 2 * _sum_of_bits(bits, begins, features) - features[:, np.newaxis]
        else:
            votes[chunks] += np.add.reduceat((bits.astype(np.float64) * 2 - 1) * weights[part, np.newaxis], begins)
    packed = np.packbits(votes > 0, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64).reshape(-1)


def _sum_of_bits(bits: NDArray[np.uint8], begins: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """For each run of consecutive rows, return the sum of each of the 64 columns; int64, shape (runs, 64).

    Eight columns are added at once, for up to 255 rows.

    Args:
        bits: 0 or 1; uint8, shape (rows, 64).
        begins: first row of each run; int64, shape (runs,). The first one is 0, as the runs cover all rows.
        counts: number of rows of each run, at least 1.
    """
    pieces = -(-counts // _MAX_SUMMED_ROWS)
    first_piece = np.cumsum(pieces) - pieces
    begins_of_pieces = np.repeat(begins, pieces) + _MAX_SUMMED_ROWS * positions_in_runs(0, pieces)
    sums = np.add.reduceat(bits.view(np.uint64), begins_of_pieces).view(np.uint8)
    return np.add.reduceat(sums.astype(np.int64), first_piece)


def hamming_distances(a: Simhashes, b: Simhashes) -> NDArray[np.uint8]:
    """Return the number of bits in which corresponding elements of `a` and `b` differ, 0 to 64."""
    return count_set_bits(a ^ b)


def count_set_bits(values: Simhashes) -> NDArray[np.uint8]:
    """Return the number of 1 bits in each number, 0 to 64."""
    if hasattr(np, "bitwise_count"):  # since numpy 2
        counts: NDArray[np.uint8] = np.bitwise_count(values)
        return counts
    return count_set_bits_by_table(values)


def count_set_bits_by_table(values: Simhashes) -> NDArray[np.uint8]:
    """Return the same as `count_set_bits`. This function works with any version of numpy."""
    counts = np.zeros(values.shape, np.uint8)
    for shift in range(0, SIMHASH_BITS, 16):
        counts += _POPCOUNTS_OF_16_BITS[values >> np.uint64(shift) & np.uint64(0xFFFF)]
    return counts
