"""Shards that are missing: an answer is whole, or it is an error; nothing is stored twice because of them."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any
from urllib.parse import quote

import pytest

from simdoc_search import Document, Place, SimilaritySearch, open_store
from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.query.plans import Threshold
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.schema import index_body
from tests.support.cli import run, sentence
from tests.support.engines import call
from tests.support.http_server import Answer, Indices, Request, answer, forward, serving
from tests.support.stores import put, record, tokens

ANY = Threshold(tokens(range(8)), 1)
MISSING = r"no copy of the shards \[\[.*\]\[0\]\]|only for a part of the documents"
WHOLE = {"total": 2, "successful": 2, "failed": 0}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is missing stays missing; nobody waits for it."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 0.05)
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)


@pytest.fixture
def red(made: Indices) -> str:
    """An alias of a good index, into which is written, and of one whose only shard no node may have."""
    good, lost = made.name(), made.name()
    store = open_store(f"{made.engine}/{good}", create=True)
    put(store, record("a"), record("b"))
    body: dict[str, Any] = index_body(Settings(), field="simdoc", store_texts=True)
    body["settings"] = {"number_of_replicas": 0, "routing.allocation.require._name": "nobody"}
    call(made.engine, "PUT", f"/{quote(lost)}?wait_for_active_shards=0", body)
    return f"{made.engine}/{made.alias(good, lost, write=good)}"


READING: dict[str, Callable[[Any], Any]] = {
    "get": lambda store: store.get("a"),
    "records": lambda store: list(store.records(["a"])),
    "digests": lambda store: list(store.digests(["a"])),
    "fields": lambda store: store.fields_at([Place("a")], ["year"]),
    "named": lambda store: store.named("a"),
    "suggest": lambda store: store.suggest("ab"),
    "candidates": lambda store: list(store.candidates(ANY)),
    "many": lambda store: store.candidates_of_many([(ANY, None), (ANY, Place("a"))]),
    "scan": lambda store: list(store.scan()),
    "info": lambda store: store.info(),
    "count": lambda store: store.count("/"),
}


@pytest.mark.parametrize("read", READING.values(), ids=READING)
def test_a_red_index_gives_no_answer_in_part(red: str, read: Callable[[Any], Any]) -> None:
    store = open_store(red)
    with pytest.raises(StoreError, match=MISSING):
        read(store)


def test_commands_say_that_shards_are_missing(red: str) -> None:
    assert "has no copy of the shards" in sentence(run("similar", "a", "--store", red))
    assert "see GET _cat/shards" in sentence(run("similar", "a", "--store", red))
    assert "only for a part of the documents" in sentence(run("info", "--store", red))


def test_a_red_index_gets_no_document_twice(red: str, made: Indices) -> None:
    with pytest.raises(StoreUnavailableError, match=MISSING):
        SimilaritySearch(open_store(red)).index([Document("a", "changed words of a text"), Document("new", "words")])
    with pytest.raises(StoreUnavailableError, match=MISSING):
        put(open_store(red), record("a"))

    good = made.names[0]
    call(made.engine, "POST", f"/{good}/_refresh")

    assert 2 == call(made.engine, "GET", f"/{good}/_count")["count"]


def test_a_backfill_is_not_of_a_part(made: Indices) -> None:
    name = made.name()
    settings = {"number_of_shards": 1, "routing.allocation.require._name": "nobody"}
    body = {"mappings": {"properties": {"body": {"type": "text"}}}, "settings": settings}
    call(made.engine, "PUT", f"/{name}?wait_for_active_shards=0", body)
    engine, _ = connect(made.engine, index=False)
    with pytest.raises(StoreError):
        Backfill(engine, name, Task("body")).run()
    engine.close()


def test_a_replica_that_is_missing_does_no_harm(made: Indices) -> None:
    name = made.name()
    body: dict[str, Any] = index_body(Settings(), field="simdoc", store_texts=True)
    call(made.engine, "PUT", f"/{name}", {**body, "settings": {"number_of_replicas": 1}})
    store = open_store(f"{made.engine}/{name}")
    put(store, record("a"))

    assert ["a"] == [each.id for each in store.scan()] == [each.id for each in store.candidates(ANY)]


def test_shards_that_need_not_be_asked_are_not_missing(made: Indices) -> None:
    names = [made.make({}) for _ in range(3)]
    for name in names:
        made.put(name, "a", {})
    engine, _ = connect(made.engine, index=False)
    body = {"query": {"term": {"_index": names[0]}}}
    found = engine.search(",".join(names), body, pre_filter_shard_size=1)
    engine.close()

    assert (3, 3, 2) == tuple(found["_shards"][each] for each in ("total", "successful", "skipped"))
    assert 1 == len(found["hits"]["hits"])


# --- answers as an engine might give them ---


def asked_of(given: dict[str, Any], ask: Callable[[Engine], Any]) -> Any:
    """What is made of an answer."""
    with serving(lambda _: answer(given)) as server:
        engine, _ = connect(f"{server.url}/index")
        try:
            return ask(engine)
        finally:
            engine.close()


FOUND = {"hits": {"hits": [], "total": {"value": 0}}, "timed_out": False, "_shards": WHOLE}

PARTS: list[dict[str, Any]] = [
    {"_shards": {"total": 2, "successful": 1, "failed": 0}},
    {"_shards": {"total": 2, "successful": 1, "skipped": 1, "failed": 0}},
    {"_shards": {"total": 2, "successful": 2, "failed": 1}},
    {"_shards": {**WHOLE, "failed": 1, "failures": [{"reason": {"type": "x", "reason": "no memory"}, "status": 500}]}},
    {"timed_out": True},
    {"terminated_early": True},
    {"_clusters": {"total": 2, "successful": 1, "skipped": 1}},
]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("many", [False, True])
def test_an_answer_of_a_part_is_an_error(part: dict[str, Any], many: bool) -> None:
    body = {"track_total_hits": True}
    one = {**FOUND, **part}
    given = {"responses": [FOUND, one]} if many else one
    with pytest.raises(RequestError, match="only for a part of the documents") as caught:
        asked_of(given, lambda engine: engine.search_many("i", [body] * 2) if many else engine.search("i", body))

    assert caught.value.status in (500, 503)


def test_a_search_may_end_early_where_nothing_is_counted() -> None:
    given = {**FOUND, "terminated_early": True}

    assert given == asked_of(given, lambda engine: engine.search("index", {"track_total_hits": False}))


def test_a_count_and_a_point_in_time_of_a_part_are_errors() -> None:
    part = {"_shards": {"total": 2, "successful": 1, "failed": 0}}
    for ask in (
        lambda engine: engine.count("index"),
        lambda engine: engine.call("POST", ["index", "_search", "point_in_time"]),
        lambda engine: engine.call("POST", ["index", "_pit"]),
    ):
        with pytest.raises(RequestError, match="only for a part of the documents"):
            asked_of({"count": 1, "pit_id": "x", "id": "x", **part}, ask)


def test_every_search_says_that_a_part_is_not_wanted(made: Indices) -> None:
    name = made.name()
    requests: list[Request] = []
    engine = forward(made.engine)

    def noted(request: Request) -> Answer | None:
        requests.append(request)
        return engine(request)

    with serving(noted) as server:
        store = open_store(f"{server.url}/{name}", create=True)
        put(store, record("a"), record("b"))
        for read in READING.values():
            read(store)
    searches = [each for each in requests if each.path.partition("?")[0].endswith("/_search")]
    many = [each for each in requests if each.path.endswith("/_msearch")]

    assert len(searches) > 5
    assert [] == [each.path for each in searches if "allow_partial_search_results=false" not in each.path]
    assert [[False] * 2] == [[line["allow_partial_search_results"] for line in each.lines()[::2]] for each in many]


def test_too_many_points_in_time_are_said(caplog: pytest.LogCaptureFixture) -> None:
    reason = "Trying to create too many Point In Time contexts. Must be less than or equal to: [300]."
    full = {"type": "rejected_execution_exception", "reason": reason}
    given = {"error": {"root_cause": [full], **full}, "status": 429}
    mapping = {"index": index_body(Settings(), field="simdoc", store_texts=True)}

    def handle(request: Request) -> Answer:
        return answer(mapping) if request.path.endswith("_mapping") else answer(given, 429)

    with serving(handle) as server, caplog.at_level(logging.WARNING, "simdoc_search"):
        caplog.clear()
        retry._last_logged[0] = float("-inf")
        with pytest.raises(StoreUnavailableError, match="too many Point In Time contexts"):
            list(open_store(f"{server.url}/index").scan())

    assert "too many Point In Time contexts" in caplog.messages[0]
    assert "retrying" in caplog.messages[0]


def test_the_same_question_goes_to_the_same_copies(made: Indices) -> None:
    name = made.name()
    requests: list[Request] = []
    engine = forward(made.engine)

    def noted(request: Request) -> Answer | None:
        requests.append(request)
        return engine(request)

    with serving(noted) as server:
        store = open_store(f"{server.url}/{name}", create=True)
        put(store, record("a"), record("b"))
        store.candidates(ANY)
        store.candidates_of_many([(ANY, None), (ANY, Place("a"))])
    alone = next(each.path for each in requests if "preference=" in each.path)
    first, second = (line["preference"] for line in requests[-1].lines()[::2])

    assert f"preference={first}&" in f"{alone}&"
    assert first != second
