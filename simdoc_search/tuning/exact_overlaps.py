"""Exact overlaps of all pairs of a sample that share a shingle, found by counting the owners of shingles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.exact import shingle_set
from simdoc_search.versions.ragged_arrays import expanded

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ExactOverlaps:
    """The pairs of a sample that share a shingle.

    Attributes:
        ids: the documents.
        first: the number of the first document of each pair; int64, shape (pairs,).
        second: the number of the second document.
        jaccard: their Jaccard similarity, over 0, up to 1; float64, shape (pairs,).
    """

    ids: tuple[str, ...]
    first: Ints
    second: Ints
    jaccard: NDArray[np.float64]

    def count(self, least: float, most: float = 1.0) -> int:
        """Return the number of pairs with an overlap in this range."""
        return int(np.count_nonzero((self.jaccard >= least) & (self.jaccard <= most)))

    def partners(self, least: float) -> dict[str, set[str]]:
        """Return for each document the documents that overlap it at least this much, if there are any."""
        partners: dict[str, set[str]] = {}
        for pair in np.flatnonzero(self.jaccard >= least).tolist():
            a, b = self.ids[self.first[pair]], self.ids[self.second[pair]]
            partners.setdefault(a, set()).add(b)
            partners.setdefault(b, set()).add(a)
        return partners


def exact_overlaps(texts: Mapping[str, str], analysis: Analysis | None = None) -> ExactOverlaps:
    """Compute the overlaps of all pairs of documents that share a shingle."""
    number_of: dict[str, int] = {}
    sets = [
        np.array([number_of.setdefault(shingle, len(number_of)) for shingle in shingle_set(text, analysis)], np.int64)
        for text in texts.values()
    ]
    sizes = np.array([len(shingles) for shingles in sets], np.int64)
    shingles = np.concatenate([*sets, np.zeros(0, np.int64)])
    owners = np.repeat(np.arange(len(sets)), sizes)[np.argsort(shingles, kind="stable")]
    owner_counts = np.bincount(shingles, minlength=len(number_of))
    begins = np.cumsum(owner_counts) - owner_counts
    first, second, jaccard = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for number, own in enumerate(sets):
        _, places = expanded(begins[own], owner_counts[own])
        shared = np.bincount(owners[places], minlength=len(sets))
        shared[: number + 1] = 0
        others = np.flatnonzero(shared)
        first.append(np.full(len(others), number))
        second.append(others)
        jaccard.append(shared[others] / (sizes[number] + sizes[others] - shared[others]))
    return ExactOverlaps(tuple(texts), np.concatenate(first), np.concatenate(second), np.concatenate(jaccard))
