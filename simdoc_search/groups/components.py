"""Connected components of a graph of documents."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from simdoc_search.documents import Place
from simdoc_search.duplicates.arrays import Ints, run_starts


class Edge(NamedTuple):
    """Two documents that belong together.

    Attributes:
        a: place of the document with the smaller id.
        b: place of the other document.
        score: the score that `versions` or `related` gives to the pair.
        kind: what they are.
    """

    a: Place
    b: Place
    score: float
    kind: Literal["version", "related"]


def components(count: int, first: Ints, second: Ints) -> Ints:
    """Label each document with the smallest number in its connected component; int64, shape (count,).

    Labels are passed along the edges, and from each label to its own label, so that they cross a chain in few rounds.

    Args:
        count: number of documents.
        first: one document of each edge; int64, shape (edges,).
        second: the other document.
    """
    labels = np.arange(count)
    while True:
        least = np.minimum(labels[first], labels[second])
        passed = labels.copy()
        for ends in (first, second):
            np.minimum.at(passed, labels[ends], least)
            np.minimum.at(passed, ends, least)
        while not np.array_equal(shortened := passed[passed], passed):
            passed = shortened
        if np.array_equal(passed, labels):
            return labels
        labels = passed


def members_of(labels: Ints) -> list[Ints]:
    """Return the members of each label with two or more, the largest group first, then by its first number."""
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, run_starts(labels[order])[1:])
    return sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), int(group[0])))
