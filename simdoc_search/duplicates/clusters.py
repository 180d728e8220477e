"""Groups that are stars: one document is kept, and each other one was found to overlap it. No chains.

From the most preferred on, each document that belongs to none takes all later ones that belong to none and overlap it
enough. So whoever is taken is taken by a document that stays, and A ~ B ~ C makes C a duplicate of A only if it is one.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.table import Ints

FREE = -1
_PAIRS_AT_ONCE = 1 << 11

Judge = Callable[[Ints], NDArray[np.bool_]]
"""Which of the pairs with these numbers overlap enough."""


class Stars:
    """To which kept document each one belongs.

    Args:
        count: how many documents there are.

    Attributes:
        kept_for: the document that is kept for each; FREE: it stays itself. int64, shape (documents,).
    """

    def __init__(self, count: int) -> None:
        self.kept_for: NDArray[np.int64] = np.full(count, FREE, np.int64)

    def take(self, first: Ints, second: Ints, judge: Judge, progress: Callable[[int], None] = lambda _: None) -> Ints:
        """Let documents take others.

        Args:
            first: the preferred document of each pair; pairs are in order, by first, then by second.
            second: the other one, whose number is greater.
            judge: says which pairs overlap enough; it is asked only for those on which something depends.
            progress: called with numbers of pairs that are settled.

        Returns:
            The numbers of the pairs by which documents were taken.
        """
        taken = []
        for start in range(0, len(first), _PAIRS_AT_ONCE):
            open_pairs = np.arange(start, min(start + _PAIRS_AT_ONCE, len(first)))
            while len(open_pairs := self._undecided(open_pairs, first, second)):
                ready = self._ready(first[open_pairs], second[open_pairs])
                asked = open_pairs[ready]
                taken.append(self._settle(asked[judge(asked)], first, second))
                open_pairs = open_pairs[~ready]
            progress(min(_PAIRS_AT_ONCE, len(first) - start))
        return np.concatenate(taken) if taken else np.zeros(0, np.int64)

    def _undecided(self, pairs: Ints, first: Ints, second: Ints) -> Ints:
        left: Ints = pairs[(self.kept_for[first[pairs]] == FREE) & (self.kept_for[second[pairs]] == FREE)]
        return left

    def _ready(self, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Which of the open pairs can be judged now: nobody can take the first any more, nor the second before it."""
        could_go = np.isin(first, second)
        before = np.full(len(self.kept_for), len(first), np.int64)  # the first pair that must wait, by its second
        np.minimum.at(before, second[could_go], np.flatnonzero(could_go))
        return ~could_go & (np.arange(len(first)) < before[second])

    def _settle(self, pairs: Ints, first: Ints, second: Ints) -> Ints:
        """Whoever could be taken by several goes to the most preferred of them."""
        who, at = np.unique(second[pairs], return_index=True)
        pairs = pairs[at]
        self.kept_for[who] = first[pairs]
        return pairs
