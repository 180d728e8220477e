"""Checks that a response comes from an engine and that all shards responded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.stores.remote.errors import RequestError, error_type_and_reason, not_an_engine_error

_REQUIRED_KEYS = {
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
"""For each operation (the last part of the URL path), a key that every response of an engine has."""

_OPERATIONS_RETURNING_INDICES = frozenset({"_mapping", "_settings"})
"""Operations whose responses contain an object for each index."""

_OPERATIONS_NEEDING_ALL_SHARDS = frozenset({"_search", "_count", "point_in_time", "_pit"})
"""Operations to which all shards must respond."""


def check_response(engine_name: str, method: str, operation: str, response: Any, *, counts_hits: bool = False) -> None:
    """Check the response to a request.

    `operation` is the last part of the URL path. `counts_hits` says whether the request is a search that must count all
    hits. Other searches may end early.

    Raises:
        RequestError: not all shards responded, or the request timed out.
        StoreError: the response does not come from an engine.
    """
    if method not in ("GET", "POST"):
        operation = ""
    key = _REQUIRED_KEYS.get(operation)
    if not isinstance(response, Mapping):
        raise not_an_engine_error(engine_name, "the response is not a JSON object")
    if key and key not in response:
        raise not_an_engine_error(engine_name, f"the response does not contain {key!r}")
    if operation in _OPERATIONS_RETURNING_INDICES and not all(
        isinstance(value, Mapping) for value in response.values()
    ):
        raise not_an_engine_error(engine_name, "the response does not contain indices")
    if operation in _OPERATIONS_NEEDING_ALL_SHARDS:
        check_all_shards(engine_name, response, counts_hits=counts_hits)


def check_all_shards(engine_name: str, response: Mapping[str, Any], *, counts_hits: bool = False) -> None:
    """Check that all shards responded and, if `counts_hits`, that the search counted all hits. Raises RequestError."""
    shards = response.get("_shards") or {}
    failures = shards.get("failures") or ()
    # Engines skip shards that cannot have hits, and count them as successful.
    if shards.get("failed") or shards.get("successful", 0) < shards.get("total", 0):
        reason = error_type_and_reason({"error": failures[0].get("reason")})[1] if failures else "shards are missing"
        advice = "try again when all shards are available"
    elif response.get("timed_out") or (counts_hits and response.get("terminated_early")):
        reason, advice = "the search timed out", "try again later"
    elif (response.get("_clusters") or {}).get("skipped"):
        reason, advice = "a remote cluster is not available", "try again when the cluster is available"
    else:
        return
    status = failures[0].get("status") if failures else None
    raise RequestError(
        f"{engine_name} searched only some of the documents ({reason}); {advice}",
        status if isinstance(status, int) else 503,
    )
