"""Filters on the fields of documents. Each store translates them into its own queries."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import QuerySyntaxError

FilterValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Matches any of some values. Without values, no document matches."""

    values: tuple[FilterValue, ...]


def any_of(*values: FilterValue) -> AnyOf:
    """Return a filter value that matches any of these values. A plain list means the same."""
    return AnyOf(values)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Matches none of some values. A document without the field matches."""

    values: tuple[FilterValue, ...]


def none_of(*values: FilterValue) -> NoneOf:
    """Return a filter value that matches none of these values, such as `path` with `none_of("drafts/")`."""
    return NoneOf(values)


Filters = Mapping[str, FilterValue | AnyOf | NoneOf | Collection[FilterValue]] | Sequence[Mapping[str, Any]]
"""A mapping of fields to values. All fields must match. If a value is a list, a document must have one of its items.

In a list of mappings, all mappings must match, so that a field can occur several times. For an engine, the list may
also contain clauses in its own query language.

The field `path` matches documents whose path begins with the value. The values of other fields are compared as text:
`{"year": "2020"}` also finds the number 2020.
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A field has one of these values, or none of them if `excluded`. For `path`, values are prefixes."""

    field: str
    values: tuple[FilterValue, ...]
    excluded: bool = False


def conditions(filters: Filters | None) -> list[Condition | dict[str, Any]]:
    """Return the conditions in some filters. Clauses of an engine are returned unchanged.

    Raises:
        QuerySyntaxError: the filters are malformed. The message says how to write them.
    """
    if filters is None:
        return []
    result: list[Condition | dict[str, Any]] = []
    for mapping in filters if isinstance(filters, list | tuple) else [filters]:
        if not isinstance(mapping, Mapping):
            raise QuerySyntaxError(
                f"{type(mapping).__name__} is not a filter; give fields with their values, like {{'language': 'de'}}, "
                "or a list of such filters and of clauses of an engine"
            )
        is_clause = len(mapping) == 1 and isinstance(next(iter(mapping.values())), Mapping)
        if is_clause and mapping is not filters:
            result.append(dict(mapping))
        else:
            result += _conditions_of(mapping)
    return result


def _conditions_of(filters: Mapping[str, Any]) -> Iterator[Condition]:
    for field, given in filters.items():
        if isinstance(given, Mapping):
            raise QuerySyntaxError(
                f"the filter {field!r} looks like a clause of an engine; put clauses into a list: filters=[clause]"
            )
        several = given.values if isinstance(given, AnyOf | NoneOf) else given
        values = tuple(several) if isinstance(several, list | tuple | set | frozenset) else (several,)
        for value in values:
            if not isinstance(value, FilterValue):
                raise QuerySyntaxError(
                    f"the filter {field!r} has a value of type {type(value).__name__}; give a string, a number, True "
                    "or False, or a list of them"
                )
        yield Condition(str(field), values, isinstance(given, NoneOf))
