"""Simhash: one number per chunk of text, in few bits of which the numbers of like chunks differ.

Each feature of a chunk votes with the bits of its hash, for a bit that is 1 and against one that is 0; the majority
decides. Sources: Charikar 2002, "Similarity estimation techniques from rounding algorithms"; Manku, Jain, Das Sarma
2007, "Detecting near-duplicates for web crawling"; and for pairs of letters Fowke, Hinze, Heese 2013, "Text
categorization and similarity analysis" (Working paper 12/2013, University of Waikato), section 4.1.

The bit differences that the last one prints for two times three phrases, 3 10 10 (figure 14) and 8 9 10 (figure 16),
are those of no preparation of the phrases that it names, nor of a dozen others that were tried (without punctuation,
without spaces, as written, with duplicates, ...); as here, in lower case with all signs, they are 2 8 8 and 5 9 12.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct

PRIME = 27644437
"""By which the paper multiplies, the Bell number B(14)."""

PAIR_BITS, BITS = 32, 64

_LOW = (1 << PAIR_BITS) - 1
_FEATURES_AT_ONCE = 1 << 16
_SET_BITS = np.unpackbits(np.arange(1 << 16, dtype=np.uint16).view(np.uint8).reshape(-1, 2), axis=1).sum(
    1, dtype=np.uint8
)

Simhashes = NDArray[np.uint64]


def pair_simhashes(chunks: Sequence[str]) -> Simhashes:
    """The simhash of the distinct pairs of neighbouring bytes of each chunk, in lower case and UTF-8, spaces included.

    The hash of a pair is the lowest 32 bits of the product of its bytes and a prime: 1701793572 of `ti` (figure 12),
    which is the simhash of that chunk. Of a chunk of one byte, or none, it is 0.

    Returns:
        Numbers of 32 bits; uint64, shape (chunks,).
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
    """The simhashes of chunks whose features were hashed.

    Args:
        hashes: those of the features of the first chunk, then those of the second, and so on; uint64.
        counts: how many features each chunk has; int64, shape (chunks,). Without any, its simhash is 0.
        weights: what each feature counts; None: one vote each.

    Returns:
        A bit is 1 if the votes for it outweigh those against it; uint64, shape (chunks,).
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
    """In how many bits numbers differ, 0 to 64: each of `a` and the one of `b` in its place."""
    return set_bits(a ^ b)


def set_bits(values: Simhashes) -> NDArray[np.uint8]:
    """How many bits of each number are 1, 0 to 64."""
    if hasattr(np, "bitwise_count"):  # since numpy 2
        counts: NDArray[np.uint8] = np.bitwise_count(values)
        return counts
    return bits_by_table(values)


def bits_by_table(values: Simhashes) -> NDArray[np.uint8]:
    """The same with any numpy."""
    found = np.zeros(values.shape, np.uint8)
    for shift in range(0, BITS, 16):
        found += _SET_BITS[values >> np.uint64(shift) & np.uint64(0xFFFF)]
    return found


def _slices(count: int) -> Iterator[slice]:
    return (slice(start, start + _FEATURES_AT_ONCE) for start in range(0, count, _FEATURES_AT_ONCE))
