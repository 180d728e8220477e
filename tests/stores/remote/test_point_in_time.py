"""Reading all hits of a search from a point in time or a scroll returns each hit once, or raises an error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import read_corpus
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote import clients, point_in_time, retry
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import all_hits
from tests.support.engines import call
from tests.support.http_server import Answer, Handler, Request, Server, TempIndices, error, forward, indices, serving
from tests.support.remote import in_index
from tests.support.stores import ids, put, record

pytestmark = pytest.mark.usefixtures("short_pauses")

NAMES = [f"{n:03}" for n in range(95)]
ALL = {"query": {"match_all": {}}, "sort": ["_doc"], "_source": False}
Change = Callable[[Answer | None], Answer | None]


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use pages of 10 hits, and few retries."""
    monkeypatch.setattr(point_in_time, "PAGE_SIZE", 10)
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 5.0)


@pytest.fixture(scope="module")
def index(opensearch_url: str) -> Iterator[str]:
    """The name of an index with the documents NAMES. Tests do not change it."""
    with indices(opensearch_url) as temp_indices:
        name = temp_indices.name()
        put(in_index(temp_indices, name, create=True), *(record(id) for id in NAMES))
        yield name


def scrolls_only(handle: Handler) -> Handler:
    """Return the handler of an engine without points in time."""
    unknown = error(400, "illegal_argument_exception", "request contains unrecognized parameter")
    return lambda request: unknown if "point_in_time" in request.path or "/_pit" in request.path else handle(request)


def changing_pages(handle: Handler, change: Change, count: int = 1) -> Handler:
    """Return a handler that changes its answers to `count` requests for pages, from the third on."""
    pages, left = [0], [count]

    def changed(request: Request) -> Answer | None:
        result = handle(request)
        is_page = request.path.startswith("/_search/scroll") or b'"search_after"' in request.body
        if request.method == "POST" and is_page:
            pages[0] += 1
            if pages[0] >= 3 and left[0]:
                left[0] -= 1
                return change(result)
        return result

    return changed


LOST: dict[str, Change] = {
    "no answer": lambda _: None,
    "half of the answer": lambda result: result and replace(result, cut=True),
    "busy": lambda _: error(429, "rejected_execution_exception", "queue full"),
}


@pytest.fixture(params=["own", "of an application"])
def new_engine(request: pytest.FixtureRequest) -> Callable[[Server], Engine]:
    """A function that makes an engine with our own client, or with an application's client that repeats requests."""
    if request.param == "own":
        return lambda server: connect(server.url, expects_index=False)[0]
    return lambda server: Engine(OpenSearch([server.url], max_retries=3, retry_on_status=(429, 502, 503)), "the engine")


@pytest.mark.parametrize("change", LOST.values(), ids=LOST)
def test_a_lost_page_of_a_point_in_time_is_read_again(
    opensearch_url: str, index: str, new_engine: Callable[[Server], Engine], change: Change
) -> None:
    with serving(changing_pages(forward(opensearch_url), change, count=3)) as server:
        engine = new_engine(server).in_background()

        assert NAMES == sorted(hit["_id"] for hit in all_hits(engine, index, ALL))


@pytest.mark.parametrize("change", LOST.values(), ids=LOST)
def test_a_lost_page_of_a_scroll_is_an_error(
    opensearch_url: str, index: str, new_engine: Callable[[Server], Engine], change: Change
) -> None:
    with serving(scrolls_only(changing_pages(forward(opensearch_url), change))) as server:
        engine = new_engine(server).in_background()
        message = "the scroll cannot continue after this error, because a page may be lost; run the command again"
        with pytest.raises(StoreUnavailableError, match=message):
            list(all_hits(engine, index, ALL))
        pages = [
            request for request in server.requests if (request.method, request.path) == ("POST", "/_search/scroll")
        ]

        assert 3 == len(pages)


def test_a_scroll_reads_all_hits_and_is_closed(opensearch_url: str, index: str) -> None:
    with serving(scrolls_only(forward(opensearch_url))) as server:
        assert NAMES == ids(open_store(f"{server.url}/{index}"))

        assert ("DELETE", "/_search/scroll") == (server.requests[-1].method, server.requests[-1].path)


@pytest.mark.parametrize("way", [scrolls_only, lambda handle: handle], ids=["scroll", "point in time"])
@pytest.mark.parametrize("kept", [slice(1, None), slice(0)], ids=["one hit fewer", "no hits"])
def test_fewer_hits_than_the_total_are_an_error(
    opensearch_url: str, index: str, kept: slice, way: Callable[[Handler], Handler]
) -> None:
    def shorter(result: Answer | None) -> Answer:
        assert result is not None
        value = json.loads(result.body)
        value["hits"]["hits"] = value["hits"]["hits"][kept]
        return replace(result, body=json.dumps(value).encode())

    with serving(way(changing_pages(forward(opensearch_url), shorter))) as server:
        store = open_store(f"{server.url}/{index}")
        with pytest.raises(StoreError, match=r"returned only [\d,]+ of 95 hits; run the command again"):
            list(store.scan())


