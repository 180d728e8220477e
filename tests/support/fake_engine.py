"""An engine whose answers come from a function, and descriptions of indices."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.indices import IndexDescription
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine

TEXT = "five words or a few more for a fingerprint"
BODY = {"properties": {"body": {"type": "text"}}}
ALL_SHARDS = {"total": 1, "successful": 1, "failed": 0}
Handler = Callable[[str, str, Any], Any]
"""Returns the answer to a method, a path and a body. It may raise a RefusalError."""


class RefusalError(Exception):
    """An answer of the engine with an error status."""

    def __init__(self, status: int, kind: str = "", reason: str = "no") -> None:
        super().__init__(reason)
        self.status_code = status
        self.info = {"error": {"type": kind, "reason": reason}}


def engine(handle: Handler) -> Engine:
    """An engine whose answers come from a function."""

    def perform_request(method: str, url: str, *, params: Any, headers: Any, body: Any) -> Any:
        given = handle(method, url, body)
        return {"_shards": ALL_SHARDS, **given} if url.endswith(("/_search", "/_count")) else given

    return Engine(SimpleNamespace(transport=SimpleNamespace(perform_request=perform_request)), "the engine")


def index(mappings: Any = None, aliases: Any = None, data_stream: str = "", **settings: Any) -> dict[str, Any]:
    """An index as `GET /index` describes it."""
    usual = {"uuid": "u", "number_of_shards": "1", "number_of_replicas": "0"}
    described = {"mappings": BODY if mappings is None else mappings, "aliases": aliases or {}}
    return {**described, "settings": {"index": usual | settings}} | (
        {"data_stream": data_stream} if data_stream else {}
    )


def target(**changes: Any) -> Target:
    """An index that fingerprints can be added to."""
    described = index()
    filters = changes.pop("filters", ())
    one = IndexDescription("i", "simdoc", described["mappings"], described["settings"]["index"], filters)
    return Target(**{"index": one, "settings": Settings(), **changes})


def hits(count: int, text: str = TEXT) -> list[dict[str, Any]]:
    """The hits of a search for this number of documents."""
    return [
        {"_index": "i", "_id": f"{n}", "_seq_no": n, "_primary_term": 1, "_source": {"body": text}}
        for n in range(count)
    ]
