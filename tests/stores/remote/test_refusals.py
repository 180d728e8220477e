"""Documents that an engine refuses, and an engine that is busy or goes away while it is written or read."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote import candidates, point_in_time, retry, writer
from simdoc_search.stores.remote.candidates import FIRST_PAGE
from simdoc_search.stores.remote.schema import index_body
from tests.support.http_server import Answer, Indices, Request, error, forward, serving
from tests.support.remote import ANY, in_index, mapping, ours
from tests.support.stores import found, ids, put, record
from tests.support.texts import documents


def test_a_document_that_the_engine_refuses_is_listed_with_the_reason(made: Indices) -> None:
    mappings = index_body(Settings(), field="simdoc", store_texts=True)["mappings"]
    mappings["properties"]["body"] = {"type": "keyword"}  # which cannot hold a long text
    search = SimilaritySearch(in_index(made, made.make(mappings)))
    short, long = "a few words", "many words " * 4000
    search.index([Document("old", short)])
    report = search.index([Document(id, long if id in ("old", "new") else short) for id in ("a", "old", "new", "b")])

    assert ({"old", "new"}, 2, 0) == (set(report.refused), report.indexed, report.replaced)
    assert [True] * 2 == [
        "immense term" in each or "failed to parse field [body]" in each for each in report.refused.values()
    ]
    assert ["a", "b", "old"] == ids(search.store)
    assert short == search.store.get("old", text=True).text  # type: ignore[union-attr]
    assert 1 == search.index([Document("new", short)]).indexed


def test_an_engine_that_fails_now_and_then_loses_nothing(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 20)
    choose, engine = random.Random(0), forward(made.engine)
    busy = error(429, "rejected_execution_exception", "queue full")

    def unsteady(request: Request) -> Answer | None:
        done = engine(request)
        if request.method != "POST" or choose.random() < 0.5:
            return done
        return choose.choice([busy, None, done and replace(done, cut=True)])

    written = documents("unsteady", 300, words=20)
    names = [made.name(), made.name()]
    for name in names:
        in_index(made, name, create=True)
    with (
        serving(unsteady) as server,
        closing(open_store(f"{server.url}/{made.alias(*names, write=names[0])}")) as store,
    ):
        report = SimilaritySearch(store).index([*(Document(each.id, "older") for each in written[::3]), *written])
    stored = in_index(made, ",".join(names)).scan(text=True)

    assert (300, 100, []) == (report.indexed, report.duplicates, report.skipped)
    assert sorted((each.id, each.text) for each in written) == sorted((each.id, each.text) for each in stored)


def test_what_is_known_is_asked_again_of_a_busy_engine(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    name = made.name()
    put(in_index(made, name, create=True), record("a"))
    engine, fates = forward(made.engine), iter([error(429, "busy", "queue full"), None])

    with serving(engine) as server, closing(open_store(f"{server.url}/{name}")) as store:
        server.handle = lambda request: next(fates, None) or engine(request)

        assert ["a"] == [each.id for each in store.digests(iter(["a", "b"]))]


def test_a_commit_waits_for_a_busy_engine(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    engine, fates = forward(made.engine), iter([error(429, "busy", "queue full"), None])

    def busy(request: Request) -> Answer | None:
        return (request.path.endswith("/_refresh") and next(fates, None)) or engine(request)

    with serving(busy) as server, closing(open_store(f"{server.url}/{made.name()}", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == ids(store)


def test_hits_of_some_indices_are_not_taken_for_all(made: Indices) -> None:
    names = [made.make(mapping(year={"type": kind})) for kind in ("integer", "keyword")]
    for name in names:
        made.put(name, name, {"year": 2020, "simdoc": ours()})
    store = in_index(made, made.alias(*names))
    filters: Any = [{"bool": {"should": [{"match_all": {}}, {"term": {"year": "no number"}}]}}]

    with pytest.raises(StoreError, match="no number"):
        found(store, ANY, filters=filters)


@pytest.mark.parametrize("what", ["scan", "candidates"])
def test_an_engine_that_goes_away_while_it_is_read_is_an_error(
    made: Indices, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 0.0)
    monkeypatch.setattr(retry, "QUERY_SECONDS", 0.0)
    monkeypatch.setattr(point_in_time, "PAGE", 10)
    name = made.name()
    put(in_index(made, name, create=True), *(record(f"{n}", range(1 + n % 8)) for n in range(300)))
    with serving(forward(made.engine)) as server:
        store = open_store(f"{server.url}/{name}")
        read: Iterator[object] = store.scan() if what == "scan" else iter(store.candidates(ANY))
        next(read)
        server.handle = lambda _: None
        with pytest.raises(StoreUnavailableError, match="does not answer"):
            list(read)


def test_who_stops_reading_leaves_nothing_open(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(point_in_time, "PAGE", 10)
    monkeypatch.setattr(candidates, "LARGEST_PAGE", FIRST_PAGE)
    name = made.name()
    with serving(forward(made.engine)) as server:
        store = open_store(f"{server.url}/{name}", create=True)
        put(store, *(record(f"{n}") for n in range(100)))
        for read in (store.scan(), iter(store.candidates(ANY))):
            list(itertools.islice(read, FIRST_PAGE + 10))
        list(store.scan())
        del read
        places = "/_pit" if any("/_pit" in each.path for each in server.requests) else "/_search/point_in_time"
        moments_asked = [each.method for each in server.requests if places in each.path]
        opened, closed = moments_asked.count("POST"), moments_asked.count("DELETE")

    assert (3, 3) == (opened, closed)


def test_an_interrupted_run_is_completed_by_the_next(made: Indices) -> None:
    written = documents("interrupted", 50, words=20)

    def interrupted() -> Iterator[Document]:
        yield from written[:30]
        raise KeyboardInterrupt

    search = SimilaritySearch(in_index(made, made.name(), create=True))
    with pytest.raises(KeyboardInterrupt):
        search.index(interrupted())
    kept = len(ids(search.store))
    report = search.index(written)

    assert 0 <= kept <= 30
    assert (50 - kept, kept, 50) == (report.indexed, report.unchanged, len(ids(search.store)))
