"""Groups duplicates around a kept document, and finds sets of documents with the same words.

Each duplicate in a group overlaps the kept document itself. If A overlaps B and B overlaps C, then C joins the group of
A only if C also overlaps A. Documents are processed in keep order: preferred documents come first (see `keep_order`). A
document that is not in a group yet starts a new group as its kept document. All later documents that overlap it enough
and are not in a group yet join this group. If no document joins, there is no group.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator

import numpy as np

from simdoc_search.duplicates.arrays import Bools, Ints, Keys, run_starts, split_pair_keys

UNASSIGNED = -1
"""The value for a document without a kept document: it is kept itself, or it is not in a group."""

_PAIRS_AT_ONCE = 1 << 11


def assign_duplicates(
    count: int,
    keys: Keys,
    overlap_enough: Callable[[Ints], Bools],
    progress: Callable[[float], None] = lambda _: None,
) -> tuple[Ints, Ints]:
    """Assign each duplicate among `count` documents to the kept document of its group.

    The indices of the documents are in keep order. The pairs in `keys` are encoded by `pair_keys`, and ascend.
    `overlap_enough` returns whether the pairs at these positions overlap enough. It is only called with pairs in which
    neither document has a kept document yet.

    Returns:
        For each document, the kept document of its group, or UNASSIGNED. Also the positions of the pairs that put a
        duplicate in its group.
    """
    kept_document_of = np.full(count, UNASSIGNED, np.int64)
    assigning_pairs = [np.zeros(0, np.int64)]
    for start in range(0, len(keys), _PAIRS_AT_ONCE):
        first, second = split_pair_keys(keys[start : start + _PAIRS_AT_ONCE])
        pairs = np.arange(len(first))
        while True:
            pairs = pairs[
                (kept_document_of[first[pairs]] == UNASSIGNED) & (kept_document_of[second[pairs]] == UNASSIGNED)
            ]
            if not len(pairs):
                break
            is_ready = _can_compare_now(first[pairs], second[pairs])
            overlapping = pairs[is_ready][overlap_enough(start + pairs[is_ready])]
            # If a document overlaps several kept documents, it joins the group of the most preferred one.
            duplicates, index = np.unique(second[overlapping], return_index=True)
            kept_document_of[duplicates] = first[overlapping[index]]
            assigning_pairs.append(start + overlapping[index])
            pairs = pairs[~is_ready]
        progress(min(1.0, (start + _PAIRS_AT_ONCE) / len(keys)))
    return kept_document_of, np.concatenate(assigning_pairs)


def _can_compare_now(first: Ints, second: Ints) -> Bools:
    """Return which pairs can be compared now.

    The others wait until it is known whether one of their documents joins an earlier group.
    """
    must_wait = np.isin(first, second)
    # For each distinct second document, the position of its first waiting pair.
    documents, index = np.unique(second, return_inverse=True)
    first_waiting = np.full(len(documents), len(first), np.int64)
    np.minimum.at(first_waiting, index[must_wait], np.flatnonzero(must_wait))
    return ~must_wait & (np.arange(len(first)) < first_waiting[index])


def find_copies(labels: Ints, first_new_index: int) -> Ints:
    """Return the documents that have the same words as another document, ascending. One document of the set is new.

    See `SameWordsSets` for `labels`. Documents from `first_new_index` on are new.
    """
    is_copy = SameWordsSets(labels).sizes > 1
    return np.flatnonzero(is_copy & np.isin(labels, labels[first_new_index:]))


class SameWordsSets:
    """Sets of documents that have the same words.

    Only one document of each set, its representative, is compared with others.

    Args:
        labels: one number per document, equal for documents with the same words; int64, shape (documents,).

    Attributes:
        representatives: the preferred document of each set, ascending.
        representative_of: the representative of each document's set; int64, shape (documents,).
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
        """Return all documents in the same set as a document, ascending."""
        begin = int(self._begins[document])
        members: list[int] = self._order[begin : begin + int(self.sizes[document])].tolist()
        return members

    def pairs_within(self, max_set_size: int, first_new_index: int = 0) -> Iterator[tuple[int, int]]:
        """Yield all pairs in each set. In a set larger than the limit, only pair the representative with the others.

        Pairs whose second document has an index below `first_new_index` are omitted.
        """
        for representative in self.representatives[self.sizes[self.representatives] > 1].tolist():
            members = self.members(representative)
            for begin, first in enumerate(members if len(members) <= max_set_size else members[:1], 1):
                yield from ((first, second) for second in members[max(begin, bisect_left(members, first_new_index)) :])

    def pairs_between(self, document_a: int, document_b: int, max_set_size: int) -> Iterator[tuple[int, int]]:
        """Yield all pairs of a member of the first document's set and a member of the second document's set.

        If either set exceeds the limit, only yield pairs with a representative.
        """
        members, others = self.members(document_a), self.members(document_b)
        both_are_small = max(len(members), len(others)) <= max_set_size
        for index, document in enumerate(members):
            for other in others if both_are_small or index == 0 else others[:1]:
                yield min(document, other), max(document, other)
