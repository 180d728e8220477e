"""What is known of pairs: the estimate at first, and the exact overlap of those on which something depends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import Joined
from simdoc_search.duplicates.table import Ints
from simdoc_search.duplicates.verification import Verifier


class PairOverlaps:
    """Pairs of documents, in order, and how much they overlap.

    Args:
        measure: what overlap means, and how much is asked for.
        verifier: compares the texts; None: the estimates decide.

    Attributes:
        first: the preferred document of each pair; int64, shape (pairs,).
        second: the other one.
        overlap: how much they overlap; float64, 0..1.
        exact: whether that was computed from the texts; elsewhere it is estimated.
    """

    def __init__(self, measure: Measure, verifier: Verifier | None) -> None:
        self._measure = measure
        self._verifier = verifier
        self.first: NDArray[np.int64] = np.zeros(0, np.int64)
        self.second: NDArray[np.int64] = np.zeros(0, np.int64)
        self.overlap: NDArray[np.float64] = np.zeros(0)
        self.exact: NDArray[np.bool_]
        self.exact, self._enough, self._open = (np.zeros(0, bool) for _ in range(3))

    def add(self, joined: Joined) -> None:
        """Further pairs, none of which is known."""
        count, estimates = len(joined.first), joined.estimate.astype(np.float64)
        self.first = np.append(self.first, joined.first)
        self.second = np.append(self.second, joined.second)
        self.overlap = np.append(self.overlap, estimates)
        self._enough = np.append(self._enough, estimates >= float(self._measure.overlap))
        self.exact = np.append(self.exact, np.zeros(count, bool))
        self._open = np.append(self._open, np.full(count, self._verifier is not None))
        order = np.lexsort((self.second, self.first))
        for name in ("first", "second", "overlap", "exact", "_enough", "_open"):
            setattr(self, name, getattr(self, name)[order])

    def enough(self, pairs: Ints) -> NDArray[np.bool_]:
        """Which of some pairs overlap enough: by their texts, where those are to be had."""
        if self._verifier is not None and len(asked := pairs[self._open[pairs]]):
            self._open[asked] = False
            shared, first, second = self._verifier.shared(self.first[asked], self.second[asked])
            known = shared >= 0
            shared, first, second, asked = shared[known], first[known], second[known], asked[known]
            first, second = np.maximum(first, 1), np.maximum(second, 1)  # all words of a text may be ignored
            self.overlap[asked] = self._measure.value(shared, first, second)
            self._enough[asked] = self._measure.reaches(shared, first, second)
            self.exact[asked] = True
        return self._enough[pairs]
