"""Filters on the fields of documents. Each store translates them into its own queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import QuerySyntaxError

FilterValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches documents that have any of these values. Without values, it matches nothing."""

    values: tuple[FilterValue, ...]


def any_of(*values: FilterValue) -> AnyOf:
    """Return a filter that matches any of these values. A list of the values has the same effect."""
    return AnyOf(values)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Matches documents that have none of these values, including documents without the field."""

    values: tuple[FilterValue, ...]


def none_of(*values: FilterValue) -> NoneOf:
    """Return a filter that excludes these values, such as the prefix `drafts/` of `path`."""
    return NoneOf(values)


Filters = Mapping[str, FilterValue | AnyOf | NoneOf | Collection[FilterValue]] | Sequence[Mapping[str, Any]]
"""A mapping of fields to values. All fields must match. If a value is a list, a document must have one of its items.

In a list of mappings, all mappings must match, so that a field can occur several times. For an engine, the list may
also contain clauses in the query language of the engine.

The field `path` matches documents whose path begins with the value. The values of other fields are compared as text:
`{"year": "2020"}` also finds the number 2020.
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """Requires one of these values in a field, or none of them if `is_negated`. The values of `path` are prefixes."""

    field: str
    values: tuple[FilterValue, ...]
    is_negated: bool = False


def parse_filters(filters: Filters | None) -> list[Condition | dict[str, Any]]:
    """Convert filters to conditions. Query clauses of an engine are returned unchanged.

    Raises:
        QuerySyntaxError: the filters are malformed. The message says how to write them.
    """
    if filters is None:
        return []
    result: list[Condition | dict[str, Any]] = []
    for mapping in filters if isinstance(filters, list | tuple) else [filters]:
        if not isinstance(mapping, Mapping):
            raise QuerySyntaxError(
                f"a filter has type {type(mapping).__name__}; use a dictionary, such as {{'language': 'de'}}, or a "
                "list of dictionaries and query clauses"
            )
        is_clause = len(mapping) == 1 and isinstance(next(iter(mapping.values())), Mapping)
        if is_clause and mapping is not filters:
            result.append(dict(mapping))
        else:
            result += _parse_conditions(mapping)
    return result


def _parse_conditions(filters: Mapping[str, Any]) -> Iterator[Condition]:
    for field, field_filter in filters.items():
        if isinstance(field_filter, Mapping):
            raise QuerySyntaxError(
                f"the filter {field!r} looks like a query clause of an engine; put query clauses in a list, "
                "such as filters=[clause]"
            )
        given = field_filter.values if isinstance(field_filter, AnyOf | NoneOf) else field_filter
        values = tuple(given) if isinstance(given, list | tuple | set | frozenset) else (given,)
        for value in values:
            if not isinstance(value, FilterValue):
                raise QuerySyntaxError(
                    f"the filter {field!r} has a value of type {type(value).__name__}; use a string, a number, a "
                    "boolean, or a list of these"
                )
        yield Condition(str(field), values, isinstance(field_filter, NoneOf))
