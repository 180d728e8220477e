"""Finds unknown fields and wildcards in filters, and unknown columns. Suggests known names."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import SequenceMatcher

from simdoc_search.errors import FormatMismatchError, QuerySyntaxError, UnknownFieldError
from simdoc_search.search.columns import BUILT_IN_COLUMNS
from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import ORIGIN_FIELD
from simdoc_search.stores.filters import Condition, Filters, FilterValue, parse_filters


def find_filter_error(store: Store, filters: Filters | None) -> UnknownFieldError | QuerySyntaxError | None:
    """Return an error for the first filter that cannot match as the user expects; None if there is none.

    No document has its field, or its path, or its value with `*`, which the user may have meant as a wildcard.
    """
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
            for value in condition.values:
                if "*" in str(value) and not _may_have_value(store, condition.field, value):
                    return QuerySyntaxError(
                        f"no document has the value {value!r:.200} in the field {condition.field!r}, and filters have "
                        "no wildcards; write the whole value"
                    )
    return None


def _may_have_value(store: Store, field: str, value: FilterValue) -> bool:
    try:
        return next(store.scan(filters={field: value}), None) is not None
    except FormatMismatchError:  # a field of the engine's min_hash filter cannot be scanned
        return True


def find_unknown_column(store: Store, name: str) -> UnknownFieldError | None:
    """Return an error if no document has this column; None if a document has it."""
    known_names = None if name in BUILT_IN_COLUMNS else store.suggest_filter_names(Condition(name, ("",)))
    # In an application's index, the name can also be that of an object, which matches the names of its subfields.
    if known_names is None or any(known == name or known.startswith(f"{name}.") for known in known_names):
        return None
    return UnknownFieldError(name, _sort_by_similarity(name, {*BUILT_IN_COLUMNS, *known_names}))


def _sort_by_similarity(name: str, known_names: Iterable[str]) -> list[str]:
    return sorted(known_names, key=lambda other: (-SequenceMatcher(None, name, other).ratio(), other))
