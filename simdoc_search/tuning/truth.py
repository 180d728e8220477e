"""How much the documents of a sample really overlap: exact values of all pairs that share a shingle.

No text is compared with another one: for each document, the owners of its shingles are counted.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.exact import shingle_set

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Truth:
    """The pairs of a sample that share a shingle.

    Attributes:
        ids: the documents, in their order.
        first: the document of each pair that comes first, by its number; int64, shape (pairs,).
        second: the other one.
        jaccard: their Jaccard similarity, over 0, up to 1; float64, shape (pairs,).
    """

    ids: tuple[str, ...]
    first: Ints
    second: Ints
    jaccard: NDArray[np.float64]

    def between(self, least: float, most: float) -> Ints:
        """The places of the pairs that overlap at least so much, and at most so much."""
        return np.flatnonzero((self.jaccard >= least) & (self.jaccard <= most))

    def partners(self, least: float) -> dict[str, set[str]]:
        """For each document that has any: those that overlap it at least so much."""
        found: dict[str, set[str]] = {}
        for place in self.between(least, 1).tolist():
            a, b = self.ids[self.first[place]], self.ids[self.second[place]]
            found.setdefault(a, set()).add(b)
            found.setdefault(b, set()).add(a)
        return found


def truth_of(texts: Mapping[str, str], analysis: Analysis | None = None) -> Truth:
    """The exact overlaps of all pairs of some documents that share a shingle."""
    analysis = analysis or Analysis()
    numbers: dict[str, int] = {}
    sets = [
        np.fromiter((numbers.setdefault(each, len(numbers)) for each in shingle_set(text, analysis)), np.int64)
        for text in texts.values()
    ]
    sizes = np.array([len(each) for each in sets], np.int64)
    shingles = np.concatenate([*sets, np.zeros(0, np.int64)])
    order = np.argsort(shingles, kind="stable")
    owners = np.repeat(np.arange(len(sets)), sizes)[order]
    ends = np.cumsum(np.bincount(shingles, minlength=len(numbers)))
    begins = np.concatenate((np.zeros(1, np.int64), ends[:-1]))
    first, second = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    jaccard = [np.zeros(0)]
    for number, its in enumerate(sets):
        shared = np.bincount(owners[_ranges(begins[its], ends[its])], minlength=len(sets))
        shared[: number + 1] = 0
        others = np.flatnonzero(shared)
        first.append(np.full(len(others), number))
        second.append(others)
        jaccard.append(shared[others] / (sizes[number] + sizes[others] - shared[others]))
    return Truth(tuple(texts), np.concatenate(first), np.concatenate(second), np.concatenate(jaccard))


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """All numbers from each begin to its end, one range after the other."""
    lengths = ends - begins
    places: Ints = np.arange(int(lengths.sum())) + np.repeat(begins - (np.cumsum(lengths) - lengths), lengths)
    return places
