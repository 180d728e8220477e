"""Finds unknown fields in filters and unknown columns, and suggests known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from simdoc_search.errors import UnknownFieldError
from simdoc_search.search.columns import BUILT_IN_COLUMNS
from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import ORIGIN_FIELD
from simdoc_search.stores.filters import Condition, Filters, parse_filters


def find_unknown_field(store: Store, filters: Filters | None) -> UnknownFieldError | None:
    """Return an error for the first filter whose field or path is not in any document; None if all are known."""
    for condition in parse_filters(filters):
        if not isinstance(condition, Condition) or condition.field == ORIGIN_FIELD:
            continue
        if condition.values and not condition.is_negated:
            known_names = store.suggest_filter_names(condition)
            if known_names is not None:
                path = str(condition.values[0]) if condition.field == "path" else None
                return UnknownFieldError(
                    condition.field, _sort_by_similarity(path or condition.field, known_names), path
                )
    return None


def find_unknown_column(store: Store, name: str) -> UnknownFieldError | None:
    """Return an error if no document has this column; None if a document has it."""
    known_names = None if name in BUILT_IN_COLUMNS else store.suggest_filter_names(Condition(name, ("",)))
    # In an application's index, the name can also be that of an object, which matches the names of its subfields.
    if known_names is None or any(known == name or known.startswith(f"{name}.") for known in known_names):
        return None
    return UnknownFieldError(name, _sort_by_similarity(name, {*BUILT_IN_COLUMNS, *known_names}))


def _sort_by_similarity(name: str, known_names: Iterable[str]) -> list[str]:
    return sorted(known_names, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
