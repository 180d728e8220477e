"""Checks that an answer comes from an engine and from all shards, before anything is read from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.stores.remote.errors import RequestError, not_an_engine, reason_in

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
"""By the last part of the path, a key of every answer of an engine."""

_BY_INDEX = frozenset({"_mapping", "_settings"})
"""Requests whose answers have an object for each index."""

_ALL_SHARDS = frozenset({"_search", "_count", "point_in_time", "_pit"})
"""Requests that all shards must answer."""


def check_answer(name: str, method: str, operation: str, answer: Any, *, counts: bool = False) -> None:
    """Check the answer to a request.

    Args:
        name: name of the engine in messages.
        method: HTTP method.
        operation: last part of the path.
        answer: the answer from JSON.
        counts: whether a search was to count all hits. Otherwise it may end as soon as it has enough of them.

    Raises:
        RequestError: not all shards answered.
        StoreError: no engine gives this answer.
    """
    if method not in ("GET", "POST"):
        operation = ""
    key = _KEYS.get(operation)
    if not isinstance(answer, Mapping):
        raise not_an_engine(name, "its answer is not an object")
    if key and key not in answer:
        raise not_an_engine(name, f"{key} is missing")
    if operation in _BY_INDEX and not all(isinstance(value, Mapping) for value in answer.values()):
        raise not_an_engine(name, "it names no indices")
    if operation in _ALL_SHARDS:
        check_all_shards(name, answer, counts=counts)


def check_all_shards(name: str, answer: Mapping[str, Any], *, counts: bool = False) -> None:
    """Raise RequestError if shards are missing in an answer, or if it ended early though it was to count."""
    shards = answer.get("_shards") or {}
    failures = shards.get("failures") or ()
    # Shards that cannot have a hit are skipped, and count as successful.
    if shards.get("failed") or shards.get("successful", 0) < shards.get("total", 0):
        reason = reason_in({"error": failures[0].get("reason")})[1] if failures else "shards are missing"
    elif answer.get("timed_out") or (counts and answer.get("terminated_early")):
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
