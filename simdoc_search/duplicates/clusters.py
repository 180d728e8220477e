"""Groups of documents: sets with equal words, and stars around a kept document.

In a star, each duplicate overlaps the kept document itself; there are no chains. Documents are taken in keep order. A
document that is in no group takes all later documents that are in no group and overlap it enough. So if A overlaps B
and B overlaps C, then C joins the group of A only if C overlaps A.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np

from simdoc_search.duplicates.arrays import Bools, Ints, run_starts

UNASSIGNED = -1
"""In place of a kept document: the document is kept itself, or is in no group."""

_PAIRS_AT_ONCE = 1 << 11


def assign_duplicates(
    count: int,
    first: Ints,
    second: Ints,
    overlaps: Callable[[Ints], Bools],
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Ints, Ints]:
    """Assign each duplicate of `count` documents to the kept document of its group.

    Pairs are in order, by the preferred first document, then by the second one. `overlaps` says which of the pairs at
    some positions overlap enough; it is only called for pairs that matter.

    Returns:
        The kept document of each document, or UNASSIGNED; and the positions of the pairs that assigned a document.
    """
    kept_for = np.full(count, UNASSIGNED, np.int64)
    assigning = [np.zeros(0, np.int64)]
    for start in range(0, len(first), _PAIRS_AT_ONCE):
        pairs = np.arange(start, min(start + _PAIRS_AT_ONCE, len(first)))
        while True:
            pairs = pairs[(kept_for[first[pairs]] == UNASSIGNED) & (kept_for[second[pairs]] == UNASSIGNED)]
            if not len(pairs):
                break
            is_ready = _is_ready(first[pairs], second[pairs], count)
            overlapping = pairs[is_ready][overlaps(pairs[is_ready])]
            duplicates, at = np.unique(second[overlapping], return_index=True)  # of each the most preferred first one
            kept_for[duplicates] = first[overlapping[at]]
            assigning.append(overlapping[at])
            pairs = pairs[~is_ready]
        progress(min(1.0, (start + _PAIRS_AT_ONCE) / len(first)))
    return kept_for, np.concatenate(assigning)


def _is_ready(first: Ints, second: Ints, count: int) -> Bools:
    """Say which open pairs can be decided, because no earlier pair can still assign one of their documents."""
    must_wait = np.isin(first, second)
    first_waiting = np.full(count, len(first), np.int64)  # position of the first waiting pair of each second document
    np.minimum.at(first_waiting, second[must_wait], np.flatnonzero(must_wait))
    return ~must_wait & (np.arange(len(first)) < first_waiting[second])


class EqualWords:
    """Sets of documents with equal labels, that is, equal words. Each set is compared as its representative.

    Attributes:
        representatives: the preferred document of each set, ascending.
        representative_of: the representative of each document; int64, shape (documents,).
        sizes: the size of each document's set; int64, shape (documents,).
    """

    def __init__(self, labels: Ints) -> None:
        _, first, set_of, sizes = np.unique(labels, return_index=True, return_inverse=True, return_counts=True)
        self._order = np.argsort(labels, kind="stable")
        self._begins: Ints = run_starts(labels[self._order])[set_of]
        self.sizes: Ints = sizes[set_of]
        self.representative_of: Ints = first[set_of]
        self.representatives: Ints = np.sort(first)

    def members(self, document: int) -> list[int]:
        """Return the documents of a document's set, in order."""
        begin = int(self._begins[document])
        members: list[int] = self._order[begin : begin + int(self.sizes[document])].tolist()
        return members

    def pairs_within(self, limit: int, new_from: int = 0) -> Iterator[tuple[int, int]]:
        """Yield the pairs of each set; of a set larger than the limit only those of its representative.

        Pairs whose second document has a number below `new_from` are left out.
        """
        for representative in self.representatives[self.sizes[self.representatives] > 1].tolist():
            members = self.members(representative)
            for at, first in enumerate(members if len(members) <= limit else members[:1], 1):
                yield from ((first, second) for second in members[max(at, bisect_left(members, new_from)) :])

    def pairs_between(self, a: int, b: int, limit: int) -> Iterator[tuple[int, int]]:
        """Yield the pairs of two sets; if one is larger than the limit, only those of a representative."""
        members, others = self.members(a), self.members(b)
        pairs_all = max(len(members), len(others)) <= limit
        for at, document in enumerate(members):
            for other in others if pairs_all or not at else others[:1]:
                yield min(document, other), max(document, other)
