"""Simhash: one number per chunk of text, similar for similar chunks.

Each feature of a chunk votes with the bits of its hash, for bits that are 1 and against bits that are 0; the majority
decides. Sources: Charikar 2002, "Similarity estimation techniques from rounding algorithms"; Manku, Jain, Das Sarma
2007, "Detecting near-duplicates for web crawling"; for letter pairs Fowke, Hinze, Heese 2013, "Text categorization and
similarity analysis" (Working paper 12/2013, University of Waikato), section 4.1.

The last paper prints bit differences for two times three phrases, 3 10 10 (figure 14) and 8 9 10 (figure 16). No
preparation of the phrases that it names gives these, nor did a dozen others that were tried (without punctuation,
without spaces, as written, with duplicates, ...). In lower case with all characters, as here, they are 2 8 8 and
5 9 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct

PRIME = 27644437
"""The factor in the paper's hash, the Bell number B(14)."""

PAIR_BITS, BITS = 32, 64

_LOW = (1 << PAIR_BITS) - 1
_FEATURES_AT_ONCE = 1 << 16
_SET_BITS = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(
    1, dtype=np.uint8
)

Simhashes = NDArray[np.uint64]


def pair_simhashes(chunks: Sequence[str]) -> Simhashes:
    """Return the simhash of the distinct pairs of adjacent bytes of each chunk, in lower-case UTF-8, spaces included.

    The hash of a pair is the lowest 32 bits of the product of its bytes and a prime: 1701793572 for `ti` (figure 12),
    which is also the simhash of that chunk. A chunk of at most one byte has 0.

    Returns:
        32-bit numbers; uint64, shape (chunks,).
    """
    codes, counts = [], []
    for chunk in chunks:
        letters = np.frombuffer(chunk.lower().encode("utf-8", "surrogatepass"), np.uint8).astype(np.uint64)
        codes.append(distinct(letters[:-1] << np.uint64(8) | letters[1:]))
        counts.append(len(codes[-1]))
    pairs = np.concatenate(codes) if codes else np.zeros(0, np.uint64)
    products = (pairs >> np.uint64(8)) * (pairs & np.uint64(255))
    return simhashes(products * np.uint64(PRIME) & np.uint64(_LOW), np.array(counts, np.int64))


def simhashes(
    hashes: NDArray[np.uint64], counts: NDArray[np.int64], weights: NDArray[np.float64] | None = None
) -> Simhashes:
    """Return the simhashes of chunks from the hashes of their features.

    Args:
        hashes: hashes of the features of the first chunk, then of the second, and so on; uint64.
        counts: number of features of each chunk; int64, shape (chunks,). Without features the simhash is 0.
        weights: weight of each feature; None for one vote each.

    Returns:
        uint64, shape (chunks,). A bit is 1 if the votes for it outweigh those against it.
    """
    votes = np.zeros((len(counts), BITS))
    chunk_of = np.repeat(np.arange(len(counts)), counts)
    for some in _slices(len(hashes)):
        bits = np.unpackbits(hashes[some].astype("<u8").view(np.uint8).reshape(-1, 8), axis=1, bitorder="little")
        signs = bits.astype(np.float64) * 2 - 1
        if weights is not None:
            signs *= weights[some, np.newaxis]
        chunks, begins = np.unique(chunk_of[some], return_index=True)
        votes[chunks] += np.add.reduceat(signs, begins)
    packed = np.packbits(votes > 0, axis=1, bitorder="little")
    return packed.view("<u8").astype(np.uint64).reshape(-1)


def distances(a: Simhashes, b: Simhashes) -> NDArray[np.uint8]:
    """Return the number of bits in which corresponding elements of `a` and `b` differ, 0 to 64."""
    return set_bits(a ^ b)


def set_bits(values: Simhashes) -> NDArray[np.uint8]:
    """Return the number of 1 bits of each number, 0 to 64."""
    if hasattr(np, "bitwise_count"):  # since numpy 2
        counts: NDArray[np.uint8] = np.bitwise_count(values)
        return counts
    return bits_by_table(values)


def bits_by_table(values: Simhashes) -> NDArray[np.uint8]:
    """Return the same, with any version of numpy."""
    found = np.zeros(values.shape, np.uint8)
    for shift in range(0, BITS, 16):
        found += _SET_BITS[values >> np.uint64(shift) & np.uint64(0xFFFF)]
    return found


def _slices(count: int) -> Iterator[slice]:
    return (slice(start, start + _FEATURES_AT_ONCE) for start in range(0, count, _FEATURES_AT_ONCE))
