"""In which order may documents have been written, where nothing says when?

A version mostly adds text. So of a path through all of them the one is proposed on whose steps least is removed: what
one document says and the next does not. It brings those together that differ least, and of its two directions has the
one that ends with more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.near_bits import NearBits
from simdoc_search.sketch.sentences import MOST_BITS
from simdoc_search.sketch.simhash import BITS, Simhashes

__all__ = ["found_in_each_other", "proposed_order"]

EXACTLY = 11
"""Documents of which the best of all paths is found; more are put where they fit best, one after the other."""

_PAIRS_AT_ONCE = 1 << 14
_ROUNDS = 20

Ints = NDArray[np.int64]
Costs = NDArray[np.float64]


def found_in_each_other(documents: Sequence[Simhashes]) -> Ints:
    """How many sentences of each document have a near one in each other; equal ones of a document count once.

    Args:
        documents: the simhashes of the sentences of each.

    Returns:
        int64, shape (documents, documents): of that of the row, in that of the column; of one in itself: all.
    """
    values, of_value = np.unique(np.concatenate([*documents, np.zeros(0, np.uint64)]), return_inverse=True)
    has = np.zeros((len(values), len(documents)), bool)
    has[of_value, np.repeat(np.arange(len(documents)), [len(each) for each in documents])] = True
    which, near = NearBits(values, BITS, MOST_BITS).near(values)
    begins = np.searchsorted(which, np.arange(len(values) + 1))
    counts = np.zeros((len(documents), len(documents)))
    first = 0
    while first < len(values):  # those of some values, so that what is held at once stays small
        last = max(first + 1, int(np.searchsorted(begins, begins[first] + _PAIRS_AT_ONCE, side="right")) - 1)
        pairs = near[begins[first] : begins[last]]
        has_near = np.logical_or.reduceat(has[pairs], begins[first:last] - begins[first], axis=0)
        counts += has[first:last].T.astype(np.float32) @ has_near.astype(np.float32)
        first = last
    return counts.astype(np.int64)


def proposed_order(found: Ints) -> list[int]:
    """The documents in an order in which little is removed from one to the next; up to `EXACTLY` documents, least.

    Args:
        found: what `found_in_each_other` gives.

    Returns:
        Their numbers, the oldest first. Where two orders are as good, the one that begins as the numbers do.
    """
    removed = (np.diagonal(found)[:, np.newaxis] - found).astype(np.float64)
    return _best_path(removed) if len(removed) <= EXACTLY else _good_path(removed)


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


def _good_path(cost: Costs) -> list[int]:
    """Each where it costs least, those first from which most can be removed; again for each, until nothing changes."""
    path: list[int] = []
    for each in np.argsort(cost.max(axis=1), kind="stable").tolist():
        path.insert(_place(cost, path, each), each)
    for _ in range(_ROUNDS):
        before = _length(cost, path)
        path = min(path, path[::-1], key=lambda some: _length(cost, some))
        for each in range(len(cost)):
            path.remove(each)
            path.insert(_place(cost, path, each), each)
        if _length(cost, path) >= before:
            break
    return path


def _place(cost: Costs, path: Sequence[int], each: int) -> int:
    """Before which of a path one more costs least."""
    at = np.array(path, np.int64)
    added = np.zeros(len(path) + 1)
    added[:-1] += cost[each, at]
    added[1:] += cost[at, each]
    added[1:-1] -= cost[at[:-1], at[1:]]
    return int(added.argmin())


def _length(cost: Costs, path: Sequence[int]) -> float:
    at = np.array(path, np.int64)
    return float(cost[at[:-1], at[1:]].sum())
