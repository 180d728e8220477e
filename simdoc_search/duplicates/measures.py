"""Measures of overlap: the Jaccard similarity, or the share of one document's shingles that are in the other.

The first document of a pair is the one that would be kept.

| Measure | Meaning |
|---|---|
| `jaccard` | shared shingles / shingles in either document |
| `containment` | share of the second document that is also in the first; 1 if the first has all of the second |
| `reverse_containment` | share of the first document that is also in the second |
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from simdoc_search.duplicates.arrays import Bools, Floats, Ints
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.exact_overlap import MEASURES, MeasureName
from simdoc_search.query.planner import parse_fraction

MAX_LENGTH_RATIO = 4
"""With `containment` and `reverse_containment`, pairs are only found reliably if the longer document is at most this
many times as long as the shorter one."""

_MAX_STANDARD_DEVIATIONS = 3.0
"""A pair is ruled out if its estimate is more than this many standard deviations below the minimum overlap. This
happens to 1 in 700 pairs with exactly the minimum overlap."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of overlap, and the minimum overlap.

    The overlap is greater than 0 and at most 1.

    Raises:
        QuerySyntaxError: the measure does not exist, or the overlap is out of range.
    """

    name: MeasureName
    min_overlap: Fraction

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.name!r}")
        if not parse_fraction(self.min_overlap, "overlap"):
            raise QuerySyntaxError(
                "an overlap of 0 would pair all documents with each other; choose an overlap above 0"
            )

    @property
    def min_jaccard(self) -> Fraction:
        """Minimum Jaccard similarity of pairs with the minimum overlap.

        One document of a pair is assumed to be at most MAX_LENGTH_RATIO times as long as the other.
        """
        return (
            self.min_overlap if self.name == "jaccard" else self.min_overlap / (1 + MAX_LENGTH_RATIO - self.min_overlap)
        )

    def compute(self, shared_counts: Floats | Ints, first_counts: Ints, second_counts: Ints) -> Floats:
        """Compute the measure, 0..1, from the numbers of distinct shingles in both documents, and in each one."""
        if self.name == "jaccard":
            return shared_counts / (first_counts + second_counts - shared_counts)
        return shared_counts / (second_counts if self.name == "containment" else first_counts)

    def swap_overlap(self, overlap: float, first_count: int, second_count: int) -> float:
        """Return the overlap of a pair if the second document is kept instead, from the overlap and shingle counts."""
        if self.name == "jaccard":
            return overlap
        numerator, denominator = (
            (second_count, first_count) if self.name == "containment" else (first_count, second_count)
        )
        return min(1.0, overlap * numerator / denominator)

    def is_reached(self, shared_counts: Ints, first_counts: Ints, second_counts: Ints) -> Bools:
        """Return which pairs have at least the minimum overlap, computed exactly. Arguments as in `compute`."""
        denominators = {
            "jaccard": first_counts + second_counts - shared_counts,
            "containment": second_counts,
            "reverse_containment": first_counts,
        }[self.name]
        return shared_counts * self.min_overlap.denominator >= denominators * self.min_overlap.numerator

    def sizes_fit(self, table: FingerprintTable, first: Ints, second: Ints) -> Bools:
        """Return which pairs can have the minimum overlap, judging only by their numbers of shingles."""
        a, b = table.shingle_counts_of(first), table.shingle_counts_of(second)
        return self.is_reached(np.minimum(a, b), a, b)

    def estimate(self, table: FingerprintTable, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Estimate the measure of pairs from their fingerprints.

        The k filled buckets are a sample of the n shingles of the union, without replacement. So the standard error of
        an estimate is sqrt(J (1 - J) / k * (n - k) / (n - 1)). It is nearly 0 for short texts, where each shingle has
        its own bucket.

        Returns:
            The estimates, and whether each pair may have the minimum overlap.
        """
        a, b = table.shingle_counts_of(first), table.shingle_counts_of(second)
        jaccard, union = table.estimate_jaccard(first, second)
        if self.name == "jaccard":
            min_jaccard: Floats = np.full(len(a), float(self.min_overlap))
        else:
            min_shared = float(self.min_overlap) * (b if self.name == "containment" else a)
            min_jaccard = min_shared / (a + b - min_shared)
        shingles_of_either = np.maximum(union, (a + b) / (1 + jaccard))
        correction = (shingles_of_either - union) / np.maximum(1, shingles_of_either - 1)
        error = np.sqrt(min_jaccard * (1 - min_jaccard) / union * correction)
        estimates = np.minimum(1.0, self.compute(jaccard / (1 + jaccard) * (a + b), a, b))
        return estimates, jaccard >= min_jaccard - _MAX_STANDARD_DEVIATIONS * error - 1e-9
