"""MurmurHash3 x64 128 of many short strings at once.

Source: Austin Appleby's MurmurHash3_x64_128, seed 0, over UTF-16LE bytes, as Lucene's MinHashFilter calls it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.slices import Hashes, hash_slices, rotate, with_block

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_FIVE = np.uint64(5)
_N1 = np.uint64(0x52DCE729)
_N2 = np.uint64(0x38495AB5)
_F1 = np.uint64(0xFF51AFD7ED558CCD)
_F2 = np.uint64(0xC4CEB9FE1A85EC53)
_33 = np.uint64(33)

_BLOCK = 8  # UTF-16 units in a block of 16 bytes
# By the units left after the last whole block (0..7): which bits of the next 8 bytes, and of the 8 after them.
_TAIL_1 = np.array([(1 << 16 * min(n, 4)) - 1 for n in range(_BLOCK)], np.uint64)
_TAIL_2 = np.array([(1 << 16 * max(n - 4, 0)) - 1 for n in range(_BLOCK)], np.uint64)


def murmur3_x64_128(
    units: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Hashes, Hashes]:
    """Hash slices of one buffer.

    Args:
        units: UTF-16 code units, hashed as little-endian bytes.
        starts: first unit of each string; shape (strings,).
        ends: unit after its last; shape (strings,).

    Returns:
        h1 and h2 of each string, uint64, shape (strings,).
    """
    return hash_slices(units, starts, ends, _hash_chunk)


def _hash_chunk(quads: Hashes, at: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Hashes, Hashes]:
    state = _State(len(at))
    for n in with_block(lengths // _BLOCK):
        state.mix(quads, at[:n], n)
        at[:n] += _BLOCK
    state.mix_tail(quads, at, lengths % _BLOCK)
    state.finish((2 * lengths).astype(np.uint64))
    return state.h1, state.h2


class _State:
    """h1 and h2 of many strings, with work space: each step is one in-place pass over a prefix."""

    def __init__(self, count: int) -> None:
        self.h1, self.h2 = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
        self.k, self.spare = np.empty(count, np.uint64), np.empty(count, np.uint64)

    def mix(self, quads: Hashes, at: NDArray[np.int64], n: int) -> None:
        """Mix one block of 16 bytes into each of the first n strings."""
        h1, h2, k, spare = self.h1[:n], self.h2[:n], self.k[:n], self.spare[:n]
        quads.take(at, out=k, mode="clip")
        _scramble(k, spare, _C1, 31, _C2)
        h1 ^= k
        rotate(h1, spare, 27)
        h1 += h2
        h1 *= _FIVE
        h1 += _N1
        quads[4:].take(at, out=k, mode="clip")
        _scramble(k, spare, _C2, 33, _C1)
        h2 ^= k
        rotate(h2, spare, 31)
        h2 += h1
        h2 *= _FIVE
        h2 += _N2

    def mix_tail(self, quads: Hashes, at: NDArray[np.int64], left: NDArray[np.int64]) -> None:
        """Mix in the bytes after the last whole block; without any it mixes in zeros, which change nothing."""
        k, spare = self.k, self.spare
        quads.take(at, out=k, mode="clip")
        k &= _TAIL_1[left]
        _scramble(k, spare, _C1, 31, _C2)
        self.h1 ^= k
        quads[4:].take(at, out=k, mode="clip")
        k &= _TAIL_2[left]
        _scramble(k, spare, _C2, 33, _C1)
        self.h2 ^= k

    def finish(self, size: NDArray[np.uint64]) -> None:
        """Apply the finaliser; `size` in bytes."""
        h1, h2 = self.h1, self.h2
        h1 ^= size
        h2 ^= size
        h1 += h2
        h2 += h1
        _mix_bits(h1, self.spare)
        _mix_bits(h2, self.spare)
        h1 += h2
        h2 += h1


def _mix_bits(values: Hashes, spare: Hashes) -> None:
    for factor in (_F1, _F2):
        np.right_shift(values, _33, out=spare)
        values ^= spare
        values *= factor
    np.right_shift(values, _33, out=spare)
    values ^= spare


def _scramble(k: Hashes, spare: Hashes, first: np.uint64, rotation: int, second: np.uint64) -> None:
    k *= first
    rotate(k, spare, rotation)
    k *= second
