"""Hashes many short strings at once, with MurmurHash3 x64 128 and SipHash-2-4.

A string is a slice of a buffer of UTF-16 units. MurmurHash3 (Austin Appleby, seed 0) hashes UTF-16LE bytes, as in
Lucene's MinHashFilter. It is not secure: some strings are known to collide with every seed.

SipHash-2-4 with a 128-bit result is used with a secret key. It is a pseudo-random function. Without the key, nobody can
predict a hash, or find collisions faster than by trial and error. Source: Aumasson, Bernstein 2012, "SipHash: a fast
short-input PRF". The variant with 128 bits comes from its reference implementation.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.native import kernel

Hashes = NDArray[np.uint64]
Ints = NDArray[np.int64]
Units = NDArray[np.uint16]

_STRINGS_PER_CHUNK = 1 << 14
"""Number of strings that are hashed together. The state of more strings would not fit into the processor's cache."""
_PADDING_UNITS = 8  # number of units that may be read beyond the end of a string
_33 = np.uint64(33)
_MIX_FACTOR_1 = np.uint64(0xFF51AFD7ED558CCD)
_MIX_FACTOR_2 = np.uint64(0xC4CEB9FE1A85EC53)


def murmur3_x64_128(units: Units, starts: Ints, ends: Ints) -> tuple[Hashes, Hashes]:
    """Hash slices of one buffer.

    Args:
        units: UTF-16 code units, hashed as little-endian bytes.
        starts: position of the first unit of each string; shape (strings,).
        ends: position after the last unit of each string; shape (strings,).

    Returns:
        h1 and h2 of each string; uint64, shape (strings,).
    """
    native = kernel()
    if native is None:
        return _hash_slices(units, starts, ends, _hash_chunk_with_murmur3)
    h1, h2 = native.hashes(units.tobytes(), starts.tobytes(), ends.tobytes())
    return np.frombuffer(h1, np.uint64), np.frombuffer(h2, np.uint64)


def siphash_2_4_128(units: Units, starts: Ints, ends: Ints, key: tuple[int, int]) -> tuple[Hashes, Hashes]:
    """Hash slices of one buffer with a key of 128 bits. The other arguments are those of `murmur3_x64_128`."""
    return _hash_slices(units, starts, ends, partial(_hash_chunk_with_siphash, key))


def mix_bits(values: Hashes) -> Hashes:
    """Apply the function fmix64 of MurmurHash3, which mixes the bits of each value. It maps 0 to 0."""
    values = values.copy()
    _mix(values, np.empty_like(values))
    return values


def _hash_slices(
    units: Units, starts: Ints, ends: Ints, hash_chunk: Callable[[Hashes, Ints, Ints], tuple[Hashes, Hashes]]
) -> tuple[Hashes, Hashes]:
    """Hash slices in chunks.

    `hash_chunk` hashes strings that are sorted by descending length. Its arguments are the 8 bytes that begin at each
    unit, the position of the first unit of each string, and the number of its units. It may modify the array of
    positions.
    """
    padded = np.concatenate((units, np.zeros(_PADDING_UNITS, np.uint16))).astype("<u2", copy=False)
    h1, h2 = np.empty(len(starts), np.uint64), np.empty(len(starts), np.uint64)
    for first in range(0, len(starts), _STRINGS_PER_CHUNK):
        chunk = slice(first, first + _STRINGS_PER_CHUNK)
        begins, lengths = starts[chunk], ends[chunk] - starts[chunk]
        order = np.argsort(-lengths if lengths.max() > 30_000 else (-lengths).astype(np.int16), kind="stable")
        low, high = int(begins.min()), int(ends[chunk].max()) + _PADDING_UNITS
        # This is a copy, because gathering from unaligned memory is slow.
        words_by_unit = np.ndarray((high - low - 3,), "<u8", padded[low:high].tobytes(), strides=(2,)).copy()
        h1[chunk][order], h2[chunk][order] = hash_chunk(words_by_unit, begins[order] - low, lengths[order])
    return h1, h2


def _count_strings_by_block(blocks: Ints) -> list[int]:
    """Return the number of strings with at least one block, with at least two blocks, and so on.

    `blocks` contains the number of blocks of each string, in descending order.
    """
    counts: list[int] = np.searchsorted(-blocks, -np.arange(int(blocks[0])), side="left").tolist()
    return counts


def _rotate(values: Hashes, scratch: Hashes, bits: int) -> None:
    """Rotate the bits of each value to the left, in place. `scratch` is a work array."""
    np.left_shift(values, np.uint64(bits), out=scratch)
    values >>= np.uint64(64 - bits)
    values |= scratch


def _mix(values: Hashes, scratch: Hashes) -> None:
    for factor in (_MIX_FACTOR_1, _MIX_FACTOR_2):
        np.right_shift(values, _33, out=scratch)
        values ^= scratch
        values *= factor
    np.right_shift(values, _33, out=scratch)
    values ^= scratch


# --- MurmurHash3 ---

