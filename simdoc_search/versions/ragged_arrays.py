"""Ragged arrays: the values of all documents in one array, with the first place and the count of each document."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


def expanded(begins: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """Return the places of some runs, one run after the other.

    Args:
        begins: first place of each run; int64, shape (runs,).
        counts: number of places of each run; int64, shape (runs,).

    Returns:
        For each place the number of its run, and the place; both int64, shape (sum of the counts,).
    """
    run = np.repeat(np.arange(len(counts)), counts)
    return run, np.arange(len(run)) + np.repeat(begins - (np.cumsum(counts) - counts), counts)


def at_once(costs: Ints, most: int) -> Iterator[slice]:
    """Yield slices of items that cost about `most` together, or of one item that costs more.

    Args:
        costs: cost of each item; int64, shape (items,).
        most: cost of the items of a slice without its last one, at least 1.
    """
    sums = np.cumsum(costs)
    cuts = np.searchsorted(sums, np.arange(most, int(sums[-1]) if len(sums) else 0, most))
    edges = sorted({0, *(cuts + 1).tolist(), len(costs)})
    return (slice(begin, end) for begin, end in pairwise(edges))
