"""Works with ragged arrays: one array contains the values of all documents, and each document has a run of values."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def expand_runs(begins: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return all positions in the runs, one run after the other.

    Args:
        begins: first position of each run; int64, shape (runs,).
        counts: number of positions in each run; int64, shape (runs,).

    Returns:
        The index of the run that contains each position, and the positions; both int64, shape (sum of the counts,).
    """
    return np.repeat(np.arange(len(counts)), counts), positions_in_runs(begins, counts)


def positions_in_runs(begins: Ints | int, counts: Ints) -> Ints:
    """Return only the positions that `expand_runs` returns. If `begins` is 0, they are the ranks in each run."""
    positions: Ints = np.repeat(begins - (np.cumsum(counts) - counts), counts)
    positions += np.arange(len(positions))
    return positions


def slices_by_cost(costs: Ints, slice_cost: int) -> Iterator[slice]:
    """Yield slices of items whose total cost is about `slice_cost`.

    Args:
        costs: cost of each item; int64, shape (items,).
        slice_cost: target cost of a slice, 1 or more. A slice exceeds it by less than the cost of its last item.
    """
    sums = np.cumsum(costs)
    cuts = np.searchsorted(sums, np.arange(slice_cost, int(sums[-1]) if len(sums) else 0, slice_cost))
    edges = sorted({0, *(cuts + 1).tolist(), len(costs)})
    return (slice(begin, end) for begin, end in pairwise(edges))
