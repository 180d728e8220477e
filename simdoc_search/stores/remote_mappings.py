"""What the mappings of an index, or of all indices behind a name, say."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote_schema import settings_of
from simdoc_search.stores.rest import Engine

__all__ = ["WHOLE_NUMBERS", "common_settings", "count_fields", "fields_left", "fields_of", "mapping_at", "mappings_of"]

WHOLE_NUMBERS = frozenset({"short", "integer", "long"})

_DEFAULT_FIELD_LIMIT = 1000


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
        tokens = fields_of(mapping, field).get("tokens")
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


def fields_of(mappings: Mapping[str, Any], field: str) -> dict[str, Any]:
    """The mapping of what is below an object field."""
    below: dict[str, Any] = mappings.get("properties", {}).get(field, {}).get("properties", {})
    return below


def mapping_at(mappings: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """The mapping of a field; None where it has none of its own, as below a disabled object."""
    place: Any = mappings
    for part in path.split("."):
        place = place.get("properties", {}).get(part)
        if place is None:
            return None
    return dict(place)


def count_fields(properties: Mapping[str, Any]) -> int:
    """How many fields an engine counts against its limit: objects and other forms of a field too."""
    return sum(
        1 + count_fields(each.get("properties", {})) + count_fields(each.get("fields", {}))
        for each in properties.values()
    )


def fields_left(mappings: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[int, int]:
    """How many fields an index may still get, and how many it may have."""
    limit = int(settings.get("mapping", {}).get("total_fields", {}).get("limit", _DEFAULT_FIELD_LIMIT))
    return limit - count_fields(mappings.get("properties", {})), limit
