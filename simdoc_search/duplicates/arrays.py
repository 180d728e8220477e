"""Helper functions for arrays of document indices, pairs of documents and hashed keys."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import positions_in_runs

Ints = NDArray[np.int64]
AnyInts = NDArray[np.integer[Any]]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Keys = NDArray[np.uint64]

_MULTIPLIERS = (np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBF58476D1CE4E5B9))
_SHIFT = np.uint64(29)
_HALF_BITS = np.uint64(32)
_LOW_HALF = np.uint64(0xFFFFFFFF)


def pair_keys(first: Ints, second: Ints) -> Keys:
    """Encode each pair of document indices below 2**32 as one number. The numbers sort by `first`, then by `second`."""
    return first.astype(np.uint64) << _HALF_BITS | second.astype(np.uint64)


def split_pair_keys(keys: Keys) -> tuple[Ints, Ints]:
    """Decode the result of `pair_keys`."""
    return (keys >> _HALF_BITS).astype(np.int64), (keys & _LOW_HALF).astype(np.int64)


def is_in_sorted(values: Keys, sorted_values: Keys) -> Bools:
    """For each value, return whether it is in an ascending array."""
    if not len(sorted_values):
        return np.zeros(len(values), bool)
    position = np.searchsorted(sorted_values, values)
    position[position == len(sorted_values)] = 0
    return np.asarray(sorted_values[position] == values)


def insert_at(places: Ints, values: NDArray[Any], others: NDArray[Any]) -> NDArray[Any]:
    """Return an array with `values` at these ascending places, and with `others` at all other places, in order."""
    is_other = np.ones(len(values) + len(others), bool)
    is_other[places] = False
    inserted = np.empty(len(is_other), values.dtype)
    inserted[places], inserted[is_other] = values, others
    return inserted


def is_run_start(*sorted_columns: NDArray[np.generic]) -> Bools:
    """Return which rows of a sorted table, given by its columns, differ from the row before. The first row does."""
    is_start = np.zeros(len(sorted_columns[0]), bool)
    is_start[:1] = True
    for column in sorted_columns:
        is_start[1:] |= column[1:] != column[:-1]
    return is_start


def run_starts(sorted_values: NDArray[np.generic]) -> Ints:
    """Return the start of each run of equal values in a sorted array."""
    return np.flatnonzero(is_run_start(sorted_values))


def pairs_in_runs(begins: Ints, lengths: Ints) -> Iterator[tuple[Ints, Ints]]:
    """Yield all pairs of positions in the same run, as two arrays: the earlier positions and the later ones.

    Runs with a length below 2 are omitted.
    """
    has_pairs = lengths > 1
    begins, lengths = begins[has_pairs], lengths[has_pairs]
    ends = np.repeat(begins + lengths, lengths)
    open_positions = positions_in_runs(begins, lengths)
    for distance in range(1, int(lengths.max(initial=0))):
        is_open = open_positions + distance < ends
        open_positions, ends = open_positions[is_open], ends[is_open]
        yield open_positions, open_positions + distance


def mix_bits(values: Keys) -> Keys:
    """Hash numbers so that all bits of the results look random."""
    values = values * _MULTIPLIERS[0]
    values ^= values >> _SHIFT
    values *= _MULTIPLIERS[1]
    values ^= values >> _SHIFT
    return values


def to_smallest_dtype(values: AnyInts) -> AnyInts:
    """Return non-negative numbers in the smallest unsigned type that holds them. Convert them back to calculate."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))), copy=False)


def slices(count: int, size: int) -> Iterator[slice]:
    """Yield slices that cut `count` items into parts of `size` items. The last part may be shorter."""
    return (slice(start, start + size) for start in range(0, count, size))


def release_memory(mapped: NDArray[np.generic]) -> None:
    """Free the memory of a mapped file. The system reads the file again when its values are needed."""
    buffer = getattr(mapped, "_mmap", None)
    if buffer is not None and hasattr(buffer, "madvise"):
        buffer.madvise(mmap.MADV_DONTNEED)
