"""Measures of overlap: Jaccard similarity, or the share of one document that is in the other.

The first document of a pair is the one that would be kept.

    jaccard       shared shingles / shingles of either
    containment   share of the second document that is in the first; at 1, dropping the second loses nothing
    contained     share of the first document that is in the second
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np

from simdoc_search.duplicates.arrays import Bools, Floats, Ints
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import parse_fraction

MeasureName = Literal["jaccard", "containment", "contained"]
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)

MAX_LENGTH_RATIO = 4
"""Containment is found in documents up to this many times as long."""

_DEVIATIONS = 3.0
"""A pair is ruled out if its estimate is this many standard deviations too low: 1 in 700 of exactly that overlap."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A measure of overlap, and the least overlap: over 0, up to 1.

    Raises:
        QuerySyntaxError: there is no such measure, or the overlap is out of range.
    """

    name: MeasureName
    overlap: Fraction

    def __post_init__(self) -> None:
        if self.name not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.name!r}")
        if not parse_fraction(self.overlap, "overlap"):
            raise QuerySyntaxError("an overlap of 0 would pair all documents with all; give a fraction over 0, up to 1")

    @property
    def least_jaccard(self) -> Fraction:
        """The Jaccard similarity that such a pair has at least, if one is at most MAX_LENGTH_RATIO times as long."""
        return self.overlap if self.name == "jaccard" else self.overlap / (1 + MAX_LENGTH_RATIO - self.overlap)

    def values(self, shared: Floats | Ints, first: Ints, second: Ints) -> Floats:
        """Compute the measure, 0..1, from the numbers of distinct shingles of both, of the first, and of the second."""
        if self.name == "jaccard":
            return shared / (first + second - shared)
        return shared / (second if self.name == "containment" else first)

    def is_reached(self, shared: Ints, first: Ints, second: Ints) -> Bools:
        """Say exactly which pairs have the least overlap; arguments as for `values`."""
        whole = {"jaccard": first + second - shared, "containment": second, "contained": first}[self.name]
        return shared * self.overlap.denominator >= whole * self.overlap.numerator

    def sizes_fit(self, table: FingerprintTable, first: Ints, second: Ints) -> Bools:
        """Say which pairs can have the least overlap by the numbers of their shingles."""
        a, b = table.shingles[first], table.shingles[second]
        return self.is_reached(np.minimum(a, b), a, b)

    def estimates(self, table: FingerprintTable, first: Ints, second: Ints) -> tuple[Floats, Bools]:
        """Estimate the measure of pairs from fingerprints, and say which can have the least overlap.

        An estimate from k buckets of a union of n shingles errs as a sample without replacement does:
        sqrt(J (1 - J) / k * (n - k) / (n - 1)). For short texts, whose shingles have a bucket each, that is nearly 0.
        """
        a, b = table.shingles[first], table.shingles[second]
        shared, union = table.shared_and_union(first, second)
        jaccard = shared / union
        if self.name == "jaccard":
            wanted: Floats = np.full(len(a), float(self.overlap))
        else:
            least = float(self.overlap) * (b if self.name == "containment" else a)
            wanted = least / (a + b - least)
        shingles_of_either = np.maximum(union, (a + b) / (1 + jaccard))
        correction = (shingles_of_either - union) / np.maximum(1, shingles_of_either - 1)
        error = np.sqrt(wanted * (1 - wanted) / union * correction)
        estimates = np.minimum(1.0, self.values(jaccard / (1 + jaccard) * (a + b), a, b))
        return estimates, jaccard >= wanted - _DEVIATIONS * error - 1e-9
