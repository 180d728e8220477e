"""Is an answer one of an engine, and is it whole? Checked before anything is read from it.

A shape says the least that we rely on: a type; a list of shapes that each part fits; a dict of keys, where `?` ends one
that may be missing and `...` stands for any key; or a function that says whether a value fits.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simdoc_search.stores.remote.faults import RequestError, is_no_engine, one_line, reason_in

__all__ = ["check", "check_whole"]


def check(name: str, method: str, path: Sequence[str], body: Any, answer: Any) -> None:
    """Check what an engine answers to a request.

    Args:
        name: what messages call the engine.
        method: of the request.
        path: its parts.
        body: what was sent.
        answer: from JSON.

    Raises:
        RequestError: it is the answer of a part of the shards.
        StoreError: it is none that an engine gives.
    """
    kind = _kind(path) if method in ("GET", "POST") else ""
    if kind not in _OF_DOCUMENTS and _is_deep(answer):
        raise is_no_engine(name, f"its answer has more than {_DEEPEST} levels")
    shapes = [_SHAPES.get(kind, dict), _asked_for(body) if kind == "_search" and isinstance(body, Mapping) else {}]
    if found := next(filter(None, (_misfit(answer, each, "it") for each in shapes)), None):
        raise is_no_engine(name, f"{one_line(found)} is missing or of another kind")
    # Where hits are not to be counted, a search may end early, as soon as it has enough of them.
    counted = isinstance(body, Mapping) and body.get("track_total_hits") is True
    if kind in _WHOLE:
        check_whole(name, answer, counted=counted)
    if kind == "_search" and counted:
        total, size = answer["hits"].get("total", {}).get("value"), body.get("size", 10)
        expected = None if total is None else min(total, size)
        if expected is None or ("search_after" not in body and len(answer["hits"]["hits"]) != expected):
            raise is_no_engine(name, "hits are missing, or not counted")


def check_whole(name: str, answer: Mapping[str, Any], *, counted: bool = False) -> None:
    """Refuse the answer of a part of the shards, or one that ended early though it was to count.

    Raises:
        RequestError: it is one.
    """
    shards = answer.get("_shards") or {}
    failures = [each for each in shards.get("failures") or () if isinstance(each, Mapping)]
    # Those that an engine need not ask count as successful.
    if shards.get("failed") or shards.get("successful", 0) < shards.get("total", 0):
        reason = reason_in({"error": failures[0].get("reason")})[1] if failures else "shards are missing"
    elif answer.get("timed_out") or (counted and answer.get("terminated_early")):
        reason = "it took too long"
    elif (answer.get("_clusters") or {}).get("skipped"):
        reason = "a remote cluster is missing"
    else:
        return
    status = failures[0].get("status") if failures else None
    raise RequestError(
        f"{name} could answer only for a part of the documents ({reason}); ask again when all its shards are there",
        status if isinstance(status, int) else 503,
    )


def _kind(path: Sequence[str]) -> str:
    """What is asked for: the part of the path that begins with _, as no index does; an index alone is "index"."""
    if path[-1] == "point_in_time":
        return path[-1]
    if path[0] == "_tasks" and len(path) == 2:
        return "_tasks/"
    if [*path[:2]] == ["_index_template", "_simulate"]:
        return "_index_template/_simulate"
    if path[0] in _NAMED and path[-1] != "_simulate":  # what is named may begin with _
        return path[0]
    kind = next((part for part in reversed(path) if part.startswith("_")), "index")
    if kind == "_settings" and path[-1] != kind:
        return f"{kind}/{path[-1]}"
    return f"_cluster/{path[1]}" if kind == "_cluster" else kind


def _asked_for(body: Mapping[str, Any]) -> dict[str, Any]:
    """The shape of what a search asks for beside hits, and in each hit."""
    hit = {"_seq_no": _is_whole, "_primary_term": _is_whole} if body.get("seq_no_primary_term") else {}
    hit |= {"_score": _is_number} if "_score" in body.get("sort", ()) else {}
    shape: dict[str, Any] = {"hits": {"hits": [hit]}} if hit else {}
    if "aggs" in body:
        shape["aggregations"] = {name: _aggregation(each) for name, each in body["aggs"].items()}
    return shape


def _aggregation(asked: Mapping[str, Any]) -> dict[str, Any]:
    count = {"doc_count": _is_whole}
    if "filters" in asked:
        return {"buckets": dict.fromkeys(asked["filters"]["filters"], count)}
    return {"buckets": [{"key": str, **count}]} if "terms" in asked else {"value": _or_none(_is_number)}


def _is_deep(value: Any) -> bool:
    """Whether an answer has more levels than any that has no documents in it. Who reads it may call itself."""
    level = [value]
    for _ in range(_DEEPEST):
        below = (each.values() if isinstance(each, dict) else each for each in level if isinstance(each, (dict, list)))
        level = [part for each in below for part in each]
    return bool(level)


def _misfit(value: Any, shape: Any, at: str) -> str | None:
    """Where a value does not fit; None if it does."""
    if isinstance(shape, list):
        if not isinstance(value, list):
            return at
        return next(filter(None, (_misfit(each, one, f"a part of {at}") for each in value for one in shape)), None)
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return at
        return next(filter(None, (_misfit_at(value, key, each) for key, each in shape.items())), None)
    if isinstance(shape, type):
        return None if isinstance(value, shape) else at
    return None if shape(value) else at


def _misfit_at(value: dict[str, Any], key: Any, shape: Any) -> str | None:
    if key is ...:
        return next(filter(None, (_misfit(each, shape, name) for name, each in value.items())), None)
    name = key.removesuffix("?")
    if name not in value:
        return None if name != key else name
    return _misfit(value[name], shape, name)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 1 << 63


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def _is_digits(value: Any) -> bool:
    return _is_whole(value) or (isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19)


def _or_none(shape: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or shape(value)


def _is_error(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, dict) and isinstance(value.get("caused_by") or {}, dict))


def _is_names(value: Any) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(each, str) for each in value))


def _is_checkpoint(value: Any) -> bool:
    return value in (-1, -2) or _is_whole(value)  # nothing was written, and nothing is known


def _is_document(value: Any) -> bool:
    """Whether it is what `_mget` says of a document: an error, that it is not there, or which state of it this is."""
    if not isinstance(value, dict) or "error" in value:
        return isinstance(value, dict) and _is_error(value["error"])
    found = value.get("found")
    return found is False or (found is True and _misfit(value, _STATE, "it") is None)


_STATE = {"_seq_no": _is_whole, "_primary_term": _is_whole}
_SHARDS = {"total": _is_whole, "successful": _is_whole, "failed": _is_whole, "failures?": list}
_HIT: dict[Any, Any] = {
    "_index": str,
    "_id": str,
    "_source?": dict,
    "_score?": _or_none(_is_number),
    "_seq_no?": _is_whole,
    "_primary_term?": _is_whole,
    "_routing?": str,
    "sort?": list,
}
_FOUND = {
    "hits": {"hits": [_HIT], "total?": {"value": _is_whole}},
    "_shards": _SHARDS,
    "_clusters?": dict,
    "_scroll_id?": str,
    "pit_id?": str,
    "aggregations?": {...: {"value_as_string?": str}},
}
_FIELD: dict[Any, Any] = {"type?": str, "meta?": {...: str}}
_FIELD |= dict.fromkeys(("analyzer?", "search_analyzer?", "similarity?"), str)
_FIELDS = {...: _FIELD}
_FIELD |= {"properties?": _FIELDS, "fields?": _FIELDS}
_SOURCE = {"includes?": _is_names, "excludes?": _is_names}
_MAPPINGS = {"properties?": _FIELDS, "_source?": _SOURCE, "_routing?": dict, "_meta?": dict}
_INDEX_SETTINGS = {
    "uuid": str,
    "number_of_shards": _is_digits,
    "number_of_replicas?": _is_digits,
    "query?": dict,
    "blocks?": dict,
    "derived_source?": dict,
    "mapping?": {"total_fields?": {"limit?": _is_digits}, "source?": dict},
}
_BYTES = {"size_in_bytes": _is_whole}
_PRIMARIES = {
    "store?": _BYTES,
    "docs?": {"count": _is_whole},
    "indexing?": {"index_total": _is_whole, "index_time_in_millis": _is_whole},
}
_COPY = {"routing": {"node": str}, "store": _BYTES, "seq_no?": {"global_checkpoint": _is_checkpoint}}
_UPDATED = {"updated?": _is_whole, "noops?": _is_whole, "version_conflicts?": _is_whole, "failures?": [dict]}
_TASK = {"status?": _UPDATED}
_DISK = {"fs?": {"total?": {"total_in_bytes": _is_whole, "available_in_bytes": _is_whole}}}

_COMPOSED = {"settings?": {"index?": dict}, "mappings?": _MAPPINGS}
_INDEX_TEMPLATE = {"index_patterns": [str], "composed_of?": [str], "priority?": _is_whole, "template?": _COMPOSED}

_PROCESSOR = {"script?": {"params?": dict}, "pipeline?": {"name?": str}}

_SHAPES: dict[str, dict[Any, Any]] = {
    "_search": _FOUND,
    "_count": {"count": _is_whole, "_shards": _SHARDS},
    "_msearch": {"responses": [dict]},
    "_mget": {"docs": [_is_document, {"_index": str, "_id": str, "_source?": dict, "_routing?": str}]},
    "_bulk": {"items": [{...: {"status": _is_whole, "error?": _is_error}}]},
    "_refresh": {"_shards": _SHARDS},
    "point_in_time": {"pit_id": str, "_shards?": _SHARDS},
    "_pit": {"id": str, "_shards?": _SHARDS},
    "index": {
        ...: {
            "mappings": _MAPPINGS,
            "settings": {"index": _INDEX_SETTINGS},
            "aliases?": {...: {"filter?": dict}},
            "data_stream?": str,
        }
    },
    "_mapping": {...: {"mappings": _MAPPINGS}},
    "_settings": {...: {"settings": {"index?": dict}}},
    "_settings/index.uuid": {...: {"settings": {"index": {"uuid": str}}}},
    "_settings/index.number_of_shards": {...: {"settings": {"index": {"number_of_shards": _is_digits}}}},
    "_cluster/health": {
        "indices?": {...: {"number_of_shards": _is_whole, "active_primary_shards": _is_whole, "status": str}},
    },
    "_cluster/settings": {"defaults?": dict, "persistent?": dict, "transient?": dict},
    "_stats": {
        "_all?": {"primaries": _PRIMARIES},
        "indices": {...: {"primaries?": _PRIMARIES, "shards?": {...: [_COPY]}}},
    },
    "_disk_usage": {...: {"fields?": {...: {"total_in_bytes": _is_whole}}}},
    "_nodes": {"nodes": {...: {"name": str, **_DISK}}},
    "_resolve": {
        "indices?": [{"name": str}],
        "aliases?": [{"name": str, "indices": _is_names}],
        "data_streams?": [{"name": str, "backing_indices": _is_names}],
    },
    "_update_by_query": {"task": str},
    "_tasks": {"nodes?": {...: {"tasks?": {...: _TASK}}}},
    "_tasks/": {"completed": bool, "task": _TASK, "response?": _UPDATED, "error?": _is_error},
    "_component_template": {"component_templates": [{"name": str, "component_template": dict}]},
    "_index_template": {"index_templates": [{"name": str, "index_template": _INDEX_TEMPLATE}]},
    "_index_template/_simulate": {"template?": _COMPOSED},
    "_template": {...: {"index_patterns?": _is_names}},
    "_data_stream": {"data_streams": [{"name": str, "generation": _is_whole, "template?": str}]},
    "_alias": {...: {"aliases": {...: dict}}},
    "_ingest": {...: {"description?": str, "processors?": [_PROCESSOR]}},
    "_script_language": {"types_allowed": [str], "language_contexts": [{"language": str, "contexts": [str]}]},
    "_scripts": {"script?": {"lang": str, "source": str}},
    "_analyze": {"tokens": [{"token": str}]},
}
"""By the part of the path that names the request."""

_NAMED = frozenset({"_component_template", "_ingest", "_nodes", "_scripts"})
"""Whose paths go on with names that anybody chose."""

_WHOLE = frozenset({"_search", "_count", "point_in_time", "_pit"})
"""Whose answers are of all shards, or none."""

_OF_DOCUMENTS = frozenset({"_search", "_msearch", "_mget"})
"""Whose answers have documents in them, which may have any form."""

_DEEPEST = 100
"""Levels of an answer without documents: a mapping has 20 levels of objects, as engines are set, two here for each."""
