"""Measures of overlap: Jaccard similarity, or the share of one document that is in the other.

The first document of a pair is the one that would be kept.

    jaccard       shared / either
    containment   share of the second that is found in the first: at 1, dropping it loses nothing
    contained     share of the first that is found in the second
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from simdoc_search.duplicates.table import Ints, Table
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import parse_fraction

MeasureName = Literal["jaccard", "containment", "contained"]
MEASURES: tuple[MeasureName, ...] = get_args(MeasureName)

LENGTHS = 4
"""How many times as long as the other a document may be, to be found for containing it."""

_SURE = 3.0
"""Standard deviations of the estimate below the overlap at which a pair is ruled out: 1 in 700 of just that overlap."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Measure:
    """What overlap means, and the least overlap.

    Attributes:
        name: `jaccard`, `containment` or `contained`.
        overlap: the least value, over 0, up to 1.

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
    def planned(self) -> Fraction:
        """The Jaccard similarity that two such documents have at least, if one is at most LENGTHS times as long."""
        return self.overlap if self.name == "jaccard" else self.overlap / (1 + LENGTHS - self.overlap)

    def value(self, shared: Floats | Ints, first: Ints, second: Ints) -> Floats:
        """The measure of pairs, 0..1.

        Args:
            shared: distinct shingles that both have.
            first: those that the first has, at least 1.
            second: those that the second has, at least 1.
        """
        if self.name == "jaccard":
            return shared / (first + second - shared)
        return shared / (second if self.name == "containment" else first)

    def reaches(self, shared: Ints, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Whether pairs have the least overlap, exactly; arguments as for `value`."""
        of = {"jaccard": first + second - shared, "containment": second, "contained": first}[self.name]
        return shared * self.overlap.denominator >= of * self.overlap.numerator

    def sizes_fit(self, table: Table, first: Ints, second: Ints) -> NDArray[np.bool_]:
        """Whether documents of these sizes can have that overlap at all."""
        a, b = table.shingles[first], table.shingles[second]
        return self.reaches(np.minimum(a, b), a, b)

    def estimates(self, table: Table, first: Ints, second: Ints) -> tuple[Floats, NDArray[np.bool_]]:
        """The measure of pairs as estimated from fingerprints, and whether the least overlap is possible.

        The error of an estimate from k buckets of a union of n shingles is that of a sample without replacement,
        sqrt(J (1 - J) / k * (n - k) / (n - 1)): of short texts, whose shingles each have a bucket, nearly none.
        """
        a, b = table.shingles[first], table.shingles[second]
        shared, union = table.shared_and_union(first, second)
        jaccard = shared / union
        if self.name == "jaccard":
            wanted: Floats = np.full(len(a), float(self.overlap))
        else:
            least = float(self.overlap) * (b if self.name == "containment" else a)
            wanted = least / (a + b - least)
        whole = np.maximum(union, (a + b) / (1 + jaccard))
        error = np.sqrt(wanted * (1 - wanted) / union * (whole - union) / np.maximum(1, whole - 1))
        found = np.minimum(1.0, self.value(jaccard / (1 + jaccard) * (a + b), a, b))
        return found, jaccard >= wanted - _SURE * error - 1e-9
