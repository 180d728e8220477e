"""Documents that an engine refuses, and engines that are busy or stop while documents are written or read."""

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
from simdoc_search.stores.remote.candidates import FIRST_PAGE_SIZE
from simdoc_search.stores.remote.schema import build_index_body
from tests.support.http_server import Answer, Request, TempIndices, error, forward, serving
from tests.support.remote import ANY, in_index, mapping, ours
from tests.support.stores import ids, put, ranked_candidates, record
from tests.support.texts import documents

pytestmark = pytest.mark.usefixtures("short_pauses")

BUSY = error(429, "rejected_execution_exception", "queue full")


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use pages of 10 hits."""
    monkeypatch.setattr(point_in_time, "PAGE_SIZE", 10)


def test_a_refused_document_is_reported_with_the_reason(temp_indices: TempIndices) -> None:
    mappings = build_index_body(Settings(), field="simdoc", store_texts=True)["mappings"]
    mappings["properties"]["body"] = {"type": "keyword"}  # a keyword cannot be a long text
    search = SimilaritySearch(in_index(temp_indices, temp_indices.make(mappings)))
    short, long = "a few words", "many words " * 4000
    search.index([Document("old", short)])
    report = search.index([Document(id, long if id in ("old", "new") else short) for id in ("a", "old", "new", "b")])

    assert ({"old", "new"}, 2, 0) == (set(report.refused), report.added_count, report.replaced_count)
    for reason in report.refused.values():
        assert "immense term" in reason or "failed to parse field [body]" in reason
    assert ["a", "b", "old"] == ids(search.store)
    assert short == search.store.get("old", load={"text"}).text  # type: ignore[union-attr]
    assert 1 == search.index([Document("new", short)]).added_count


def test_no_write_to_an_unreliable_engine_is_lost(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 20)
    rng, engine = random.Random(0), forward(temp_indices.engine)

    def unreliable(request: Request) -> Answer | None:
        result = engine(request)
        if request.method != "POST" or rng.random() < 0.5:
            return result
        return rng.choice([BUSY, None, result and replace(result, cut=True)])

    written = documents("unsteady", 300, words=20)
    older = [Document(document.id, "older") for document in written[::3]]
    names = [temp_indices.name(), temp_indices.name()]
    for name in names:
        in_index(temp_indices, name, create=True)
    with (
        serving(unreliable) as server,
        closing(open_store(f"{server.url}/{temp_indices.alias(*names, write=names[0])}")) as store,
    ):
        report = SimilaritySearch(store).index([*older, *written])
    stored = in_index(temp_indices, ",".join(names)).scan(load={"text"})

    assert (300, 100, []) == (report.added_count, report.repeated_id_count, report.skipped)
    assert {document.id: document.text for document in written} == {document.id: document.text for document in stored}


@pytest.mark.parametrize("path", ["_search", "_refresh"])
def test_a_request_to_a_busy_engine_is_repeated(temp_indices: TempIndices, path: str) -> None:
    engine, answers = forward(temp_indices.engine), iter([BUSY, None])

    def busy(request: Request) -> Answer | None:
        return (path in request.path and next(answers, None)) or engine(request)

    with serving(busy) as server, closing(open_store(f"{server.url}/{temp_indices.name()}", create=True)) as store:
        put(store, record("a"))

        assert ["a"] == [digest.id for digest in store.digests(iter(["a", "b"]))]
        assert next(answers, "none left") == "none left"


def test_a_search_that_fails_in_one_index_is_an_error(temp_indices: TempIndices) -> None:
    names = [temp_indices.make(mapping(year={"type": kind})) for kind in ("integer", "keyword")]
    for name in names:
        temp_indices.put(name, name, {"year": 2020, "simdoc": ours()})
    store = in_index(temp_indices, temp_indices.alias(*names))
    filters: Any = [{"bool": {"should": [{"match_all": {}}, {"term": {"year": "no number"}}]}}]

    with pytest.raises(StoreError, match="no number"):
        ranked_candidates(store, ANY, filters=filters)


@pytest.mark.parametrize("what", ["scan", "candidates"])
def test_an_engine_that_stops_during_reading_is_an_error(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 0.0)
    monkeypatch.setattr(retry, "QUERY_RETRY_SECONDS", 0.0)
    name = temp_indices.name()
    put(in_index(temp_indices, name, create=True), *(record(f"{n}", range(1 + n % 8)) for n in range(300)))
    with serving(forward(temp_indices.engine)) as server:
        store = open_store(f"{server.url}/{name}")
        documents: Iterator[object] = store.scan() if what == "scan" else iter(store.candidates(ANY))
        next(documents)
        server.handle = lambda _: None
        with pytest.raises(StoreUnavailableError, match="no response from"):
            list(documents)


def test_a_point_in_time_is_closed_when_reading_stops(
    temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(candidates, "MAX_PAGE_SIZE", FIRST_PAGE_SIZE)
    with serving(forward(temp_indices.engine)) as server:
        store = open_store(f"{server.url}/{temp_indices.name()}", create=True)
        put(store, *(record(f"{n}") for n in range(100)))
        for documents in (store.scan(), iter(store.candidates(ANY))):
            list(itertools.islice(documents, FIRST_PAGE_SIZE + 10))
        list(store.scan())
        del documents
        methods = [request.method for request in server.requests if "/_search/point_in_time" in request.path]

    assert (3, 3) == (methods.count("POST"), methods.count("DELETE"))


def test_the_next_run_completes_an_interrupted_one(temp_indices: TempIndices) -> None:
    written = documents("interrupted", 50, words=20)

    def interrupted() -> Iterator[Document]:
        yield from written[:30]
        raise KeyboardInterrupt

    search = SimilaritySearch(in_index(temp_indices, temp_indices.name(), create=True))
    with pytest.raises(KeyboardInterrupt):
        search.index(interrupted())
    kept = len(ids(search.store))
    report = search.index(written)

    assert 0 <= kept <= 30
    assert (50 - kept, kept, 50) == (report.added_count, report.unchanged_count, len(ids(search.store)))
