"""Finds runs of equal words in two texts. Each run is as long as possible.

Runs are stored in an int64 array of shape (runs, 3), in ascending order. Each row contains the index of the first word
in the first text, its index in the second text, and the number of words.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.ragged_arrays import expand_runs
from simdoc_search.passages.windows import Ints, Windows

_MAX_TRIED_POSITIONS = 4
"""The maximum number of occurrences of a window that are tried to find the longest run."""

NO_RUNS: Ints = np.zeros((0, 3), np.int64)


def find_common_runs(windows: Windows, length: int, max_pairs: int) -> Ints:
    """Return the runs around equal windows of `length` words.

    A window that occurs m times in one text and n times in the other is omitted if m * n is more than `max_pairs`.
    """
    a, b = windows.classes(length)
    if not len(a) or not len(b):
        return NO_RUNS
    size = int(max(a.max(), b.max())) + 1
    counts_a, counts_b = np.bincount(a, minlength=size), np.bincount(b, minlength=size)
    is_rare = (counts_a > 0) & (counts_b > 0) & (counts_a * counts_b <= max_pairs)
    i = np.flatnonzero(is_rare[a])
    order = np.argsort(b, kind="stable")
    first = np.cumsum(counts_b) - counts_b  # for each window class, the index in `order` of its first window
    window, position = expand_runs(first[a[i]], counts_b[a[i]])
    return _extend_to_runs(windows, i[window], order[position])


def add_covering_runs(windows: Windows, length: int, known_runs: Ints) -> Ints:
    """Add runs until each window of `length` words that occurs in both texts is inside a run.

    If a window occurs 1,000 times in each text, at most 2,000 runs are added, not a million.
    """
    a, b = windows.classes(length)
    starts = _find_uncovered_starts(windows.count_equal_after, a, b, length, known_runs)
    known_runs = unique_runs(np.concatenate((known_runs, _extend_to_runs(windows, *starts))))
    j, i = _find_uncovered_starts(lambda j, i: windows.count_equal_after(i, j), b, a, length, known_runs[:, [1, 0, 2]])
    return unique_runs(np.concatenate((known_runs, _extend_to_runs(windows, i, j))))


def _extend_to_runs(windows: Windows, i: Ints, j: Ints) -> Ints:
    """Return the runs that contain word i of the first text and word j of the second, for each pair in `i` and `j`."""
    diagonal = j - i
    order = np.lexsort((i, diagonal))
    i, j, diagonal = i[order], j[order], diagonal[order]
    begins = np.flatnonzero((np.diff(diagonal, prepend=np.iinfo(np.int64).min) != 0) | (np.diff(i, prepend=-2) != 1))
    i, j = i[begins], j[begins]
    before = windows.count_equal_before(i, j)
    return unique_runs(np.stack((i - before, j - before, before + windows.count_equal_after(i, j)), axis=1))


def unique_runs(runs: Ints) -> Ints:
    """Return each run once, in ascending order."""
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    is_repeated = (np.diff(runs[:, 0], prepend=-1) == 0) & (np.diff(runs[:, 1], prepend=-1) == 0)
    unique: Ints = runs[~is_repeated]
    return unique


def _find_uncovered_starts(
    count_equal_after: Callable[[Ints, Ints], Ints], a: Ints, b: Ints, length: int, known_runs: Ints
) -> tuple[Ints, Ints]:
    """Return where to add runs, in both texts, so that all shared windows of one text are inside a run.

    `a` and `b` are the classes of the windows of this text and of the other text. `known_runs` and `count_equal_after`
    must have this text as their first text; see `Windows.count_equal_after`.
    """
    positions: dict[int, list[int]] = {}
    uncovered = np.flatnonzero(~_is_covered(known_runs, len(a), length) & np.isin(a, b))
    for j in np.flatnonzero(np.isin(b, a[uncovered])).tolist():
        positions.setdefault(int(b[j]), []).append(j)
    starts: list[tuple[int, int]] = []
    end = other_end = next_index = 0
    order = uncovered.tolist()
    while next_index < len(order):
        i = order[next_index]
        candidates = positions[int(a[i])]
        next_position = bisect_left(candidates, other_end + min(i - end, 0))
        tried = np.array(
            candidates[next_position : next_position + _MAX_TRIED_POSITIONS] or candidates[:_MAX_TRIED_POSITIONS],
            np.int64,
        )
        sizes = count_equal_after(np.full(len(tried), i), tried)
        best = int(sizes.argmax())
        end, other_end = i + int(sizes[best]), int(tried[best] + sizes[best])
        starts.append((i, int(tried[best])))
        # Continue with the last window that leaves no gap after this run.
        next_index = max(next_index + 1, bisect_right(order, end) - 1)
    first, second = np.array(starts, np.int64).reshape(-1, 2).T
    return first, second


def _is_covered(runs: Ints, count: int, length: int) -> NDArray[np.bool_]:
    """Return whether each window of the first text is inside a run; bool, shape (count,)."""
    change = np.zeros(count + 1, np.int64)
    long = runs[runs[:, 2] >= length]
    np.add.at(change, long[:, 0], 1)
    np.add.at(change, long[:, 0] + long[:, 2] - length + 1, -1)
    covered: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return covered
