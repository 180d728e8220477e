"""Filters: a field has one of some values. Each store writes them as its own query."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import QuerySyntaxError

FilterValue = str | int | float | bool


@dataclass(frozen=True, slots=True)
class AnyOf:
    """One of some values. Without values, no document matches."""

    values: tuple[FilterValue, ...]


def any_of(*values: FilterValue) -> AnyOf:
    """Return a filter value that matches any of these values; a plain list means the same."""
    return AnyOf(values)


@dataclass(frozen=True, slots=True)
class NoneOf:
    """None of some values. A document without the field matches."""

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
    if isinstance(filters, Mapping):
        return list(_conditions_of(filters))
    if not isinstance(filters, list | tuple):  # a text is a sequence too
        raise _no_filters(filters)
    found: list[Condition | dict[str, Any]] = []
    for each in filters:
        if not isinstance(each, Mapping):
            raise _no_filters(each)
        found += [dict(each)] if _is_clause(each) else _conditions_of(each)
    return found


def _conditions_of(filters: Mapping[str, Any]) -> Iterator[Condition]:
    for field, given in filters.items():
        if isinstance(given, Mapping):
            raise QuerySyntaxError(
                f"the filter {field!r} looks like a clause of an engine; clauses stand in a list: filters=[clause]"
            )
        several = given.values if isinstance(given, AnyOf | NoneOf) else given
        values = tuple(several) if isinstance(several, list | tuple | set | frozenset) else (several,)
        for value in values:
            if not isinstance(value, FilterValue):
                raise QuerySyntaxError(
                    f"the filter {field!r} has {type(value).__name__} for a value; give a text, a number, True or "
                    "False, or a list of them"
                )
        yield Condition(str(field), values, isinstance(given, NoneOf))


def _is_clause(filters: Mapping[str, Any]) -> bool:
    return len(filters) == 1 and isinstance(next(iter(filters.values())), Mapping)


def _no_filters(given: object) -> QuerySyntaxError:
    return QuerySyntaxError(
        f"{type(given).__name__} is no filter; give fields with their values, like {{'language': 'de'}}, or a list of "
        "such filters and of clauses of an engine"
    )
