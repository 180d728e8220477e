"""Reads texts and fields of documents in the index of an application, and records which fields contain the text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.display import quote_command
from simdoc_search.errors import DocumentError, LocationError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import lacks_field, mapped_fields, mapping_at, shorten_list
from simdoc_search.stores.remote.queries import any_clause, exists_clause, randomize_order
from simdoc_search.stores.remote.schema import (
    MAX_META_ENTRIES,
    MAX_META_VALUE_LENGTH,
)

_META_KEY_PREFIX = "simdoc_text_"
_SAMPLE_SIZE = 100

_TYPES_WITHOUT_TEXT = frozenset(
    {"binary", "boolean", "byte", "completion", "date", "date_nanos", "dense_vector", "double", "float", "geo_point"}
    | {"geo_shape", "half_float", "integer", "ip", "knn_vector", "long", "scaled_float", "short", "unsigned_long"}
)
"""Types of fields that never contain text."""


def text_field_names(text_field: str | Sequence[str]) -> list[str]:
    """Return the fields that together form the text, in order."""
    return [text_field] if isinstance(text_field, str) else list(text_field)


def read_text(document: Mapping[str, Any], text_field: str | Sequence[str]) -> str | None:
    """Return the text of a document, or None if it has none.

    A name with dots can be the name of a single field, or a path into objects. The texts of several fields, of a list
    of strings, or of a list of objects are joined by line breaks. As in an engine, null and empty lists have no text.
    An empty string is a text without words.

    Raises:
        DocumentError: a value is neither a string nor a list of strings.
    """
    texts = [text for name in text_field_names(text_field) if (text := _read_text_at(document, name)) is not None]
    return "\n".join(texts) if texts else None


def has_text(source: Mapping[str, Any], text_fields: str | Sequence[str]) -> bool:
    """Return whether a document has a value in one of these fields, even if the value is not a string."""
    try:
        return read_text(source, text_fields) is not None
    except DocumentError:
        return True


def source_paths(fields: Sequence[str], *, is_simdoc_index: bool) -> list[str]:
    """Return the paths of fields in `_source`. In an index that simdoc-search created, they are in `metadata`."""
    return [f"metadata.{name}" for name in fields] if is_simdoc_index else [*fields]


def select_fields(document: Mapping[str, Any], fields: Sequence[str], *, is_simdoc_index: bool) -> dict[str, Any]:
    """Return the values of these fields of a document. Missing fields are omitted."""
    if not fields:
        return {}
    parent = document.get("metadata") if is_simdoc_index else document
    values = {name: _read_value_at(parent, name) for name in fields} if isinstance(parent, Mapping) else {}
    return {name: value for name, value in values.items() if value is not None}


def without_path(document: Mapping[str, Any], path: str) -> dict[str, Any]:
    """Return a document without the field at a path, whose name may contain dots."""
    remaining: dict[str, Any] = {}
    for name, value in document.items():
        if name == path or name.startswith(f"{path}."):
            continue
        is_parent = path.startswith(f"{name}.") and isinstance(value, Mapping)
        remaining[name] = without_path(value, path.removeprefix(f"{name}.")) if is_parent else value
    return remaining


def build_text_fields_mapping(mapping: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """Return the mapping of the subfield `text_hash`, with the names of the text fields in its `meta`.

    Names that were recorded earlier are removed. If there are too many new names, or if one is too long, none are
    recorded.
    """
    others = {key: value for key, value in mapping.get("meta", {}).items() if not key.startswith(_META_KEY_PREFIX)}
    meta = others | {f"{_META_KEY_PREFIX}{number}": name for number, name in enumerate(fields, 1)}
    fits = len(meta) <= MAX_META_ENTRIES and all(len(name) <= MAX_META_VALUE_LENGTH for name in fields)
    if "meta" not in mapping and not fits:
        return dict(mapping)
    return {**mapping, "meta": meta if fits else others}


def recorded_text_fields(mappings: Iterable[Mapping[str, Any]], field: str) -> list[str]:
    """Return the text fields that `build_text_fields_mapping` recorded, or none if the mappings differ."""
    metas = [mapped_fields(mapping, field).get("text_hash", {}).get("meta", {}) for mapping in mappings]
    recorded = {
        tuple(name for key, name in sorted(meta.items()) if key.startswith(_META_KEY_PREFIX)) for meta in metas
    } - {()}
    return list(recorded.pop()) if len(recorded) == 1 else []


def text_paths(properties: Mapping[str, Any], parent: str = "") -> Iterator[str]:
    """Yield the paths of all fields with the type `text`."""
    for name, field in properties.items():
        path = f"{parent}.{name}" if parent else name
        if field.get("type") == "text":
            yield path
        yield from text_paths(field.get("properties", {}), path)


def find_text_field_problem(mapping: Mapping[str, Any], text_field: str) -> str | None:
    """Return why a field cannot contain text in `_source`, and which field to use, or None if it can."""
    parent, _, last = text_field.rpartition(".")
    if parent and last in (mapping_at(mapping, parent) or {}).get("fields", {}):
        return f"{text_field} is a multi-field of {parent}; use {parent}"
    field = mapping_at(mapping, text_field) or {}
    if field.get("type") == "alias":
        return f"{text_field} is an alias of the field {field.get('path')}; use {field.get('path')}"
    if "properties" in field:
        paths = shorten_list(text_paths(field["properties"], text_field))
        return f"{text_field} is an object; choose a text field in it: {paths}"
    if field.get("type") in _TYPES_WITHOUT_TEXT:
        return f"{text_field} has the type {field['type']}; choose a text field"
    return None


def check_text_fields(
    text_fields: Sequence[str],
    mappings: Mapping[str, Mapping[str, Any]],
    field: str,
    location: str,
    *,
    is_simdoc_index: bool,
) -> None:
    """Raise a LocationError if a field cannot contain text, or the mappings record other text fields."""
    if is_simdoc_index and text_fields not in ([], ["body"]):
        raise LocationError(
            "in an index that `simdoc-search index` created, the texts are in the field `body`; omit --text-field"
        )
    for name in text_fields:
        for index, mapping in mappings.items():
            if reason := find_text_field_problem(mapping, name):
                raise LocationError(f"cannot read texts from the index {index}: {reason}")
        if all(lacks_field(mapping, name) for mapping in mappings.values()):
            paths = {path for mapping in mappings.values() for path in text_paths(mapping["properties"])}
            candidates = shorten_list(path for path in paths if not path.startswith(f"{field}."))
            raise LocationError(f"no document has a field {name}; choose a text field: {candidates}")
    recorded = [] if is_simdoc_index else recorded_text_fields(mappings.values(), field)
    if text_fields and recorded and [*text_fields] != recorded:
        old, new = " and ".join(recorded), " and ".join(text_fields)
        options = [part for name in text_fields for part in ("--text-field", name)]
        command = quote_command("backfill", location, *options, "--field", "NEW")
        raise LocationError(
            f"the fingerprints in the field {field} were computed from {old}, not {new}; omit --text-field, or compute "
            f"fingerprints of {new} in another field with `{command}`"
        )


def find_text_query(
    engine: Engine,
    index: str,
    mapping: Mapping[str, Any],
    text_fields: Sequence[str],
    clauses: Sequence[dict[str, Any]] = (),
) -> dict[str, Any] | None:
    """Return the query for documents with text in one of these fields. Return None if no query can find all of them.

    An `exists` query finds all values of an indexed text field except null and empty lists. It can miss values of other
    fields, for example in nested objects, so the result for such fields is None. It also misses documents that were
    written before the field was mapped. So a sample of the documents that it does not find is checked for text.
    """
    if not text_fields or not all(_is_indexed_text(mapping, name) for name in text_fields):
        return None
    query = any_clause(map(exists_clause, text_fields))
    others = randomize_order({"bool": {"filter": [*clauses], "must_not": [query]}})
    response = engine.search(index, {"query": others, "size": _SAMPLE_SIZE, "_source": [*text_fields]})
    return None if any(has_text(hit.get("_source") or {}, text_fields) for hit in response["hits"]["hits"]) else query


def _read_value_at(document: Mapping[str, Any], path: str) -> Any:
    value = document.get(path)
    return _follow_path(document, path.split(".")) if value is None else value


def _follow_path(value: Any, path_parts: list[str]) -> Any:
    """Return the value at a path below `value`. In a list of objects, collect their values, as an engine does."""
    if not path_parts or value is None:
        return value
    if isinstance(value, list):
        nested = [_follow_path(item, path_parts) for item in value]
        flat = [part for item in nested for part in (item if isinstance(item, list) else [item]) if part is not None]
        return flat or None
    return _follow_path(value.get(path_parts[0]), path_parts[1:]) if isinstance(value, Mapping) else None


def _read_text_at(document: Mapping[str, Any], name: str) -> str | None:
    value = _read_value_at(document, name)
    texts = [item for item in (value if isinstance(value, list) else [value]) if item is not None]
    for text in texts:
        if not isinstance(text, str):
            raise DocumentError(f"the field {name} contains {_describe_type(text)}, not text; choose a text field")
    return "\n".join(texts) if texts else None


def _describe_type(value: Any) -> str:
    """Describe the type of a value, with the words that the ingest pipeline uses."""
    if isinstance(value, Mapping):
        return "an object"
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return "a number" if is_number else "a value of another type"


def _is_indexed_text(mapping: Mapping[str, Any], path: str) -> bool:
    if mapping.get("_field_names", {}).get("enabled") is False:
        return False
    field = mapping
    for part in path.split("."):
        field = field.get("properties", {}).get(part, {})
        if field.get("type") == "nested" or field.get("enabled") is False:
            return False
    return field.get("type") == "text" and field.get("index", True) is not False
