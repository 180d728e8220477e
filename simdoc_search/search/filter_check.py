"""Why does a filter leave nothing, or a column say nothing? A field that no document has is said; its like is named."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from simdoc_search.errors import UnknownFieldError
from simdoc_search.search.columns import OF_ALL
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters, conditions


def unknown_field(store: Store, filters: Filters | None) -> UnknownFieldError | None:
    """The error for the first filter whose field, or whose path, no document has; None if there is none."""
    for condition in conditions(filters):
        if isinstance(condition, Condition) and condition.values and not condition.excluded:
            there = store.alternatives(condition)
            if there is not None:
                asked = str(condition.values[0]) if condition.field == "path" else condition.field
                path = asked if condition.field == "path" else None
                return UnknownFieldError(condition.field, _most_alike(asked, there), path)
    return None


def unknown_column(store: Store, name: str) -> UnknownFieldError | None:
    """The error for a column that no document has; None if there is one."""
    there = None if name in OF_ALL else store.alternatives(Condition(name, ("",)))
    if there is None or name in there:  # of an application's own index, a field that is not indexed
        return None
    return UnknownFieldError(name, _most_alike(name, {*OF_ALL, *there}))


def _most_alike(asked: str, there: Iterable[str]) -> list[str]:
    return sorted(there, key=lambda each: (-SequenceMatcher(None, asked, each).ratio(), each))
