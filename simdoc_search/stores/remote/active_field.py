"""Chooses the object field of the fingerprints in the indices behind a name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.mappings import fields_of
from simdoc_search.stores.remote.schema import DEFAULT_FIELD


def only_fingerprint_field(mappings: Mapping[str, Mapping[str, Any]], location: str) -> str:
    """Return the only fingerprint field in these mappings, or the default name if there is none.

    Args:
        mappings: mappings by index.
        location: address of the engine and the name, for the message.

    Raises:
        StoreError: there are several fingerprint fields.
    """
    names = {name for mapping in mappings.values() for name in fingerprint_fields(mapping)}
    if len(names) > 1:
        raise StoreError(f"{location} has the fingerprint fields {', '.join(sorted(names))}; choose one with --field")
    return names.pop() if names else DEFAULT_FIELD


def fingerprint_fields(mapping: Mapping[str, Any]) -> list[str]:
    """Return the names of the object fields that hold fingerprints."""
    return [name for name in mapping.get("properties", {}) if {"tokens", "format"} <= fields_of(mapping, name).keys()]
