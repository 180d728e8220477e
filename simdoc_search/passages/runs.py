"""The runs of words that two texts share: as long as they can be, equal word for word."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

from simdoc_search.passages.windows import Ints, Windows

_TRIED = 4
"""Of a window that both texts have often, how many places are tried, to find the one where most is equal."""


def common_runs(windows: Windows, length: int, most: int) -> Ints:
    """The runs around all windows of so many words that the texts have, but for those that they have too often.

    Args:
        windows: the two texts.
        length: words of a window.
        most: the largest product of how often the one text has a window and how often the other.

    Returns:
        First word in the first text, first word in the second, and number of words of each run; int64, shape (runs, 3),
        ascending.
    """
    a, b = windows.classes(length)
    if not len(a) or not len(b):
        return np.zeros((0, 3), np.int64)
    size = int(max(a.max(), b.max())) + 1
    times_a, times_b = np.bincount(a, minlength=size), np.bincount(b, minlength=size)
    wanted = (times_a > 0) & (times_b > 0) & (times_a * times_b <= most)
    i = np.flatnonzero(wanted[a])
    order = np.argsort(b, kind="stable")
    first = np.cumsum(times_b) - times_b  # where each class begins in that order
    times = times_b[a[i]]
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    return _whole(windows, np.repeat(i, times), order[np.repeat(first[a[i]], times) + within])


def covering_runs(windows: Windows, length: int, known: Ints) -> Ints:
    """Runs in which lies every word of all windows of so many words that both texts have, in either text.

    A window that each text has a thousand times needs a thousand runs, not a million: each place of it has one.

    Args:
        windows: the two texts.
        length: words of a window.
        known: runs that there are already.

    Returns:
        These and further runs, as `common_runs` has them.
    """
    a, b = windows.classes(length)
    further = _walk(windows, a, b, length, known)
    known = distinct(np.concatenate((known, further)))
    back = _walk(_Swapped(windows), b, a, length, known[:, [1, 0, 2]])
    return distinct(np.concatenate((known, back[:, [1, 0, 2]])))


class _Swapped:
    """The same windows, the second text first."""

    def __init__(self, windows: Windows) -> None:
        self._windows = windows

    def after(self, i: Ints, j: Ints) -> Ints:
        return self._windows.after(j, i)

    def before(self, i: Ints, j: Ints) -> Ints:
        return self._windows.before(j, i)


def _whole(windows: Windows | _Swapped, i: Ints, j: Ints) -> Ints:
    """The runs in which the words i of the first text and j of the second lie, each once."""
    diagonal = j - i
    order = np.lexsort((i, diagonal))
    i, j, diagonal = i[order], j[order], diagonal[order]
    begins = np.flatnonzero((np.diff(diagonal, prepend=np.iinfo(np.int64).min) != 0) | (np.diff(i, prepend=-2) != 1))
    i, j = i[begins], j[begins]
    before = windows.before(i, j)
    return distinct(np.stack((i - before, j - before, before + windows.after(i, j)), axis=1))


def distinct(runs: Ints) -> Ints:
    """Each run once, ascending."""
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    same = (np.diff(runs[:, 0], prepend=-1) == 0) & (np.diff(runs[:, 1], prepend=-1) == 0)
    kept: Ints = runs[~same]
    return kept


def _walk(windows: Windows | _Swapped, a: Ints, b: Ints, length: int, known: Ints) -> Ints:
    """Runs for the windows of the first text that lie in no known run, from its beginning to its end."""
    places: dict[int, list[int]] = {}
    open_places = np.flatnonzero(~_covered(known, len(a), length) & np.isin(a, b))
    if not len(open_places):
        return np.zeros((0, 3), np.int64)
    for j in np.flatnonzero(np.isin(b, a[open_places])).tolist():
        places.setdefault(int(b[j]), []).append(j)
    found: list[tuple[int, int]] = []
    end = other_end = at = 0
    order = open_places.tolist()
    while at < len(order):
        i = order[at]
        its = places[int(a[i])]
        chosen = bisect_left(its, other_end + min(i - end, 0))
        tried = np.array(its[chosen : chosen + _TRIED] or its[:_TRIED], np.int64)
        sizes = windows.after(np.full(len(tried), i), tried)
        best = int(sizes.argmax())
        end, other_end = i + int(sizes[best]), int(tried[best] + sizes[best])
        found.append((i, int(tried[best])))
        at = max(at + 1, bisect_right(order, end) - 1)  # the last window that leaves no word out
    starts = np.array(found, np.int64)
    return _whole(windows, starts[:, 0], starts[:, 1])


def _covered(runs: Ints, windows: int, length: int) -> NDArray[np.bool_]:
    """Which windows of the first text lie whole in a run."""
    change = np.zeros(windows + 1, np.int64)
    long = runs[runs[:, 2] >= length]
    np.add.at(change, long[:, 0], 1)
    np.add.at(change, long[:, 0] + long[:, 2] - length + 1, -1)
    covered: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return covered
