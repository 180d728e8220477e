"""SipHash-2-4 with a 128-bit result, for many short strings at once: the hash of shingles with a secret key.

It is a pseudo-random function: without the key nobody can predict a hash, or find collisions faster than by trying.
MurmurHash3 is not; some strings collide under every seed.

Source: Aumasson, Bernstein 2012, "SipHash: a fast short-input PRF"; the 128 bits as in its reference implementation.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.slices import Hashes, hash_slices, rotate, with_block

_WORD = 4  # UTF-16 units in the 8 bytes that are taken in at once
_TAIL = np.array([(1 << 16 * n) - 1 for n in range(_WORD)], np.uint64)  # by the units left: which bits count
_START = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_WIDE, _SECOND = 0xEE, 0xDD  # what makes it 128 bits, and begins the second half

Key = tuple[int, int]


def siphash_2_4_128(
    units: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64], key: Key
) -> tuple[Hashes, Hashes]:
    """Hash slices of one buffer.

    Args:
        units: UTF-16 code units, hashed as little-endian bytes.
        starts: first unit of each string; shape (strings,).
        ends: unit after its last; shape (strings,).
        key: 128 secret bits, as two numbers of 64 bits.

    Returns:
        Both halves of each hash, uint64, shape (strings,).
    """
    return hash_slices(units, starts, ends, partial(_hash_chunk, key))


def _hash_chunk(key: Key, quads: Hashes, at: NDArray[np.int64], lengths: NDArray[np.int64]) -> tuple[Hashes, Hashes]:
    state = _State(len(at), key)
    for n in with_block(lengths // _WORD):
        state.mix(quads.take(at[:n], mode="clip"), n)
        at[:n] += _WORD
    words = quads.take(at, mode="clip")
    words &= _TAIL[lengths % _WORD]
    words |= (2 * lengths).astype(np.uint64) << np.uint64(56)  # the length in bytes, modulo 256
    state.mix(words, len(at))
    return state.finish()


class _State:
    """The four state words of many strings, with work space: each step is one in-place pass over a prefix."""

    def __init__(self, count: int, key: Key) -> None:
        seeds = [start ^ key[place % 2] for place, start in enumerate(_START)]
        seeds[1] ^= _WIDE
        self.v = [np.full(count, seed, np.uint64) for seed in seeds]
        self.spare = np.empty(count, np.uint64)

    def mix(self, words: Hashes, n: int) -> None:
        """Mix 8 bytes into each of the first n strings."""
        v0, v1, v2, v3 = (each[:n] for each in self.v)
        v3 ^= words
        for _ in range(2):
            _round(v0, v1, v2, v3, self.spare[:n])
        v0 ^= words

    def finish(self) -> tuple[Hashes, Hashes]:
        """Return both halves of the hashes."""
        v0, v1, v2, v3 = self.v
        halves = []
        for which, sign in ((v2, _WIDE), (v1, _SECOND)):
            which ^= np.uint64(sign)  # noqa: PLW2901 - in place
            for _ in range(4):
                _round(v0, v1, v2, v3, self.spare)
            halves.append(v0 ^ v1 ^ v2 ^ v3)
        return halves[0], halves[1]


def _round(v0: Hashes, v1: Hashes, v2: Hashes, v3: Hashes, spare: Hashes) -> None:
    v0 += v1
    rotate(v1, spare, 13)
    v1 ^= v0
    rotate(v0, spare, 32)
    v2 += v3
    rotate(v3, spare, 16)
    v3 ^= v2
    v0 += v3
    rotate(v3, spare, 21)
    v3 ^= v0
    v2 += v1
    rotate(v1, spare, 17)
    v1 ^= v2
    rotate(v2, spare, 32)
