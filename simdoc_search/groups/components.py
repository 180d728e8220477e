"""Finds the connected components of a graph of documents."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.arrays import Ints, run_starts


class Edge(NamedTuple):
    """Two documents that are versions of each other, or related.

    Attributes:
        a: key of the document with the smaller id.
        b: key of the other document.
        score: the score that `versions` or `related` gives to the pair.
        kind: `version` or `related`.
    """

    a: DocumentKey
    b: DocumentKey
    score: float
    kind: Literal["version", "related"]


def connected_components(count: int, first: Ints, second: Ints) -> Ints:
    """Label each document with the smallest document number in its connected component.

    In each round, the smaller label of an edge is passed to both documents, and to the documents whose numbers are
    their labels. So a label crosses a long chain in few rounds.

    Args:
        count: number of documents.
        first: one document of each edge; int64, shape (edges,).
        second: the other document of each edge.

    Returns:
        The labels; int64, shape (count,).
    """
    labels = np.arange(count)
    while True:
        smaller = np.minimum(labels[first], labels[second])
        new_labels = labels.copy()
        for ends in (first, second):
            np.minimum.at(new_labels, labels[ends], smaller)
            np.minimum.at(new_labels, ends, smaller)
        while not np.array_equal(shortened := new_labels[new_labels], new_labels):
            new_labels = shortened
        if np.array_equal(new_labels, labels):
            return labels
        labels = new_labels


def groups_of_labels(labels: Ints) -> list[Ints]:
    """Return the documents of each label that two or more documents have.

    The largest group comes first. Groups of the same size are ordered by their first document.
    """
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, run_starts(labels[order])[1:])
    return sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), int(group[0])))
