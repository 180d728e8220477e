"""The overlap of pairs: estimated at first, exact once a group depends on it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import Joined
from simdoc_search.duplicates.table import Ints
from simdoc_search.duplicates.verification import Verifier


class PairOverlaps:
    """Candidate pairs, in order, and their overlaps.

    Args:
        measure: what overlap means, and the least overlap.
        verifier: compares the texts; None: the estimates decide.

    Attributes:
        first: the preferred document of each pair; int64, shape (pairs,).
        second: the other one.
        overlap: how much they overlap; float64, 0..1.
        exact: whether it was computed from the texts; otherwise it is estimated.
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
        """Add pairs, none of which is known yet."""
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
        """Which of these pairs overlap enough, by their texts where available."""
        if self._verifier is not None and len(candidates := pairs[self._open[pairs]]):
            self._open[candidates] = False
            shared, first, second = self._verifier.shared(self.first[candidates], self.second[candidates])
            known = shared >= 0
            shared, first, second, candidates = shared[known], first[known], second[known], candidates[known]
            first, second = np.maximum(first, 1), np.maximum(second, 1)  # all words of a text may be ignored
            self.overlap[candidates] = self._measure.value(shared, first, second)
            self._enough[candidates] = self._measure.reaches(shared, first, second)
            self.exact[candidates] = True
        return self._enough[pairs]
