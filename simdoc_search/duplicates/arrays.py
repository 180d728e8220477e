"""Arrays of document numbers, pairs of documents and hashed keys."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFT = np.uint64(29)
_HALF = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


def pair_keys(first: Ints, second: Ints) -> Keys:
    """Encode each pair of document numbers below 2**32 as one number, so that pairs sort by first, then by second."""
    return first.astype(np.uint64) << _HALF | second.astype(np.uint64)


def documents_of_pairs(keys: Keys) -> tuple[Ints, Ints]:
    """Decode the result of `pair_keys`."""
    return (keys >> _HALF).astype(np.int64), (keys & _LOW_HALF).astype(np.int64)


def is_among(values: Keys, ordered: Keys) -> Bools:
    """Say which values are in an ascending array."""
    if not len(ordered):
        return np.zeros(len(values), bool)
    place = np.searchsorted(ordered, values)
    place[place == len(ordered)] = 0
    return np.asarray(ordered[place] == values)


def run_starts(ordered: NDArray[np.generic]) -> Ints:
    """Return where each run of equal values begins in a sorted array."""
    is_start = np.ones(len(ordered), bool)
    np.not_equal(ordered[1:], ordered[:-1], out=is_start[1:])
    return np.flatnonzero(is_start)


def mixed(values: Keys) -> Keys:
    """Hash numbers so that all bits of the results look random. Equal numbers get equal results."""
    values = values * _MULTIPLIERS[0]
    values ^= values >> _SHIFT
    values *= _MULTIPLIERS[1]
    values ^= values >> _SHIFT
    return values


def slices(count: int, size: int) -> Iterator[slice]:
    """Cut `count` items into slices of a size."""
    return (slice(start, start + size) for start in range(0, count, size))
