"""Sets of documents with the same words. Each set is compared with others as one document."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

import numpy as np

from simdoc_search.duplicates.table import Ints


class SameWordsSets:
    """Sets of documents with the same words. The first document of a set, the preferred one, represents it.

    Args:
        labels: a number per document, equal for those of one set; int64, shape (documents,).

    Attributes:
        firsts: the first document of each set, ascending.
        first: the first document of each one's set; int64, shape (documents,).
        sizes: how many documents each one's set has; int64, shape (documents,).
    """

    def __init__(self, labels: Ints) -> None:
        order = np.argsort(labels, kind="stable")
        begins = np.flatnonzero(np.concatenate(([True], np.diff(labels[order]) != 0))[: len(order)])
        counts = np.diff(np.append(begins, len(order)))
        self._order = order
        self.sizes: Ints
        self.first: Ints
        self._begin, self.sizes, self.first = (np.empty(len(order), np.int64) for _ in range(3))
        self._begin[order], self.sizes[order] = np.repeat(begins, counts), np.repeat(counts, counts)
        self.first[order] = np.repeat(order[begins], counts)
        self.firsts: Ints = np.sort(order[begins])

    def of(self, document: int) -> list[int]:
        """The documents of a document's set, in order."""
        begin = int(self._begin[document])
        found: list[int] = self._order[begin : begin + int(self.sizes[document])].tolist()
        return found

    def pairs_within(self, limit: int, fresh_from: int = 0) -> Iterator[tuple[int, int]]:
        """The pairs of each set; of one larger than the limit its first with each other.

        Only those whose second document has the number `fresh_from`, or a greater one.
        """
        for first in self.firsts[self.sizes[self.firsts] > 1].tolist():
            some = self.of(first)
            for at, each in enumerate(some if len(some) <= limit else some[:1], 1):
                yield from ((each, other) for other in some[max(at, bisect_left(some, fresh_from)) :])

    def pairs_between(self, a: int, b: int, limit: int) -> Iterator[tuple[int, int]]:
        """The pairs of two sets; where one is larger than the limit, its documents only with the first of the other."""
        ours, theirs = self.of(a), self.of(b)
        whole = max(len(ours), len(theirs)) <= limit
        for at, each in enumerate(ours):
            for other in theirs if whole or not at else theirs[:1]:
                yield min(each, other), max(each, other)
