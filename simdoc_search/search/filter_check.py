"""Finds unknown fields in filters and columns, and suggests known ones."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from simdoc_search.errors import UnknownFieldError
from simdoc_search.search.columns import BUILT_IN
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters, conditions


def unknown_field(store: Store, filters: Filters | None) -> UnknownFieldError | None:
    """Return an error for the first filter with a field or path that no document has; None if there is none."""
    for condition in conditions(filters):
        if isinstance(condition, Condition) and condition.values and not condition.excluded:
            known_names = store.filter_suggestions(condition)
            if known_names is not None:
                path = str(condition.values[0]) if condition.field == "path" else None
                return UnknownFieldError(condition.field, _nearest_first(path or condition.field, known_names), path)
    return None


def unknown_column(store: Store, name: str) -> UnknownFieldError | None:
    """Return an error if no document has this column, otherwise None."""
    known_names = None if name in BUILT_IN else store.filter_suggestions(Condition(name, ("",)))
    if known_names is None or name in known_names:  # an application's own index can have a field that is not indexed
        return None
    return UnknownFieldError(name, _nearest_first(name, {*BUILT_IN, *known_names}))


def _nearest_first(name: str, known_names: Iterable[str]) -> list[str]:
    return sorted(known_names, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
