"""Groups as stars: each duplicate overlaps the kept document of its group itself. There are no chains.

In the order of preference, each document that is in no group takes all later ones that are in no group and overlap it
enough. So A ~ B ~ C makes C a duplicate of A only if C overlaps A.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.table import Ints

FREE = -1
_PAIRS_AT_ONCE = 1 << 11

OverlapCheck = Callable[[Ints], NDArray[np.bool_]]
"""Says which of the pairs with these numbers overlap enough."""


class Stars:
    """The kept document of each document.

    Args:
        count: how many documents there are.

    Attributes:
        kept_for: the document that is kept instead of each; FREE: it is kept itself. int64, shape (documents,).
    """

    def __init__(self, count: int) -> None:
        self.kept_for: NDArray[np.int64] = np.full(count, FREE, np.int64)

    def take(
        self, first: Ints, second: Ints, overlaps: OverlapCheck, progress: Callable[[int], None] = lambda _: None
    ) -> Ints:
        """Assign documents to the kept documents they overlap.

        Args:
            first: the preferred document of each pair; pairs are in order, by first, then by second.
            second: the other one, whose number is greater.
            overlaps: says which pairs overlap enough. Only called for pairs that can change a group.
            progress: called with the number of pairs decided since the last call.

        Returns:
            The numbers of the pairs that assigned a document.
        """
        taken = []
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            open_pairs = np.arange(start, min(start + _PAIRS_AT_ONCE, len(first)))
            while len(open_pairs := self._undecided(open_pairs, first, second)):
                ready = self._ready(first[open_pairs], second[open_pairs])
                candidates = open_pairs[ready]
                taken.append(self._assign(candidates[overlaps(candidates)], first, second))
                open_pairs = open_pairs[~ready]
            progress(min(_PAIRS_AT_ONCE, len(first) - start))
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def _undecided(self, pairs: Ints, first: Ints, second: Ints) -> Ints:
        left: Ints = pairs[(self.kept_for[first[pairs]] == FREE) & (self.kept_for[second[pairs]] == FREE)]
        return left

    def _ready(self, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Which undecided pairs can be decided now: no earlier pair can still assign either document."""
        can_be_taken = np.isin(first, second)
        before = np.full(len(self.kept_for), len(first), np.int64)  # the first pair that must wait, by its second
        np.minimum.at(before, second[can_be_taken], np.flatnonzero(can_be_taken))
        return ~can_be_taken & (np.arange(len(first)) < before[second])

    def _assign(self, pairs: Ints, first: Ints, second: Ints) -> Ints:
        """Assign each second document to the most preferred of its first documents."""
        duplicates, at = np.unique(second[pairs], return_index=True)
        pairs = pairs[at]
        self.kept_for[duplicates] = first[pairs]
        return pairs
