"""What makes an index unfit for our field: blocks, an incomplete `_source`, a mapping in the way, no text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simdoc_search.actions import text_of
from simdoc_search.backfill.task import Task, UnfitIndexError
from simdoc_search.errors import DocumentError
from simdoc_search.stores.remote_mappings import WHOLE_NUMBERS, count_fields, fields_left, fields_of, mapping_at
from simdoc_search.stores.remote_schema import settings_of
from simdoc_search.stores.rest import Engine
from simdoc_search.stores.templates import component_template

__all__ = ["blocked", "check_fit"]

_BLOCKS = ("read_only", "read_only_allow_delete", "write", "read", "metadata")
_COMPARED = ("type", "analyzer", "search_analyzer", "similarity", "index")
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
"""Documents that are read to see whether one has the text, where the mapping does not say."""


def check_fit(engine: Engine, index: str, found: Mapping[str, Any], task: Task) -> None:
    """See whether an index, as the engine describes it, is fit for a task.

    Raises:
        UnfitIndexError: it is not; the first reason why.
        FormatMismatchError: its field has no settings, or those of a newer version.
        StoreError: the engine does not answer.
    """
    mappings, settings = found["mappings"], found["settings"]["index"]
    problems = [
        _closed_orblocked(settings),
        _source(mappings, settings),
        _field(mappings, task.field),
        _field_limit(mappings, settings, task.field),
        _text(mappings, task.text_field),
    ]
    if reason := next(filter(None, problems), None):
        raise UnfitIndexError(reason)
    if tokens := fields_of(mappings, task.field).get("tokens"):
        settings_of(tokens.get("meta", {}))  # raises if it has none
    if mapping_at(mappings, task.text_field) is None:
        _look_for_text(engine, index, mappings, task)


def _closed_orblocked(settings: Mapping[str, Any]) -> str | None:
    if settings.get("verified_before_close") == "true":
        return "it is closed; open it first"
    blocks = settings.get("blocks", {})
    return next((blocked(name) for name in _BLOCKS if str(blocks.get(name)) == "true"), None)


def blocked(name: str) -> str:
    """What is said of an index with a block."""
    full = ", which a full disk sets," if name == "read_only_allow_delete" else ""
    return f"it has the block index.blocks.{name}{full} so nothing can be done in it; remove the block first"


def _source(mappings: Mapping[str, Any], settings: Mapping[str, Any]) -> str | None:
    """Whether a partial update, which writes anew what `_source` has, would lose something."""
    source = mappings.get("_source", {})
    mode = source.get("mode") or settings.get("mapping", {}).get("source", {}).get("mode")
    if source.get("enabled") is False or mode == "disabled":
        return "its _source is disabled, so there is no text to read and nothing to update; reindex with _source"
    if source.get("excludes") or source.get("includes"):
        return (
            "its _source leaves fields out, which a partial update would destroy; reindex into an index that keeps all"
        )
    derived = str(settings.get("derived_source", {}).get("enabled")) == "true"
    if mode == "synthetic" or derived or settings.get("mode") in {"time_series", "logsdb"}:
        return "its _source is put together from fields, and an update would not keep it as it is; reindex with _source"
    return None


def _field(mappings: Mapping[str, Any], field: str) -> str | None:
    """Whether our name is taken by something else."""
    there = mappings.get("properties", {}).get(field)
    if mappings.get("subobjects") is False:
        return "its mapping takes no objects (subobjects is false); reindex without that setting"
    if there is None:
        return None
    if there.get("type", "object") != "object" or there.get("enabled") is False:
        kind = "a disabled object" if there.get("enabled") is False else there["type"]
        return f"its field {field} is {kind}; choose another name"
    below = there.get("properties", {})
    if "facts" in below:
        return "it was made by simdoc-search index; use that to bring it up to date"
    wanted = component_template(None, field)["template"]["mappings"]["properties"][field]["properties"]
    for name in sorted(below.keys() & wanted.keys()):
        if key := _difference(below[name], wanted[name]):
            has, needs = below[name].get(key), wanted[name].get(key)
            return f"its {field}.{name} has {key} {has!r}, not {needs!r}; put the template, then reindex"
    return None


def _difference(has: Mapping[str, Any], needs: Mapping[str, Any]) -> str | None:
    """The first setting of a field by which it is not what we need."""
    if {has.get("type"), needs["type"]} <= WHOLE_NUMBERS:
        return None
    return next((key for key in _COMPARED if has.get(key) != needs.get(key)), None)


def _field_limit(mappings: Mapping[str, Any], settings: Mapping[str, Any], field: str) -> str | None:
    properties = mappings.get("properties", {})
    wanted = component_template(None, field)["template"]["mappings"]["properties"]
    left, limit = fields_left(mappings, settings)
    needed = count_fields(wanted) - count_fields({field: properties[field]} if field in properties else {})
    if left < needed:
        return f"{max(left, 0)} of {limit} fields are left for {needed}; raise index.mapping.total_fields.limit"
    return None


def _text(mappings: Mapping[str, Any], text_field: str) -> str | None:
    """Whether the mapping says that the field is no text that stands in `_source`."""
    parent, _, last = text_field.rpartition(".")
    if parent and last in (mapping_at(mappings, parent) or {}).get("fields", {}):
        return f"{text_field} is another form of the field {parent}; name {parent}"
    there = mapping_at(mappings, text_field) or {}
    if there.get("type") == "alias":
        return f"{text_field} is another name of the field {there.get('path')}; name {there.get('path')}"
    if "properties" in there:
        return (
            f"{text_field} is an object; name a field of text in it: {_some(_texts(there['properties'], text_field))}"
        )
    if there.get("type") in _NO_TEXT:
        return f"{text_field} is {there['type']}, not text; name a field of text"
    return None


def _look_for_text(engine: Engine, index: str, mappings: Mapping[str, Any], task: Task) -> None:
    """A misspelt field must not mark all documents as empty. Raises UnfitIndexError if none has it."""
    text_field = task.text_field
    body = {"size": _LOOKED_AT, "_source": [text_field], "query": {"match_all": {}}}
    hits = engine.call("POST", [index, "_search"], body)["hits"]["hits"]
    if hits and not any(_has_text(hit["_source"], text_field) for hit in hits):
        others = {name: each for name, each in mappings.get("properties", {}).items() if name != task.field}
        raise UnfitIndexError(
            f"no field {text_field} is in its mapping or its documents; it has {_some(_texts(others))}"
        )


def _has_text(source: dict[str, Any], text_field: str) -> bool:
    try:
        return text_of(source, text_field) is not None
    except DocumentError:
        return True  # each such document is refused with this reason


def _texts(properties: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The names of all fields of text."""
    for name, each in properties.items():
        path = f"{above}.{name}" if above else name
        if each.get("type") == "text":
            yield path
        yield from _texts(each.get("properties", {}), path)


def _some(names: Iterator[str]) -> str:
    found = sorted(names)
    return ", ".join(found[:5]) + (", ..." if len(found) > 5 else "") if found else "no fields of text"
