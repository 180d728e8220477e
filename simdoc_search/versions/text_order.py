"""Guesses from the texts alone in which order documents were written. The order is a hint, not evidence.

The order is the path through all documents on which least changes from each to the next. Its direction is the one in
which less is removed, as a version mostly adds text, and in which more changes early, as a new text changes most. If
two documents name days, the one with the later day comes later. Of 60 families, the whole order is right for 42.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.dates import Date
from simdoc_search.sketch.near_bits import NearBits
from simdoc_search.sketch.simhash import BITS, Simhashes
from simdoc_search.versions.ragged_arrays import expand_runs

UNCHANGED_BITS = 4
"""Number of bits in which unchanged sentences may differ. Of 60 families, the whole order is right for 42 with 4 or 2
bits, 41 with 0, 37 with 7 and 32 with 12 bits."""

MAX_EXACT_DOCUMENTS = 11
"""Maximum number of documents for which the best of all paths is found. For more, a good path is found."""

_PAIRS_AT_ONCE, _VALUES_AT_ONCE = 1 << 14, 1 << 10
_ROUNDS = 20

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


def unchanged_counts(documents: Sequence[Simhashes]) -> Ints:
    """Count the sentences of each document that are unchanged in each other one. Repeated sentences count once.

    Args:
        documents: the simhashes of the sentences of each document.

    Returns:
        int64, shape (documents, documents): sentences of the row's document in that of the column.
    """
    values, value_of = np.unique(np.concatenate([*documents, np.zeros(0, np.uint64)]), return_inverse=True)
    owner = np.repeat(np.arange(len(documents)), [len(sentences) for sentences in documents])
    value, document = np.divmod(distinct(value_of * len(documents) + owner), max(1, len(documents)))
    first = np.searchsorted(value, np.arange(len(values) + 1))  # of the documents that have a value
    which, near = NearBits(values, BITS, UNCHANGED_BITS).near(values)
    begins = np.searchsorted(which, np.arange(len(values) + 1))
    counts = np.zeros((len(documents), len(documents)), np.int64)
    for start in range(0, len(values), _VALUES_AT_ONCE):  # in parts, to limit the memory
        check_stopped()
        stop = min(start + _VALUES_AT_ONCE, len(values))
        is_near, has = np.zeros((2, stop - start, len(documents)), np.float32)
        for begin in range(begins[start], begins[stop], _PAIRS_AT_ONCE):
            part = slice(begin, min(begin + _PAIRS_AT_ONCE, int(begins[stop])))
            pair, place = expand_runs(first[near[part]], np.diff(first)[near[part]])
            is_near[which[part][pair] - start, document[place]] = 1
        part = slice(first[start], first[stop])
        has[value[part] - start, document[part]] = 1
        counts += (has.T @ is_near).astype(np.int64)
    return counts


def proposed_order(
    unchanged: Ints, days: Sequence[Date | None] | None = None, *, among: Sequence[int] | None = None
) -> list[int]:
    """Return the numbers of the documents in the order of the best path, the oldest first.

    Args:
        unchanged: the counts of `unchanged_counts`.
        days: the latest day that each document names. A document without a day gets that of the document from which it
            differs least.
        among: the numbers of the documents to order; None for all.
    """
    if among is not None:
        numbers = np.array(among, np.int64)
        days_among = [days[number] for number in among] if days else None
        return [among[place] for place in proposed_order(unchanged[np.ix_(numbers, numbers)], days_among)]
    removed = (np.diagonal(unchanged)[:, np.newaxis] - unchanged).astype(np.float64)
    changed = removed + removed.T
    ranks = _day_ranks(changed, days or [])
    backwards = (ranks[:, np.newaxis] > ranks) * (1 + changed.sum())  # costs more than any change

    def oddness(path: Sequence[int]) -> float:
        """Return what a path removes, and how much of what it changes comes late."""
        steps = np.array(path[:-1], np.int64), np.array(path[1:], np.int64)
        late = np.arange(len(path) - 1) / max(1, len(path) - 2)
        return float((backwards + removed)[steps].sum() + (changed[steps] * late).sum())

    if len(unchanged) <= MAX_EXACT_DOCUMENTS:
        return _directed([], _best_path(changed / 2 + backwards), oddness)
    order: list[int] = []
    for rank in distinct(ranks):
        group = np.flatnonzero(ranks == rank)
        order = _directed(order, group[_good_path(changed[np.ix_(group, group)])].tolist(), oddness)
    return order


def _day_ranks(changed: Costs, days: Sequence[Date | None]) -> Ints:
    """Return a number per document that grows with its day. Dates are compared as far as all of them go."""
    known = [number for number, date in enumerate(days) if date]
    if not known:
        return np.zeros(len(changed), np.int64)
    parts = min(len(date) for date in days if date)
    dates = [(date or ())[:parts] for date in days]
    ranks = {date: rank for rank, date in enumerate(sorted(set(dates)))}
    nearest = np.array(known)[changed[:, known].argmin(axis=1)]
    return np.array([ranks[dates[number] or dates[other]] for number, other in enumerate(nearest)], np.int64)


def _directed(before: list[int], path: list[int], oddness: Callable[[Sequence[int]], float]) -> list[int]:
    """Append a path in its better direction; if both are equal, from the smaller number."""
    forth = path if path[:1] <= path[-1:] else path[::-1]
    return min([*before, *forth], [*before, *forth[::-1]], key=oddness)


def _best_path(cost: Costs) -> list[int]:
    """Return the cheapest path by dynamic programming over sets of documents (Bellman 1962; Held, Karp 1962)."""
    count = len(cost)
    if not count:
        return []
    best = np.full((1 << count, count), np.inf)
    before = np.full((1 << count, count), -1)
    best[1 << np.arange(count), np.arange(count)] = 0
    for visited in range(1, 1 << count):
        reached = best[visited][:, np.newaxis] + cost
        cheapest, previous = reached.min(axis=0), reached.argmin(axis=0)
        for number in range(count):
            larger = visited | 1 << number
            if larger != visited and cheapest[number] < best[larger, number]:
                best[larger, number], before[larger, number] = cheapest[number], previous[number]
    visited, last = (1 << count) - 1, int(best[-1].argmin())
    path = [last]
    while before[visited, last] >= 0:
        visited, last = visited ^ 1 << last, int(before[visited, last])
        path.append(last)
    return path[::-1]


def _good_path(changed: Costs) -> list[int]:
    """Return a cheap path: insert each document at its cheapest place, then move single ones until nothing improves."""
    path: list[int] = []
    for number in range(len(changed)):
        path.insert(_cheapest_place(changed, path, number), number)
    for _ in range(_ROUNDS):
        check_stopped()
        before = _length(changed, path)
        for number in list(path):
            path.remove(number)
            path.insert(_cheapest_place(changed, path, number), number)
        if _length(changed, path) >= before:
            break
    return path


def _cheapest_place(changed: Costs, path: Sequence[int], number: int) -> int:
    numbers = np.array(path, np.int64)
    added = np.zeros(len(path) + 1)
    added[:-1] += changed[number, numbers]
    added[1:] += changed[numbers, number]
    added[1:-1] -= changed[numbers[:-1], numbers[1:]]
    return int(added.argmin())


def _length(changed: Costs, path: Sequence[int]) -> float:
    numbers = np.array(path, np.int64)
    return float(changed[numbers[:-1], numbers[1:]].sum())
