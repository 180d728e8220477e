"""What the mappings of an index, or of all indices behind a name, say."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from simdoc_search.errors import LocationError, StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError

WHOLE_NUMBERS = frozenset({"short", "integer", "long"})

_IDS = {"keyword", *WHOLE_NUMBERS}
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
    return {name: each["mappings"] for name, each in found.items()} or None


def add_fields(engine: Engine, index: str, field: str, missing: Mapping[str, Any]) -> str:
    """Give an index what an object field lacks; no other field is touched.

    Returns:
        Why the engine does not take it; empty if it did.

    Raises:
        StoreError: the engine does not answer.
    """
    if not missing:
        return ""
    try:
        engine.call("PUT", [index, "_mapping"], {"properties": {field: {"dynamic": "false", "properties": missing}}})
    except RequestError as error:
        if error.status not in (400, 403, 500):  # 500: an object that was disabled
            raise
        return f"it does not take the mapping of {field} ({error})"
    return ""


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


def lacks_field(mapping: Mapping[str, Any], name: str) -> bool:
    """Whether no document can have a field: an engine that maps what comes has mapped nothing of it."""
    maps_all = str(mapping.get("dynamic", True)).lower() == "true"
    there = mapping.get("properties", {})
    return maps_all and bool(there) and name.partition(".")[0] not in there


def list_some(names: Iterable[str]) -> str:
    """Some names of fields of text, for a message."""
    found = sorted(names)
    return ", ".join(found[:5]) + (", ..." if len(found) > 5 else "") if found else "there is none"


def kind_of_ids(name: str, mappings: Iterable[Mapping[str, Any]]) -> str:
    """Of which type a field is that names documents; empty where no mapping says it.

    Raises:
        LocationError: it can name none, and the message what to name instead.
    """
    known = list(mappings)
    kinds = {_form_at(each, name).get("type", "") for each in known} - {""}
    if "text" in kinds:
        raise LocationError(f"{name} is text, by which no document is found as a whole; name a keyword field of ids")
    if not kinds and all(lacks_field(each, name) for each in known):
        there = {path for each in known for path, field in each["properties"].items() if field.get("type") in _IDS}
        raise LocationError(f"no document has a field {name}; name a field of ids: {list_some(there)}")
    return str(min(kinds, default=""))


def _form_at(mapping: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The mapping of a field, or of another form of one (`uuid.keyword`)."""
    parent, _, last = name.rpartition(".")
    forms = (mapping_at(mapping, parent) or {}).get("fields", {}) if parent else {}
    return mapping_at(mapping, name) or dict(forms.get(last, {}))


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
