"""What a document has in its fields, as they stand in its `_source`: a text, or anything."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.errors import DocumentError, LocationError, StoreError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.mappings import fields_of, lacks_field, list_some, mapping_at
from simdoc_search.stores.remote.queries import in_random_order
from simdoc_search.stores.remote.schema import DEFAULT_FIELD

_NOTE = "simdoc_text_"
_MAX_ENTRIES, _MAX_VALUE = 5, 50
"""Of a field's `meta`: entries, and characters of a value."""


def text_field_names(text_field: str | Sequence[str]) -> list[str]:
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
    found = [_text_at(document, name) for name in text_field_names(text_field)]
    texts = [each for each in found if each is not None]
    return "\n".join(texts) if texts else None


def record_text_fields(text_hash: Mapping[str, Any], fields: Sequence[str]) -> dict[str, Any]:
    """The mapping of our `text_hash`, with a note in its `meta` of the fields that its texts are from, if it has room.

    A note of other fields goes in any case.
    """
    others = {key: each for key, each in text_hash.get("meta", {}).items() if not key.startswith(_NOTE)}
    meta = others | {f"{_NOTE}{number}": name for number, name in enumerate(fields, 1)}
    fits = len(meta) <= _MAX_ENTRIES and all(len(name) <= _MAX_VALUE for name in fields)
    if "meta" not in text_hash and not fits:
        return dict(text_hash)
    return {**text_hash, "meta": meta if fits else others}


def recorded_text_fields(mappings: Iterable[Mapping[str, Any]], field: str) -> list[str]:
    """The fields that such notes name, in the mappings of all indices behind a name; none if notes differ."""
    metas = [_text_hash(each, field).get("meta", {}) for each in mappings]
    notes = {tuple(name for key, name in sorted(meta.items()) if key.startswith(_NOTE)) for meta in metas} - {()}
    return list(notes.pop()) if len(notes) == 1 else []


def require_text_fields(mappings: Iterable[Mapping[str, Any]], field: str, location: str) -> tuple[str, ...]:
    """The same, where something must be known.

    Raises:
        StoreError: no note says it, or not all the same.
    """
    noted = recorded_text_fields(mappings, field)
    if not noted:
        raise StoreError(f"nothing says which field of {location} has the text; name it with --text-field")
    return tuple(noted)


def source_paths(fields: Sequence[str], *, own: bool) -> list[str]:
    """What must be loaded of a document for its fields; in an index of our own they are those of its metadata."""
    return [f"metadata.{each}" for each in fields] if own else [*fields]


def select_fields(document: Mapping[str, Any], fields: Sequence[str], *, own: bool) -> dict[str, Any]:
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


