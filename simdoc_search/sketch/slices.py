"""Hashing many slices of one buffer at once: the common part of the hash functions of shingles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]

_CHUNK = 1 << 14  # strings hashed together, so that all their state stays in the processor's cache
_PADDING = 8  # units that may be read beyond the end of a string

HashChunk = Callable[[Hashes, NDArray[np.int64], NDArray[np.int64]], tuple[Hashes, Hashes]]


def hash_slices(
    units: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64], hash_chunk: HashChunk
) -> tuple[Hashes, Hashes]:
    """Return two hashes, uint64, shape (strings,), of slices of a buffer of UTF-16 units, as little-endian bytes.

    Args:
        units: the buffer; uint16.
        starts: first unit of each string; shape (strings,).
        ends: unit after its last; shape (strings,).
        hash_chunk: hashes some strings, longest first. It takes the 8 bytes that begin at each unit, the first unit of
            each string (an array it may change), and the number of units of each string.
    """
    padded = np.concatenate((units, np.zeros(_PADDING, np.uint16))).astype("<u2", copy=False)
    h1, h2 = np.empty(len(starts), np.uint64), np.empty(len(starts), np.uint64)
    for first in range(0, len(starts), _CHUNK):
        chunk = slice(first, first + _CHUNK)
        begins, lengths = starts[chunk], ends[chunk] - starts[chunk]
        order = np.argsort(-lengths if lengths.max() > 30_000 else (-lengths).astype(np.int16), kind="stable")
        low, high = int(begins.min()), int(ends[chunk].max()) + _PADDING
        # A copy, as gathering from unaligned memory is slow.
        quads = np.ndarray((high - low - 3,), "<u8", padded[low:high].tobytes(), strides=(2,)).copy()
        h1[chunk][order], h2[chunk][order] = hash_chunk(quads, begins[order] - low, lengths[order])
    return h1, h2


def with_block(blocks: NDArray[np.int64]) -> list[int]:
    """Return how many strings have a first block, a second, and so on: a prefix, as the longest come first."""
    found: list[int] = np.searchsorted(-blocks, -np.arange(int(blocks[0])), side="left").tolist()
    return found


def rotate(values: Hashes, spare: Hashes, bits: int) -> None:
    """Rotate left, in place."""
    np.left_shift(values, np.uint64(bits), out=spare)
    values >>= np.uint64(64 - bits)
    values |= spare
