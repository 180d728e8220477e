"""In which order may documents have been written, where nothing says when?

Of all paths through them the one on which least changes from each document to the next. It goes in the direction in
which less is removed, as a version mostly adds text, and in which more changes early than late, as a text that is new
changes most. And nobody writes down a day before it comes near: of two documents that name days, the one that names the
later day comes later.
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

HARDLY_CHANGED = 4
"""In how many bits two sentences may differ and count as unchanged, whatever makes versions. Of 60 families the whole
order is right in 42 then, of 2 bits too, in 41 of 0, 37 of 7 and 32 of 12 bits."""

EXACTLY = 11
"""Documents of which the best of all paths is found; of more it is a good one."""

_PAIRS_AT_ONCE, _VALUES_AT_ONCE = 1 << 14, 1 << 10
_ROUNDS = 20

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


def found_in_each_other(documents: Sequence[Simhashes]) -> Ints:
    """How many sentences of each document are hardly changed in each other; equal ones of a document count once.

    Args:
        documents: the simhashes of the sentences of each.

    Returns:
        int64, shape (documents, documents): of that of the row, in that of the column; of one in itself: all.
    """
    values, of_value = np.unique(np.concatenate([*documents, np.zeros(0, np.uint64)]), return_inverse=True)
    owner = np.repeat(np.arange(len(documents)), [len(each) for each in documents])
    pairs = distinct(of_value * len(documents) + owner)  # each value with each document that has it, by value
    has, of_document = np.divmod(pairs, max(1, len(documents)))
    first_having = np.searchsorted(has, np.arange(len(values) + 1))
    which, near = NearBits(values, BITS, HARDLY_CHANGED).near(values)
    begins = np.searchsorted(which, np.arange(len(values) + 1))
    counts = np.zeros((len(documents), len(documents)), np.int64)
    is_near = np.zeros((_VALUES_AT_ONCE, len(documents)), np.float32)
    for first in range(0, len(values), _VALUES_AT_ONCE):  # so that what is held at once stays small
        check_stopped()
        last = min(first + _VALUES_AT_ONCE, len(values))
        is_near[:] = 0
        for at in range(begins[first], begins[last], _PAIRS_AT_ONCE):
            some = slice(at, min(at + _PAIRS_AT_ONCE, int(begins[last])))
            rows, whose = _spread(which[some] - first, near[some], first_having, of_document)
            is_near[rows, whose] = 1
        here = slice(first_having[first], first_having[last])
        having = np.zeros((len(documents), _VALUES_AT_ONCE), np.float32)
        having[of_document[here], has[here] - first] = 1
        counts += (having @ is_near).astype(np.int64)
    return counts


def _spread(rows: Ints, near: Ints, first_having: Ints, of_document: Ints) -> tuple[Ints, Ints]:
    """Each row with each document that has the value near to it."""
    begin, counts = first_having[near], first_having[near + 1] - first_having[near]
    inside = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.repeat(rows, counts), of_document[np.repeat(begin, counts) + inside]


def proposed_order(
    found: Ints, named: Sequence[Date | None] | None = None, *, among: Sequence[int] | None = None
) -> list[int]:
    """The documents in the order of the best path through all; of more than `EXACTLY` documents, of a good one.

    Args:
        found: what `found_in_each_other` gives.
        named: the latest day that each names, if that is known. One that names none counts as of the day of the one
            from which it differs least.
        among: the numbers of those that are to be put in order; None: all.

    Returns:
        Their numbers, the oldest first.
    """
    if among is not None:
        at = np.array(among, np.int64)
        order = proposed_order(found[np.ix_(at, at)], [named[each] for each in among] if named else None)
        return [among[each] for each in order]
    removed = (np.diagonal(found)[:, np.newaxis] - found).astype(np.float64)
    changed = removed + removed.T
    days = _days(changed, named or [])
    against = (days[:, np.newaxis] > days) * (1 + changed.sum())

    def oddness(some: Sequence[int]) -> float:
        """What is removed, and how much of what changes does so late."""
        steps = np.array(some[:-1], np.int64), np.array(some[1:], np.int64)
        late = np.arange(len(some) - 1) / max(1, len(some) - 2)
        return float((against + removed)[steps].sum() + (changed[steps] * late).sum())

    if len(found) <= EXACTLY:
        return _directed([], _best_path(changed / 2 + against), oddness)
    path: list[int] = []
    for day in distinct(days):
        group = np.flatnonzero(days == day)
        path = _directed(path, group[_good_path(changed[np.ix_(group, group)])].tolist(), oddness)
    return path


def _days(changed: Costs, named: Sequence[Date | None]) -> Ints:
    """A number for the day of each, greater for a later one; of dates that are not as exact, what all have counts."""
    known = [number for number, date in enumerate(named) if date]
    if not known:
        return np.zeros(len(changed), np.int64)
    exact = min(len(date) for date in named if date)
    dates = [(date or ())[:exact] for date in named]
    ranks = {date: rank for rank, date in enumerate(sorted(set(dates)))}
    nearest = np.array(known)[changed[:, known].argmin(axis=1)]
    return np.array([ranks[dates[number] or dates[other]] for number, other in enumerate(nearest)], np.int64)


def _directed(before: list[int], path: list[int], oddness: Callable[[Sequence[int]], float]) -> list[int]:
    """A path after those before it, in its better direction; if both are as good, the one from the lesser number."""
    forth = path if path[:1] <= path[-1:] else path[::-1]
    return min([*before, *forth], [*before, *forth[::-1]], key=oddness)


def _best_path(cost: Costs) -> list[int]:
    """The cheapest path through all (Bellman 1962; Held, Karp 1962): of each set of documents, by the last of them."""
    count = len(cost)
    if not count:
        return []
    best = np.full((1 << count, count), np.inf)
    before = np.full((1 << count, count), -1)
    best[1 << np.arange(count), np.arange(count)] = 0
    for visited in range(1, 1 << count):
        reached = best[visited][:, np.newaxis] + cost
        cheapest, come_from = reached.min(axis=0), reached.argmin(axis=0)
        for each in range(count):
            larger = visited | 1 << each
            if larger != visited and cheapest[each] < best[larger, each]:
                best[larger, each], before[larger, each] = cheapest[each], come_from[each]
    visited, last = (1 << count) - 1, int(best[-1].argmin())
    path = [last]
    while before[visited, last] >= 0:
        visited, last = visited ^ 1 << last, int(before[visited, last])
        path.append(last)
    return path[::-1]


def _good_path(changed: Costs) -> list[int]:
    """A cheap path: what changes least is joined first, as long as it makes paths; then single ones are moved."""
    count = len(changed)
    ends = [[each] for each in range(count)]  # of each that is the end of a path, that path
    one, other = np.triu_indices(count, 1)
    left = count - 1
    for at in np.argsort(changed[one, other], kind="stable").tolist():
        if not left:
            break
        a, b = ends[one[at]], ends[other[at]]
        if a is b or not a or not b:
            continue
        joined = (a if a[-1] == one[at] else a[::-1]) + (b if b[0] == other[at] else b[::-1])
        ends[one[at]] = ends[other[at]] = []
        ends[joined[0]] = ends[joined[-1]] = joined
        left -= 1
    path = next(each for each in ends if each) if count else []
    return _improved(changed, path)


def _improved(changed: Costs, path: list[int]) -> list[int]:
    """Each is put where it costs least, until nothing gets better."""
    for _ in range(_ROUNDS):
        before = _length(changed, path)
        check_stopped()
        for each in list(path):
            path.remove(each)
            path.insert(_place(changed, path, each), each)
        if _length(changed, path) >= before:
            break
    return path


def _place(changed: Costs, path: Sequence[int], each: int) -> int:
    """Before which of a path one more costs least."""
    at = np.array(path, np.int64)
    added = np.zeros(len(path) + 1)
    added[:-1] += changed[each, at]
    added[1:] += changed[at, each]
    added[1:-1] -= changed[at[:-1], at[1:]]
    return int(added.argmin())


def _length(changed: Costs, path: Sequence[int]) -> float:
    at = np.array(path, np.int64)
    return float(changed[at[:-1], at[1:]].sum())
