"""Checks whether a store has the requested settings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.settings import Settings


def check_settings(stored: Settings, requested: Settings | None, location: str) -> None:
    """Raise a FormatMismatchError that lists the settings that differ from the requested ones, if any are given."""
    if requested is None or stored.satisfies(requested):
        return
    found, expected = (
        stored.to_dict(),
        replace(requested, indexes_word_pairs=stored.indexes_word_pairs, thresholds=stored.thresholds).to_dict(),
    )
    stored_values, requested_values = _flatten(found), _flatten(expected)
    differences = "; ".join(
        f"{key} {stored_values.get(key)!r}, not {requested_values.get(key)!r}"
        for key in stored_values | requested_values
        # the version is not compared, because it depends on the other values
        if key != "version" and stored_values.get(key) != requested_values.get(key)
    )
    raise FormatMismatchError(
        f"the index {location} was created with {differences}; omit the settings that differ, or index into a new "
        "index",
        found=found,
        expected=expected,
    )


def _flatten(values: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for key, value in values.items():
        flat |= _flatten(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return flat
