"""Is an answer one of an engine, and is it of all shards? Checked before anything is read from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from simdoc_search.stores.remote.errors import RequestError, is_no_engine, reason_in

_KEYS = {
    "_search": "hits",
    "_count": "count",
    "_msearch": "responses",
    "_mget": "docs",
    "_bulk": "items",
    "_refresh": "_shards",
    "point_in_time": "pit_id",
    "_pit": "id",
    "_analyze": "tokens",
}
"""By the end of the path, a key without which an answer is not the engine's."""

_OF_INDICES = frozenset({"_mapping", "_settings", "_alias"})
"""Whose answers say something of each index, as that of an index alone does."""

_WHOLE = frozenset({"_search", "_count", "point_in_time", "_pit"})
"""Whose answers are of all shards, or none."""


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
    kind = path[-1] if method in ("GET", "POST") else ""
    if not isinstance(answer, Mapping):
        raise is_no_engine(name, "its answer is not an object")
    if (key := _KEYS.get(kind)) and key not in answer:
        raise is_no_engine(name, f"{key} is missing")
    is_of_indices = kind in _OF_INDICES or (method == "GET" and len(path) == 1 and not kind.startswith("_"))
    if is_of_indices and not all(isinstance(each, Mapping) for each in answer.values()):
        raise is_no_engine(name, "it says nothing of indices")
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
