"""How similar documents are asked for, checked as soon as it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Planner, check_planner
from simdoc_search.search.resolving import query_of
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.filters import Filters, conditions

__all__ = ["MEASURES", "Measure", "Number", "Options", "asked_limits", "check_page"]

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
    verify: bool = True
    measure: Measure = "jaccard"
    offset: int = 0
    source_filters: Filters | None = None

    def __post_init__(self) -> None:
        check_page(self.size, self.offset, self.fields)
        check_planner(self.planner)
        if self.measure not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if self.measure != "jaccard" and self.probability is not None:
            raise QuerySyntaxError(f"{self.measure} takes no probability; leave a probability out")
        query_of("", self.overlap, self.probability)
        conditions(self.filters)
        conditions(self.source_filters)


def check_page(size: object, offset: object, fields: Sequence[str]) -> None:
    """Refuse what is no page of hits, or no list of their fields.

    Raises:
        QuerySyntaxError: one of them is not what it can be.
    """
    for name, value, least in (("size", size, 1), ("offset", offset, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise QuerySyntaxError(f"{name} must be at least {least}, not {value!r}")
    if isinstance(fields, str) or not all(isinstance(each, str) for each in fields):
        raise QuerySyntaxError(f"fields must be a list of names, not {fields!r}")


def asked_limits(stored: Limits, **given: float | None) -> Limits:
    """The limits of a question: those that the index stores, but for what is given.

    Raises:
        QuerySyntaxError: one of them is out of its range.
    """
    values: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    try:
        return replace(stored, **values)
    except (TypeError, ValueError) as error:
        raise QuerySyntaxError(str(error)) from error