def text_paths(properties: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of all fields of text."""
    for name, each in properties.items():
        path = f"{above}.{name}" if above else name
        if each.get("type") == "text":
            yield path
        yield from text_paths(each.get("properties", {}), path)


def why_not_text(mappings: Mapping[str, Any], text_field: str) -> str | None:
    """Why a field is no text that stands in `_source`, if the mapping says so, and what to name instead."""
    parent, _, last = text_field.rpartition(".")
    if parent and last in (mapping_at(mappings, parent) or {}).get("fields", {}):
        return f"{text_field} is another form of the field {parent}; name {parent}"
    there = mapping_at(mappings, text_field) or {}
    if there.get("type") == "alias":
        return f"{text_field} is another name of the field {there.get('path')}; name {there.get('path')}"
    if "properties" in there:
        inside = list_some(text_paths(there["properties"], text_field))
        return f"{text_field} is an object; name a field of text in it: {inside}"
    if there.get("type") in _NO_TEXT:
        return f"{text_field} is {there['type']}, not text; name a field of text"
    return None


def check_text_fields(
    text_fields_asked: Sequence[str], mappings: Mapping[str, Mapping[str, Any]], field: str, *, own: bool
) -> None:
    """See whether texts can be read from these fields of the indices behind a name.

    Raises:
        LocationError: the mappings say that they cannot, and the message what to name instead.
    """
    if own and text_fields_asked not in ([], ["body"]):
        raise LocationError("an index that simdoc-search index made has its texts in body; leave out --text-field")
    for name in text_fields_asked:
        for index, each in mappings.items():
            if reason := why_not_text(each, name):
                raise LocationError(f"{index}: {reason}")
        if all(lacks_field(each, name) for each in mappings.values()):
            inside = {path for each in mappings.values() for path in text_paths(each["properties"])}
            others = list_some(path for path in inside if not path.startswith(f"{field}."))
            raise LocationError(f"no document has a field {name}; name a field of text: {others}")


_NO_TEXT = frozenset(
    {
        "long",
        "integer",
        "short",
        "byte",
        "double",
        "float",
        "half_float",
        "scaled_float",
        "unsigned_long",
        "date",
        "date_nanos",
        "boolean",
        "binary",
        "ip",
        "geo_point",
        "geo_shape",
        "completion",
        "dense_vector",
        "knn_vector",
    }
)


_LOOKED_AT = 100
"""Documents that an engine finds no text in, of which we see whether they have one."""

Query = dict[str, Any]


def text_query(
    engine: Engine, index: str, mappings: Mapping[str, Any], text_fields: Sequence[str], chosen: Sequence[Query] = ()
) -> Query | None:
    """The query of documents that have a text in one of these fields; None: no query of this index tells it.

    An engine finds a value by `exists` where it is indexed as text: an empty string, but not null or an empty list.
    It does not where the field is in a nested or disabled object, is a keyword or is not mapped. Nor does it find the
    text of a document that is older than the mapping of the field, so some documents without a text are looked at.

    Raises:
        StoreError: the engine does not answer.
    """
    if not text_fields or not all(_is_indexed_text(mappings, name) for name in text_fields):
        return None
    there: Query = {
        "bool": {"should": [{"exists": {"field": name}} for name in text_fields], "minimum_should_match": 1}
    }
    without = {"bool": {"filter": [*chosen], "must_not": [there]}}
    hits = engine.search(index, {"query": in_random_order(without), "size": _LOOKED_AT, "_source": [*text_fields]})[
        "hits"
    ]["hits"]
    return None if any(has_text(hit.get("_source") or {}, text_fields) for hit in hits) else there


def _is_indexed_text(mappings: Mapping[str, Any], name: str) -> bool:
    if mappings.get("_field_names", {}).get("enabled") is False:
        return False
    place: Mapping[str, Any] = mappings
    for part in name.split("."):
        place = place.get("properties", {}).get(part, {})
        if place.get("type") == "nested" or place.get("enabled") is False:
            return False
    return place.get("type") == "text" and place.get("index", True) is not False


def has_text(source: Mapping[str, Any], text_fields: str | Sequence[str]) -> bool:
    """Whether a document has a text in these fields, or what is no text and is to be refused."""
    try:
        return text_of(source, text_fields) is not None
    except DocumentError:
        return True


_USUAL = ("body", "text", "content", "fulltext", "full_text", "message", "description")
"""Names under which applications keep the text of a document."""


def backfill_command(mappings: Iterable[Mapping[str, Any]], field: str, location: str, more: str = "") -> str:
    """The command, for a sentence.

    Args:
        mappings: of all indices behind the name. The text fields that one of them notes are proposed, else a guess.
        field: the object field of the fingerprints.
        location: the address of the engine, and the name.
        more: further options.
    """
    known = list(mappings)
    noted = recorded_text_fields(known, field)
    there = list(dict.fromkeys(name for each in known for name in _text_fields(each, field)))
    texts = noted or [min(there, key=_unlikely, default="FIELD")]
    named = "".join(f" --text-field {each}" for each in texts)
    ours = "" if field == DEFAULT_FIELD else f" --field {field}"
    guessed = ""
    if len(there) == 1 and not noted:
        guessed = f" (a guess: {there[0]} is the only text field of the mapping)"
    elif there and not noted:
        guessed = f" ({texts[0]} is a guess; the text fields of the mapping are {list_some(there)})"
    return f"run simdoc-search backfill {location}{named}{ours}{more and f' {more}'}{guessed}"


def _text_fields(mapping: Mapping[str, Any], field: str) -> list[str]:
    """The fields of text but those of fingerprints."""
    there = mapping.get("properties", {})
    return list(text_paths({name: there[name] for name in there if not _is_ours(mapping, name, field)}))


def _is_ours(mapping: Mapping[str, Any], name: str, field: str) -> bool:
    return name == field or {"tokens", "format"} <= fields_of(mapping, name).keys()


def _unlikely(name: str) -> tuple[bool, int, int]:
    """Less for a field that is more likely to have the text."""
    last = name.rpartition(".")[2].lower()
    return last not in _USUAL, name.count("."), _USUAL.index(last) if last in _USUAL else 0
