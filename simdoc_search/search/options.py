"""How similar documents are asked for, checked as soon as it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Planner, check_planner
from simdoc_search.search.resolving import query_of
from simdoc_search.stores.filters import Filters, conditions

__all__ = ["MEASURES", "Measure", "Number", "Options"]

Measure = Literal["jaccard", "containment", "contained"]
"""Jaccard similarity; the share of the source that a document has; the share of a document that the source has."""

MEASURES: tuple[Measure, ...] = ("jaccard", "containment", "contained")

Number = float | Fraction | None
"""A fraction 0..1, or none given."""


@dataclass(frozen=True, slots=True)
class Options:
    """What `SimilaritySearch.similar` takes beside the query.

    Raises:
        QuerySyntaxError: a number is out of range, or planner, filters or fields are not what they can be.
    """

    overlap: Number
    probability: Number
    planner: Planner
    size: int
    filters: Filters | None
    include_self: bool = False
    fields: Sequence[str] = ()
    verify: bool = False
    measure: Measure = "jaccard"

    def __post_init__(self) -> None:
        if not isinstance(self.size, int) or self.size < 1:
            raise QuerySyntaxError(f"size must be at least 1, not {self.size!r}")
        check_planner(self.planner)
        if isinstance(self.fields, str) or not all(isinstance(each, str) for each in self.fields):
            raise QuerySyntaxError(f"fields must be a list of names, not {self.fields!r}")
        if self.measure not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if self.measure != "jaccard" and (self.fields or self.probability is not None):
            given = "fields" if self.fields else "a probability"
            raise QuerySyntaxError(f"{self.measure} takes no {given.removeprefix('a ')}; leave {given} out")
        query_of("", self.overlap, self.probability)
        conditions(self.filters)
