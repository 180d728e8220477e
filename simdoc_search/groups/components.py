"""Pairs of documents, and the groups that they make."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import Place

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Keys = NDArray[np.uint64]

Progress = Callable[[str, float], None]
"""Called with what is done now, `reading`, `looking` or `comparing`, and which share of it is done, 0..1."""

_32 = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


class Edge(NamedTuple):
    """Two documents that belong together.

    Attributes:
        a: the one whose id is smaller.
        b: the other one.
        score: as that of a hit of `versions` or `related`.
        kind: what they are.
    """

    a: Place
    b: Place
    score: float
    kind: Literal["version", "related"]


class Pairs(NamedTuple):
    """Pairs of documents that belong together, by their numbers, the smaller one first, in order.

    Attributes:
        first: int64, shape (pairs,).
        second: the same.
        scores: float64, shape (pairs,).
        compared: how many pairs were compared.
    """

    first: Ints
    second: Ints
    scores: Floats
    compared: int


def pair_keys(first: Ints, second: Ints) -> Keys:
    """One number for each pair of documents, the same for both of its orders; uint64, shape (pairs,)."""
    return np.minimum(first, second).astype(np.uint64) << _32 | np.maximum(first, second).astype(np.uint64)


def documents_of(keys: Keys) -> tuple[Ints, Ints]:
    """The documents of the pairs, the smaller number first."""
    return (keys >> _32).astype(np.int64), (keys & _LOW).astype(np.int64)


def among(some: Keys, ordered: Keys) -> NDArray[np.bool_]:
    """Which of some numbers are among others, which are in order."""
    if not len(ordered):
        return np.zeros(len(some), bool)
    place = np.minimum(np.searchsorted(ordered, some), len(ordered) - 1)
    return np.asarray(ordered[place] == some)


def components(count: int, first: Ints, second: Ints) -> Ints:
    """The connected components of a graph: for each document the smallest number of those that it is connected with.

    Labels are handed over edges, and from each label to its own label, so that they cross a chain in few rounds.

    Args:
        count: how many documents there are.
        first: the documents at one end of the edges; int64, shape (edges,).
        second: those at the other.

    Returns:
        int64, shape (count,).
    """
    labels = np.arange(count)
    while True:
        least = np.minimum(labels[first], labels[second])
        handed = labels.copy()
        for ends in (first, second):
            np.minimum.at(handed, labels[ends], least)
            np.minimum.at(handed, ends, least)
        while (following := handed[handed]).tobytes() != handed.tobytes():
            handed = following
        if (handed == labels).all():
            return labels
        labels = handed


def members_of(labels: Ints) -> list[Ints]:
    """The groups of two documents or more that have the same label, the largest first, then by their first number."""
    order = np.argsort(labels, kind="stable")
    begins = np.flatnonzero(np.concatenate(([True], np.diff(labels[order]) != 0))[: len(order)])
    groups: Sequence[Ints] = np.split(order, begins[1:]) if len(order) else []
    return sorted((each for each in groups if len(each) > 1), key=lambda each: (-len(each), int(each[0])))
