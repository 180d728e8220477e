"""Missing shards: an answer that does not cover all shards is an error, and no document is stored twice."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any
from urllib.parse import quote

import pytest

from simdoc_search import Document, DocumentKey, SimilaritySearch, open_store
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.cli import run, sentence
from tests.support.engines import call
from tests.support.http_server import Answer, Request, TempIndices, answer, forward, indices, serving
from tests.support.remote import ANY
from tests.support.stores import put, record

pytestmark = pytest.mark.usefixtures("short_pauses")

MISSING = r"no available copy of the shards \[\[.*\]\[0\]\]|only some of the documents"
WHOLE = {"total": 2, "successful": 2, "failed": 0}


@pytest.fixture(autouse=True)
def few_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry requests only briefly."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 0.05)


@pytest.fixture(scope="module")
def incomplete_alias(opensearch_url: str) -> Iterator[str]:
    """The address of an alias for two indices: its write index, and an index whose only shard is not on any node."""
    with indices(opensearch_url) as temp_indices:
        good, lost = temp_indices.name(), temp_indices.name()
        put(open_store(f"{temp_indices.engine}/{good}", create=True), record("a"), record("b"))
        body: dict[str, Any] = build_index_body(Settings(), field="simdoc", store_texts=True)
        body["settings"] = {"number_of_replicas": 0, "routing.allocation.require._name": "nobody"}
        call(temp_indices.engine, "PUT", f"/{quote(lost)}?wait_for_active_shards=0", body)
        yield f"{temp_indices.engine}/{temp_indices.alias(good, lost, write=good)}"


READING: dict[str, Callable[[Any], Any]] = {
    "get": lambda store: store.get("a"),
    "records": lambda store: list(store.records(["a"])),
    "digests": lambda store: list(store.digests(["a"])),
    "fields": lambda store: store.read_fields([DocumentKey("a")], ["year"]),
    "named": lambda store: store.ids_with_name("a"),
    "suggest": lambda store: store.suggest_ids("ab"),
    "candidates": lambda store: list(store.candidates(ANY)),
    "many": lambda store: store.candidates_of_many([(ANY, None), (ANY, DocumentKey("a"))]),
    "scan": lambda store: list(store.scan()),
    "info": lambda store: store.info(),
    "count": lambda store: store.count("/"),
}


@pytest.mark.parametrize("read", READING.values(), ids=READING)
def test_a_missing_shard_is_an_error(incomplete_alias: str, read: Callable[[Any], Any]) -> None:
    store = open_store(incomplete_alias)
    with pytest.raises(StoreError, match=MISSING):
        read(store)


def test_commands_report_the_missing_shards(incomplete_alias: str) -> None:
    message = sentence(run("similar", "a", "--store", incomplete_alias))

    assert "has no available copy of the shards" in message
    assert "see `GET _cat/shards`" in message
    assert "only some of the documents" in sentence(run("info", "--store", incomplete_alias))


def test_no_document_is_stored_twice_while_a_shard_is_missing(incomplete_alias: str) -> None:
    url, alias = incomplete_alias.rsplit("/", 1)
    with pytest.raises(StoreUnavailableError, match=MISSING):
        SimilaritySearch(open_store(incomplete_alias)).index(
            [Document("a", "changed words of a text"), Document("new", "words")]
        )
    with pytest.raises(StoreUnavailableError, match=MISSING):
        put(open_store(incomplete_alias), record("a"))
    aliases = call(url, "GET", f"/_alias/{alias}")
    [good] = [name for name, index in aliases.items() if index["aliases"][alias].get("is_write_index")]
    call(url, "POST", f"/{good}/_refresh")

    assert 2 == call(url, "GET", f"/{good}/_count")["count"]


def test_a_missing_replica_is_not_an_error(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    body: dict[str, Any] = build_index_body(Settings(), field="simdoc", store_texts=True)
    call(temp_indices.engine, "PUT", f"/{name}", {**body, "settings": {"number_of_replicas": 1}})
    store = open_store(f"{temp_indices.engine}/{name}")
    put(store, record("a"))

    assert ["a"] == [document.id for document in store.scan()] == [hit.id for hit in store.candidates(ANY)]


def test_skipped_shards_are_not_missing(temp_indices: TempIndices) -> None:
    names = [temp_indices.make({}) for _ in range(3)]
    for name in names:
        temp_indices.put(name, "a", {})
    engine, _ = connect(temp_indices.engine, expects_index=False)
    body = {"query": {"term": {"_index": names[0]}}}
    result = engine.search(",".join(names), body, pre_filter_shard_size=1)
    engine.close()

    assert (3, 3, 2) == tuple(result["_shards"][name] for name in ("total", "successful", "skipped"))
    assert 1 == len(result["hits"]["hits"])


# --- possible answers of an engine ---


def read_answer(value: dict[str, Any], read: Callable[[Engine], Any]) -> Any:
    """Call a function with an engine at a server that always gives the same answer."""
    with serving(lambda _: answer(value)) as server:
        engine, _ = connect(f"{server.url}/index")
        try:
            return read(engine)
        finally:
            engine.close()


RESULT = {"hits": {"hits": [], "total": {"value": 0}}, "timed_out": False, "_shards": WHOLE}


@pytest.mark.parametrize(
    "part",
    [
        {"_shards": {"total": 2, "successful": 1, "failed": 0}},
        {"_shards": {"total": 2, "successful": 2, "failed": 1}},
        {"_shards": {**WHOLE, "failed": 1, "failures": [{"reason": {"type": "x", "reason": "memory"}, "status": 500}]}},
        {"timed_out": True},
        {"terminated_early": True},
        {"_clusters": {"total": 2, "successful": 1, "skipped": 1}},
    ],
)
def test_an_answer_from_some_shards_only_is_an_error(part: dict[str, Any]) -> None:
    body = {"track_total_hits": True}
    result = {**RESULT, **part}
    with pytest.raises(RequestError, match="only some of the documents") as caught:
        read_answer(result, lambda engine: engine.search("i", body))
    with pytest.raises(RequestError, match="only some of the documents"):
        read_answer({"responses": [RESULT, result]}, lambda engine: engine.search_many("i", [body] * 2))

    assert caught.value.status in (500, 503)


def test_a_search_without_a_total_may_end_early() -> None:
    result = {**RESULT, "terminated_early": True}

    assert result == read_answer(result, lambda engine: engine.search("index", {"track_total_hits": False}))


@pytest.mark.parametrize(
    "read",
    [
        lambda engine: engine.count("index"),
        lambda engine: engine.call("POST", ["index", "_search", "point_in_time"]),
        lambda engine: engine.call("POST", ["index", "_pit"]),
    ],
)
def test_a_count_or_point_in_time_for_some_shards_only_is_an_error(read: Callable[[Engine], Any]) -> None:
    part = {"_shards": {"total": 2, "successful": 1, "failed": 0}}
    with pytest.raises(RequestError, match="only some of the documents"):
        read_answer({"count": 1, "pit_id": "x", "id": "x", **part}, read)


def test_searches_refuse_partial_results_and_equal_queries_use_the_same_shard_copies(temp_indices: TempIndices) -> None:
    with serving(forward(temp_indices.engine)) as server:
        name = temp_indices.name()
        store = open_store(f"{server.url}/{name}", create=True)
        put(store, record("a"), record("b"))
        for read in READING.values():
            read(store)
    searches = [request for request in server.requests if request.path.partition("?")[0].endswith("/_search")]
    [several] = [request for request in server.requests if request.path.endswith("/_msearch")]
    [first, second] = several.lines()[::2]
    [alone] = [request.path for request in searches if f"preference={first['preference']}&" in f"{request.path}&"]

    assert len(searches) > 5
    assert [] == [request.path for request in searches if "allow_partial_search_results=false" not in request.path]
    assert first["allow_partial_search_results"] is second["allow_partial_search_results"] is False
    assert alone.startswith(f"/{name}/_search")
    assert first["preference"] != second["preference"]


def test_opening_too_many_points_in_time_is_retried_and_then_an_error(caplog: pytest.LogCaptureFixture) -> None:
    reason = "Trying to create too many Point In Time contexts. Must be less than or equal to: [300]."
    cause = {"type": "rejected_execution_exception", "reason": reason}
    mapping = {"index": build_index_body(Settings(), field="simdoc", store_texts=True)}

    def handle(request: Request) -> Answer:
        if request.path.endswith("_mapping"):
            return answer(mapping)
        return answer({"error": {"root_cause": [cause], **cause}, "status": 429}, 429)

    with serving(handle) as server, caplog.at_level(logging.WARNING, "simdoc_search"):
        caplog.clear()
        retry._last_log_time[0] = float("-inf")
        with pytest.raises(StoreUnavailableError, match="too many Point In Time contexts"):
            list(open_store(f"{server.url}/index").scan())

    assert "too many Point In Time contexts" in caplog.messages[0]
    assert "retrying" in caplog.messages[0]
