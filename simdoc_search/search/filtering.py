"""Why does a filter leave nothing? A field that no document has is said; its like is named."""

from __future__ import annotations

from difflib import SequenceMatcher

from simdoc_search.errors import UnknownFieldError
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Condition, Filters, conditions

__all__ = ["unknown_field"]


def unknown_field(store: Store, filters: Filters | None) -> UnknownFieldError | None:
    """The error for the first filter whose field, or whose path, no document has; None if there is none."""
    for condition in conditions(filters):
        if isinstance(condition, Condition) and condition.values and not condition.excluded:
            there = store.alternatives(condition)
            if there is not None:
                asked = str(condition.values[0]) if condition.field == "path" else condition.field
                likeness = {each: SequenceMatcher(None, asked, each).ratio() for each in there}
                return UnknownFieldError(
                    condition.field,
                    sorted(there, key=lambda each: (-likeness[each], each)),
                    asked if condition.field == "path" else None,
                )
    return None
