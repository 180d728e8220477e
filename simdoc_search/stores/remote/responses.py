"""Checks that an answer comes from an engine and covers all shards."""

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
"""A key that each answer of an engine has, by the last part of the request's path."""

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
        counts: whether the request is a search that must count all hits. Other searches may end early.

    Raises:
        RequestError: not all shards answered.
        StoreError: the answer does not come from an engine.
    """
    if method not in ("GET", "POST"):
        operation = ""
    key = _KEYS.get(operation)
    if not isinstance(answer, Mapping):
        raise not_an_engine(name, "its answer is not an object")
    if key and key not in answer:
        raise not_an_engine(name, f"its answer has no {key}")
    if operation in _BY_INDEX and not all(isinstance(value, Mapping) for value in answer.values()):
        raise not_an_engine(name, "its answer has no indices")
    if operation in _ALL_SHARDS:
        check_all_shards(name, answer, counts=counts)


def check_all_shards(name: str, answer: Mapping[str, Any], *, counts: bool = False) -> None:
    """Raise RequestError if an answer does not cover all shards, or does not count all hits if `counts` is set."""
    shards = answer.get("_shards") or {}
    failures = shards.get("failures") or ()
    # Shards that cannot have hits are skipped, and are included in the successful ones.
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
        f"{name} searched only a part of the documents ({reason}); try again when all its shards are available",
        status if isinstance(status, int) else 503,
    )
