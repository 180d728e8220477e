"""Reads and extends the mappings of indices."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from simdoc_search.errors import LocationError, StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError

INTEGER_TYPES = frozenset({"short", "integer", "long"})
"""Types of fields for integers."""

_ID_TYPES = {"keyword", *INTEGER_TYPES}
_DEFAULT_FIELD_LIMIT = 1000


def read_mappings(engine: Engine, index: str) -> dict[str, dict[str, Any]] | None:
    """Return the mapping of each index behind a name, or None if there is no index. See `Engine.call` for errors."""
    try:
        response = engine.call("GET", [index, "_mapping"])
    except StoreNotFoundError:
        return None
    return {name: values["mappings"] for name, values in response.items()} or None


def read_index_settings(engine: Engine, index: str) -> dict[str, Mapping[str, Any]] | None:
    """Return the `index` part of the settings of each index behind a name, including closed indices.

    Return None if the engine does not allow reading them. Raises the errors of `Engine.call`.
    """
    response = engine.call("GET", [index, "_settings"], expand_wildcards="open,closed", allowed_statuses=(403,))
    return (
        None if response is None else {name: values["settings"].get("index", {}) for name, values in response.items()}
    )


def add_fields(engine: Engine, index: str, field: str, missing_fields: Mapping[str, Any]) -> str:
    """Add fields to an object field of an index. Return why the engine rejects them, or an empty string."""
    if not missing_fields:
        return ""
    try:
        engine.call(
            "PUT", [index, "_mapping"], {"properties": {field: {"dynamic": "false", "properties": missing_fields}}}
        )
    except RequestError as error:
        if error.status not in (400, 403, 500):  # engines respond with 500 if the object field is disabled
            raise
        return f"the index does not accept the mapping of {field} ({error})"
    return ""


def mapped_fields(mapping: Mapping[str, Any], field: str) -> dict[str, Any]:
    """Return the mappings of the fields in an object field, by name."""
    fields: dict[str, Any] = mapping.get("properties", {}).get(field, {}).get("properties", {})
    return fields


def mapping_at(mapping: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return the mapping of a field by its path, or None if it is not mapped."""
    field: Any = mapping
    for part in path.split("."):
        field = field.get("properties", {}).get(part)
        if field is None:
            return None
    return dict(field)


def leaf_field_paths(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    """Yield the paths of all fields that are not objects."""
    for name, field in mapping.get("properties", {}).items():
        if "properties" in field:
            yield from leaf_field_paths(field, f"{prefix}{name}.")
        else:
            yield prefix + name


def nested_path(mapping: Mapping[str, Any], path: str) -> str | None:
    """Return the path of the innermost `nested` object that contains a field, or None."""
    parts = path.split(".")
    objects = [".".join(parts[:length]) for length in range(1, len(parts) + 1)]
    return next((name for name in reversed(objects) if (mapping_at(mapping, name) or {}).get("type") == "nested"), None)


def field_or_multi_field(mapping: Mapping[str, Any], path: str) -> Mapping[str, Any] | None:
    """Return the mapping of a field, or of a multi-field such as `uuid.keyword`."""
    parent, _, last = path.rpartition(".")
    multi_fields = (mapping_at(mapping, parent) or {}).get("fields", {}) if parent else {}
    return mapping_at(mapping, path) or multi_fields.get(last)


def max_indexed_length(path: str, mappings: Iterable[Mapping[str, Any]]) -> int | None:
    """Return the length of the longest value of a field that queries find, in characters; None without a limit."""
    limits = ((field_or_multi_field(mapping, path) or {}).get("ignore_above") for mapping in mappings)
    return min((int(limit) for limit in limits if limit is not None), default=None)


def lacks_field(mapping: Mapping[str, Any], path: str) -> bool:
    """Return whether no document can have a field: it is not mapped, and the engine maps or rejects each new field."""
    allows_unmapped = str(mapping.get("dynamic", True)).lower() not in ("true", "strict")
    fields = mapping.get("properties", {})
    return not allows_unmapped and bool(fields) and path.partition(".")[0] not in fields


def id_field_type(path: str, mappings: Iterable[Mapping[str, Any]]) -> str:
    """Return the type of a field that contains ids. It is empty if no mapping has the field.

    Raises:
        LocationError: the field cannot identify documents. The message lists fields that can.
    """
    all_mappings = list(mappings)
    types = {(field_or_multi_field(mapping, path) or {}).get("type", "") for mapping in all_mappings} - {""}
    if "text" in types:
        raise LocationError(
            f"the field {path} has the type text, which cannot identify documents; choose a keyword field with ids"
        )
    if not types and all(lacks_field(mapping, path) for mapping in all_mappings):
        fields = [item for mapping in all_mappings for item in mapping["properties"].items()]
        names = {name for name, field in fields if field.get("type") in _ID_TYPES}
        raise LocationError(f"no document has a field {path}; choose a field with ids: {shorten_list(names)}")
    return str(min(types, default=""))


def count_fields(properties: Mapping[str, Any]) -> int:
    """Return the number of fields. Objects and multi-fields are included, because they count towards the limit."""
    return sum(
        1 + count_fields(field.get("properties", {})) + count_fields(field.get("fields", {}))
        for field in properties.values()
    )


def count_remaining_fields(mapping: Mapping[str, Any], settings: Mapping[str, Any]) -> tuple[int, int]:
    """Return the number of fields that can be added to an index, and its field limit."""
    limit = int(settings.get("mapping", {}).get("total_fields", {}).get("limit", _DEFAULT_FIELD_LIMIT))
    return limit - count_fields(mapping.get("properties", {})), limit


def shorten_list(names: Iterable[str], *, if_empty: str = "the mapping has none") -> str:
    """Return the first five names in alphabetical order, for a message. If there are no names, return `if_empty`."""
    ordered = sorted(names)
    return ", ".join(ordered[:5]) + (", ..." if len(ordered) > 5 else "") if ordered else if_empty