_C1 = np.uint64(0x87C37B91114253D5)
_C2 = np.uint64(0x4CF5AD432745937F)
_FIVE = np.uint64(5)
_N1 = np.uint64(0x52DCE729)
_N2 = np.uint64(0x38495AB5)
_BLOCK_UNITS = 8  # UTF-16 units in a block of 16 bytes
# After the last whole block, up to 7 units are left. These are the masks for the first 8 bytes and for the rest.
# The index is the number of units that are left.
_TAIL_MASKS_1 = np.array([(1 << 16 * min(n, 4)) - 1 for n in range(_BLOCK_UNITS)], np.uint64)
_TAIL_MASKS_2 = np.array([(1 << 16 * max(n - 4, 0)) - 1 for n in range(_BLOCK_UNITS)], np.uint64)


def _hash_chunk_with_murmur3(words_by_unit: Hashes, positions: Ints, lengths: Ints) -> tuple[Hashes, Hashes]:
    """Hash strings block by block. Each step updates the state of all strings that have this block."""
    state = np.empty((4, len(positions)), np.uint64)
    state[:2] = 0
    for n in _count_strings_by_block(lengths // _BLOCK_UNITS):
        h1, h2, k, scratch = state[:, :n]
        words_by_unit.take(positions[:n], out=k, mode="clip")
        _scramble(k, scratch, _C1, 31, _C2)
        h1 ^= k
        _rotate(h1, scratch, 27)
        h1 += h2
        h1 *= _FIVE
        h1 += _N1
        words_by_unit[4:].take(positions[:n], out=k, mode="clip")
        _scramble(k, scratch, _C2, 33, _C1)
        h2 ^= k
        _rotate(h2, scratch, 31)
        h2 += h1
        h2 *= _FIVE
        h2 += _N2
        positions[:n] += _BLOCK_UNITS
    h1, h2, k, scratch = state
    left = lengths % _BLOCK_UNITS  # if this is 0, the masks below are 0, and the hash does not change
    words_by_unit.take(positions, out=k, mode="clip")
    k &= _TAIL_MASKS_1[left]
    _scramble(k, scratch, _C1, 31, _C2)
    h1 ^= k
    words_by_unit[4:].take(positions, out=k, mode="clip")
    k &= _TAIL_MASKS_2[left]
    _scramble(k, scratch, _C2, 33, _C1)
    h2 ^= k
    size = (2 * lengths).astype(np.uint64)  # in bytes
    h1 ^= size
    h2 ^= size
    h1 += h2
    h2 += h1
    _mix(h1, scratch)
    _mix(h2, scratch)
    h1 += h2
    h2 += h1
    return h1, h2


def _scramble(k: Hashes, scratch: Hashes, factor_1: np.uint64, rotation: int, factor_2: np.uint64) -> None:
    k *= factor_1
    _rotate(k, scratch, rotation)
    k *= factor_2


# --- SipHash ---

_WORD_UNITS = 4  # UTF-16 units in a word of 8 bytes
# Masks for the bytes after the last whole word. The index is the number of units that are left.
_TAIL_MASKS = np.array([(1 << 16 * n) - 1 for n in range(_WORD_UNITS)], np.uint64)
_INITIAL_STATE = (0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573)
_FIRST_HALF_XOR, _SECOND_HALF_XOR = np.uint64(0xEE), np.uint64(0xDD)  # constants of SipHash with a hash of 128 bits


def _hash_chunk_with_siphash(
    key: tuple[int, int], words_by_unit: Hashes, positions: Ints, lengths: Ints
) -> tuple[Hashes, Hashes]:
    state = np.empty((5, len(positions)), np.uint64)  # the four words of the state, and a work array
    for index, start in enumerate(_INITIAL_STATE):
        state[index] = start ^ key[index % 2]
    state[1] ^= _FIRST_HALF_XOR
    for n in _count_strings_by_block(lengths // _WORD_UNITS):
        _mix_word(state[:, :n], words_by_unit.take(positions[:n], mode="clip"))
        positions[:n] += _WORD_UNITS
    words = words_by_unit.take(positions, mode="clip")
    words &= _TAIL_MASKS[lengths % _WORD_UNITS]
    words |= (2 * lengths).astype(np.uint64) << np.uint64(56)  # the length in bytes, modulo 256
    _mix_word(state, words)
    halves: list[Hashes] = []
    for index, constant in ((2, _FIRST_HALF_XOR), (1, _SECOND_HALF_XOR)):
        state[index] ^= constant
        _run_rounds(state, 4)
        halves.append(np.bitwise_xor.reduce(state[:4]))
    return halves[0], halves[1]


def _mix_word(state: Hashes, words: Hashes) -> None:
    state[3] ^= words
    _run_rounds(state, 2)
    state[0] ^= words


def _run_rounds(state: Hashes, count: int) -> None:
    v0, v1, v2, v3, scratch = state
    for _ in range(count):
        v0 += v1
        _rotate(v1, scratch, 13)
        v1 ^= v0
        _rotate(v0, scratch, 32)
        v2 += v3
        _rotate(v3, scratch, 16)
        v3 ^= v2
        v0 += v3
        _rotate(v3, scratch, 21)
        v3 ^= v0
        v2 += v1
        _rotate(v1, scratch, 17)
        v1 ^= v2
        _rotate(v2, scratch, 32)
