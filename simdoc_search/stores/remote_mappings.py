"""What the mappings of an index, or of all indices behind a name, say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote_schema import settings_of
from simdoc_search.stores.rest import Engine

__all__ = ["common_settings", "mappings_of"]


def mappings_of(engine: Engine, index: str) -> dict[str, dict[str, Any]] | None:
    """The mappings of each index behind a name, or None if there is none.

    Raises:
        StoreError: no engine answers.
    """
    try:
        found = engine.call("GET", [index, "_mapping"])
    except StoreNotFoundError:
        return None
    if not all(isinstance(each, dict) and "mappings" in each for each in found.values()):
        raise StoreError(f"what answers at {engine.name} is no OpenSearch or Elasticsearch; check the address")
    return {name: each["mappings"] for name, each in found.items()} or None


def common_settings(mappings: Mapping[str, Mapping[str, Any]], field: str, location: str) -> Settings:
    """The settings that all indices behind a name say in the `meta` of our field.

    Raises:
        StoreError: one of them has no such field.
        FormatMismatchError: they differ, or are of a newer version.
    """
    found: dict[str, Settings] = {}
    for index, mapping in mappings.items():
        tokens = mapping.get("properties", {}).get(field, {}).get("properties", {}).get("tokens")
        if tokens is None:
            raise StoreError(
                f"the index {index} of {location} has no field {field}.tokens; see simdoc-search template show"
            )
        found[index] = settings_of(tokens.get("meta", {}))
    first, *others = found.items()
    for index, settings in others:
        if settings != first[1]:
            raise FormatMismatchError(
                f"{first[0]} and {index} have fingerprints of different settings; ask them apart",
                found=settings.to_dict(),
                expected=first[1].to_dict(),
            )
    return first[1]
