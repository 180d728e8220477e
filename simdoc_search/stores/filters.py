"""Filters: a field has one of some values. Each store translates them into its own queries."""

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
    """Return a filter value that matches any of these values; a plain list means the same."""
    return AnyOf(values)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """Matches none of some values. A document without the field matches."""

    values: tuple[FilterValue, ...]


def none_of(*values: FilterValue) -> NoneOf:
    """Return a filter value that matches none of these values, such as `path` with `none_of("drafts/")`."""
    return NoneOf(values)


Filters = Mapping[str, FilterValue | AnyOf | NoneOf | Collection[FilterValue]] | Sequence[Mapping[str, Any]]
"""Field to value, or to a list of values of which a document must have one; all fields must match. In a list of such
filters all must match, so that one field can occur several times. `path` matches documents whose path begins with the
value, any other field by equality of its text form: `{"year": "2020"}` also finds the number 2020. For an engine, the
list may also contain clauses in its own query language.
"""


@dataclass(frozen=True, slots=True)
class Condition:
    """A field has one of these values, or none of them if `excluded`. For `path`, values are prefixes."""

    field: str
    values: tuple[FilterValue, ...]
    excluded: bool = False


def conditions(filters: Filters | None) -> list[Condition | dict[str, Any]]:
    """Return all conditions of some filters, and clauses of an engine unchanged.

    Raises:
        QuerySyntaxError: the filters are malformed; the message says how to write them.
    """
    if filters is None:
        return []
    found: list[Condition | dict[str, Any]] = []
    for mapping in filters if isinstance(filters, list | tuple) else [filters]:
        if not isinstance(mapping, Mapping):
            raise QuerySyntaxError(
                f"{type(mapping).__name__} is not a filter; give fields with their values, like {{'language': 'de'}}, "
                "or a list of such filters and of clauses of an engine"
            )
        is_clause = len(mapping) == 1 and isinstance(next(iter(mapping.values())), Mapping)
        if is_clause and mapping is not filters:
            found.append(dict(mapping))
        else:
            found += _conditions_of(mapping)
    return found


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
