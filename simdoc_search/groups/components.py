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


def find_connected_components(document_count: int, first_ends: Ints, second_ends: Ints) -> Ints:
    """Label each document with the smallest document index in its connected component.

    In each round, each edge compares the labels of its two documents. Both documents get the smaller label. So do the
    two documents whose indices were the labels. So a label crosses a long chain in few rounds.

    Args:
        document_count: number of documents.
        first_ends: one document of each edge; int64, shape (edges,).
        second_ends: the other document of each edge.

    Returns:
        The labels; int64, shape (document_count,).
    """
    labels = np.arange(document_count)
    while True:
        smaller = np.minimum(labels[first_ends], labels[second_ends])
        new_labels = labels.copy()
        for ends in (first_ends, second_ends):
            np.minimum.at(new_labels, labels[ends], smaller)
            np.minimum.at(new_labels, ends, smaller)
        while not np.array_equal(shortened := new_labels[new_labels], new_labels):
            new_labels = shortened
        if np.array_equal(new_labels, labels):
            return labels
        labels = new_labels


def group_by_label(labels: Ints) -> list[Ints]:
    """Return each group of two or more documents with the same label.

    The largest group comes first. Groups of the same size are ordered by their first document.
    """
    order = np.argsort(labels, kind="stable")
    groups = np.split(order, run_starts(labels[order])[1:])
    return sorted((group for group in groups if len(group) > 1), key=lambda group: (-len(group), int(group[0])))
