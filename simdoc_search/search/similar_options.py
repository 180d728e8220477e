"""How similar documents are asked for, checked as soon as it is said."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Planner, check_planner
from simdoc_search.search.resolver import query_of
from simdoc_search.sketch.limits import Limits
from simdoc_search.stores.filters import Filters, conditions

Measure = Literal["jaccard", "containment", "contained"]
"""Jaccard similarity; the share of the source that a document has; the share of a document that the source has."""

MEASURES: tuple[Measure, ...] = ("jaccard", "containment", "contained")

Number = float | Fraction | None
"""A fraction 0..1, or none given."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """What every question takes: which documents are looked at, and which of the hits are shown.

    Attributes:
        size: most hits to give, at least 1.
        offset: how many of the best are left out, as they were given already; at least 0.
        filters: which documents are looked at.
        source_filters: which documents may be asked about.
        fields: what the hits shall have in `fields`.

    Raises:
        QuerySyntaxError: one of them is not what it can be.
    """

    size: int = 10
    offset: int = 0
    filters: Filters | None = None
    source_filters: Filters | None = None
    fields: Sequence[str] = ()

    def __post_init__(self) -> None:
        for name, value, least in (("size", self.size, 1), ("offset", self.offset, 0)):
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise QuerySyntaxError(f"{name} must be at least {least}, not {value!r}")
        if isinstance(self.fields, str) or not all(isinstance(each, str) for each in self.fields):
            raise QuerySyntaxError(f"fields must be a list of names, not {self.fields!r}")
        conditions(self.filters)
        conditions(self.source_filters)


@dataclass(frozen=True, slots=True, kw_only=True)
class Options(PageOptions):
    """What `SimilaritySearch.similar` takes beside the query.

    Raises:
        QuerySyntaxError: a number is out of range, or planner, filters or fields are not what they can be.
    """

    overlap: Number = None
    probability: Number = None
    planner: Planner = "enough"
    include_self: bool = False
    verify: bool = True
    measure: Measure = "jaccard"

    def __post_init__(self) -> None:
        PageOptions.__post_init__(self)
        check_planner(self.planner)
        if self.measure not in MEASURES:
            raise QuerySyntaxError(f"measure must be one of {', '.join(MEASURES)}, not {self.measure!r}")
        if self.measure != "jaccard" and self.probability is not None:
            raise QuerySyntaxError(f"{self.measure} takes no probability; leave a probability out")
        query_of("", self.overlap, self.probability)


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