@pytest.mark.parametrize("shards", [(2, 3), (5, 1)])
def test_an_alias_is_read_completely(temp_indices: TempIndices, shards: tuple[int, int]) -> None:
    names = [temp_indices.name() for _ in shards]
    for number, (name, count) in enumerate(zip(names, shards, strict=True)):
        in_index(temp_indices, name, create=True).close()
        mapping = call(temp_indices.engine, "GET", f"/{name}/_mapping")[name]["mappings"]
        call(temp_indices.engine, "DELETE", f"/{name}")
        call(temp_indices.engine, "PUT", f"/{name}", {"mappings": mapping, "settings": {"number_of_shards": count}})
        put(in_index(temp_indices, name), *(record(f"{number}-{id}") for id in NAMES))
    expected = sorted(f"{number}-{id}" for number in range(2) for id in NAMES)
    filtered = temp_indices.alias(*names, filter={"prefix": {"simdoc.names": "0-0"}})

    assert (
        expected
        == ids(in_index(temp_indices, temp_indices.alias(*names)))
        == ids(in_index(temp_indices, ",".join(names)))
    )
    assert [id for id in expected if id.startswith("0-0")] == ids(in_index(temp_indices, filtered))


def test_writes_during_a_scan_do_not_change_it(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    store = in_index(temp_indices, name, create=True)
    put(store, *(record(id) for id in NAMES))
    scan = store.scan()
    first = next(scan)
    with store.writer() as writer:
        writer.put(record(f"new{n}") for n in range(50))
        writer.delete(NAMES[50:])

    assert NAMES == sorted([first.id, *(document.id for document in scan)])


def test_a_page_that_is_too_large_is_split(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> None:
    text = "word " * 20_000
    store = in_index(temp_indices, temp_indices.name(), create=True)
    put(store, *(record(f"{n:03}", text=text) for n in range(12)))
    monkeypatch.setattr(clients, "MAX_RESPONSE_BYTES", 3 * len(text))

    assert [text] * 12 == [document.text for document in store.scan(load={"text"})]
    monkeypatch.setattr(clients, "MAX_RESPONSE_BYTES", len(text) // 2)
    with pytest.raises(StoreError, match="larger than 256 MiB"):
        list(store.scan(load={"text"}))


def test_no_document_is_pruned_after_a_lost_page(temp_indices: TempIndices, tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / f"{n}.txt").write_text(f"some words of the text of number {n}")
    name = temp_indices.name()
    with serving(scrolls_only(forward(temp_indices.engine))) as server:
        search = SimilaritySearch(open_store(f"{server.url}/{name}", create=True))
        search.index(read_corpus([tmp_path]))
        (tmp_path / "0.txt").unlink()
        server.handle = scrolls_only(changing_pages(forward(temp_indices.engine), LOST["no answer"]))
        with pytest.raises(StoreUnavailableError, match="the scroll cannot continue"):
            search.index(read_corpus([tmp_path]), prune=True)

    assert 60 == len(ids(in_index(temp_indices, name)))


def test_a_store_does_not_change_the_retries_of_an_application_client(opensearch_url: str, index: str) -> None:
    answers: list[Answer | None] = [None, None]
    with serving(forward(opensearch_url)) as server, closing(OpenSearch([server.url], max_retries=3)) as client:
        store = open_store(client=client, index=index)
        engine = forward(opensearch_url)
        server.handle = lambda request: answers.pop() if answers else engine(request)
        with pytest.raises(StoreUnavailableError):
            Engine(client, "the engine").call("DELETE", ["_search", "scroll"], {"scroll_id": ["x"]})
        answers[:] = [None, None]

        assert len(NAMES) == client.count(index=index)["count"]
        assert 3 == client.transport.max_retries
        assert NAMES == ids(store)


def test_duplicates_are_found_in_an_engine_without_points_in_time(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    with serving(scrolls_only(forward(temp_indices.engine))) as server:
        search = SimilaritySearch(open_store(f"{server.url}/{name}", create=True))
        search.index(Document(str(number), f"all of these six words {'stay ' * number}") for number in range(8))
        pairs = {(pair.a.id, pair.b.id) for pair in search.duplicates(overlap=0.5).pairs()}
        methods = [request.method for request in server.requests if request.path.startswith("/_search/scroll")]

    assert 4 < len(pairs)
    assert "DELETE" in methods
