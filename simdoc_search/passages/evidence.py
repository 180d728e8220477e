"""Which equal runs are too unlikely to be there by chance?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.windows import Ints, Windows

_MARGIN = 3.0
"""A run is believed if chance makes one as good at its place in less than 1 of 20 cases: exp(-3)."""

_SHORT = 100
"""Two texts of fewer words together are taken to have this many: a word of a short text is not rare for that."""


class RunEvidence:
    """Says how likely chance makes the equal runs of two texts.

    The information of a word is -log f, where f is its frequency in both texts together. That of a run is the sum over
    its words. If da and db words lie between a run and its neighbour in the passage, about (da + 1)(db + 1) runs could
    be equal there, and only da + 1 if da = db, where words were replaced one by one. The evidence is the information
    less the logarithm of this number. All logarithms are natural.
    """

    def __init__(self, windows: Windows) -> None:
        a, b = windows.classes(1)
        counts = np.bincount(np.concatenate((a, b)))
        information = -np.log(counts / max(len(a) + len(b), _SHORT))
        self._sums = np.concatenate(([0.0], np.cumsum(information[a])))

    def credible(self, runs: Ints, always: int) -> Ints:
        """The runs of a passage without those that chance explains.

        Args:
            runs: runs in the order of the first text; int64, shape (runs, 3). No word is in two of them.
            always: runs of this many words are kept.
        """
        while len(runs) > 1:
            check_stopped()
            evidence = self._of(runs)
            weak = (evidence < _MARGIN) & (runs[:, 2] < always)
            if not weak.any():
                break
            runs = runs[~_weakest(weak, evidence)]
        return runs

    def _of(self, runs: Ints) -> NDArray[np.float64]:
        """The evidence of each run, given its neighbours."""
        i, j, size = runs.T
        area = np.full(len(runs), np.inf)
        da = i[1:] - i[:-1] - size[:-1]
        db = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
        places = np.where((da == db) & (j[1:] > j[:-1]), da + 1, (da + 1) * (db + 1)).astype(np.float64)
        area[1:] = places
        area[:-1] = np.minimum(area[:-1], places)
        evidence: NDArray[np.float64] = self._sums[i + size] - self._sums[i] - np.log(area)
        return evidence


def _weakest(weak: NDArray[np.bool_], evidence: NDArray[np.float64]) -> NDArray[np.bool_]:
    """The weak runs that no neighbour is weaker than. Its neighbours are judged again when a run is removed."""
    padded = np.concatenate(([np.inf], np.where(weak, evidence, np.inf), [np.inf]))
    chosen: NDArray[np.bool_] = weak & (evidence <= padded[:-2]) & (evidence < padded[2:])
    return chosen
