"""What a document has in its fields, as they stand in its `_source`: a text, or anything."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from simdoc_search.errors import DocumentError, StoreError

_NOTE = "simdoc_text_"
_MAX_ENTRIES, _MAX_VALUE = 5, 50
"""Of a field's `meta`: entries, and characters of a value."""


def names_of_fields(text_field: str | Sequence[str]) -> list[str]:
    """The fields that make up a text, in their order."""
    return [text_field] if isinstance(text_field, str) else list(text_field)


def text_of(document: Mapping[str, Any], text_field: str | Sequence[str]) -> str | None:
    """The text of a document: at a key with dots in it, or in objects; None if there is none.

    A list of texts, what a field holds in each of a list of objects, and several fields are one text, line by line.
    A field that is absent or null has no text, and neither has an empty list, as engines see it. An empty string is a
    text without words.

    Raises:
        DocumentError: what is there is neither a string nor a list of strings.
    """
    found = [_text_at(document, name) for name in names_of_fields(text_field)]
    texts = [each for each in found if each is not None]
    return "\n".join(texts) if texts else None


def with_text_fields(text_hash: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """The mapping of our `text_hash`, with a note in its `meta` of the fields that its texts are from, if it has room.

    A note of other fields goes in any case.
    """
    others = {key: each for key, each in text_hash.get("meta", {}).items() if not key.startswith(_NOTE)}
    meta = others | {f"{_NOTE}{number}": name for number, name in enumerate(fields, 1)}
    fits = len(meta) <= _MAX_ENTRIES and all(len(name) <= _MAX_VALUE for name in fields)
    if "meta" not in text_hash and not fits:
        return dict(text_hash)
    return {**text_hash, "meta": meta if fits else others}


def noted_text_fields(mappings: Iterable[Mapping[str, Any]], field: str) -> list[str]:
    """The fields that such notes name, in the mappings of all indices behind a name; none if notes differ."""
    metas = [_text_hash(each, field).get("meta", {}) for each in mappings]
    notes = {tuple(name for key, name in sorted(meta.items()) if key.startswith(_NOTE)) for meta in metas} - {()}
    return list(notes.pop()) if len(notes) == 1 else []


def known_text_fields(mappings: Iterable[Mapping[str, Any]], field: str, location: str) -> tuple[str, ...]:
    """The same, where something must be known.

    Raises:
        StoreError: no note says it, or not all the same.
    """
    noted = noted_text_fields(mappings, field)
    if not noted:
        raise StoreError(f"nothing says which field of {location} has the text; name it with --text-field")
    return tuple(noted)


def parts_of(fields: Sequence[str], *, own: bool) -> list[str]:
    """What must be loaded of a document for its fields; in an index of our own they are those of its metadata."""
    return [f"metadata.{each}" for each in fields] if own else [*fields]


def fields_of(document: Mapping[str, Any], fields: Sequence[str], *, own: bool) -> dict[str, Any]:
    """What a document has in these fields; those that it lacks are left out."""
    if not fields:
        return {}
    place = document.get("metadata") if own else document
    found = {name: _value_at(place, name) for name in fields} if isinstance(place, Mapping) else {}
    return {name: value for name, value in found.items() if value is not None}


def _value_at(document: Mapping[str, Any], name: str) -> Any:
    """What a document has in a field: at a key with dots in it, or in objects; of a list of objects a list; or None."""
    value = document.get(name)
    return _below(document, name.split(".")) if value is None else value


def _text_at(document: Mapping[str, Any], name: str) -> str | None:
    value = _value_at(document, name)
    if isinstance(value, list):
        parts = [each for each in value if each is not None]
        if all(isinstance(each, str) for each in parts):
            return "\n".join(parts) if parts else None
    if value is not None and not isinstance(value, str):
        raise DocumentError(f"the field {name} holds {type(value).__name__}, not text; name a field of text")
    return value


def _below(value: Any, parts: list[str]) -> Any:
    """What a path leads to; engines take the values in a list of objects as those of one field."""
    if not parts or value is None:
        return value
    if isinstance(value, list):
        found = [_below(each, parts) for each in value]
        flat = [part for each in found for part in (each if isinstance(each, list) else [each]) if part is not None]
        return flat or None
    return _below(value.get(parts[0]), parts[1:]) if isinstance(value, Mapping) else None


def _text_hash(mappings: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    ours = mappings.get("properties", {}).get(field, {}).get("properties", {})
    return dict(ours.get("text_hash", {}))
