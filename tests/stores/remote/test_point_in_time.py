"""All that a search finds: each hit once, from a point in time or a scroll, or an error; never a part for the whole."""

from __future__ import annotations

import json
from collections.abc import Callable
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
from tests.support.engines import call, discard
from tests.support.http_server import Answer, Handler, Indices, Request, Server, error, forward, serving
from tests.support.stores import ids, put, record

COUNT = 95
EACH = {"query": {"match_all": {}}, "sort": ["_doc"], "_source": False}


@pytest.fixture(autouse=True)
def small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a few documents are many pages; nothing is waited for long."""
    monkeypatch.setattr(point_in_time, "PAGE", 10)
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 5.0)


@pytest.fixture
def name(made: Indices) -> str:
    """An index with documents."""
    name = made.name()
    put(open_store(f"{made.engine}/{name}", create=True), *(record(f"{n:03}") for n in range(COUNT)))
    return name


NAMES = [f"{n:03}" for n in range(COUNT)]


def without_moments(handle: Handler) -> Handler:
    """An engine that has scrolls alone."""
    unknown = error(400, "illegal_argument_exception", "request contains unrecognized parameter")
    return lambda request: unknown if "point_in_time" in request.path or "/_pit" in request.path else handle(request)


def broken(handle: Handler, break_it: Callable[[Answer | None], Answer | None], times: int = 1) -> Handler:
    """An engine of which the answer to the third page comes otherwise."""
    pages, left = [0], [times]

    def otherwise(request: Request) -> Answer | None:
        done = handle(request)
        if request.method == "POST" and (
            request.path.startswith("/_search/scroll") or b'"search_after"' in request.body
        ):
            pages[0] += 1
            if pages[0] >= 3 and left[0]:
                left[0] -= 1
                return break_it(done)
        return done

    return otherwise


CUTS: dict[str, Callable[[Answer | None], Answer | None]] = {
    "cut before the answer": lambda _: None,
    "cut within the answer": lambda done: done and replace(done, cut=True),
    "busy": lambda _: error(429, "rejected_execution_exception", "queue full"),
}


@pytest.fixture(params=["own", "of an application"])
def client(request: pytest.FixtureRequest) -> Callable[[Server], Engine]:
    """Makes an engine with a client of ours, or with one that repeats requests as it likes."""
    if request.param == "own":
        return lambda server: connect(server.url, index=False)[0]
    return lambda server: Engine(OpenSearch([server.url], max_retries=3, retry_on_status=(429, 502, 503)), "the engine")


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_page_that_is_lost_is_asked_for_again(
    made: Indices, name: str, client: Callable[[Server], Engine], cut: Callable[[Answer | None], Answer | None]
) -> None:
    with serving(broken(forward(made.engine), cut, times=3)) as server:
        engine = client(server).in_background()

        assert NAMES == sorted(hit["_id"] for hit in all_hits(engine, name, EACH))


@pytest.mark.parametrize("cut", CUTS.values(), ids=CUTS)
def test_a_page_of_a_scroll_that_is_lost_is_an_error(
    made: Indices, name: str, client: Callable[[Server], Engine], cut: Callable[[Answer | None], Answer | None]
) -> None:
    with serving(without_moments(broken(forward(made.engine), cut))) as server:
        engine = client(server).in_background()
        with pytest.raises(
            StoreUnavailableError, match="a page is lost, which cannot be asked for again; run it again"
        ):
            list(all_hits(engine, name, EACH))
        pages = [each for each in server.requests if (each.method, each.path) == ("POST", "/_search/scroll")]

        assert 3 == len(pages)


def test_a_scroll_gives_all_where_nothing_is_lost(made: Indices, name: str) -> None:
    with serving(without_moments(forward(made.engine))) as server:
        assert NAMES == ids(open_store(f"{server.url}/{name}"))

        assert ("DELETE", "/_search/scroll") == (server.requests[-1].method, server.requests[-1].path)


def shorter(done: Answer | None) -> Answer | None:
    """An answer without its first hit."""
    assert done is not None
    value = json.loads(done.body)
    del value["hits"]["hits"][0]
    return replace(done, body=json.dumps(value).encode())


def empty(done: Answer | None) -> Answer | None:
    """An answer without hits."""
    assert done is not None
    value = json.loads(done.body)
    value["hits"]["hits"] = []
    return replace(done, body=json.dumps(value).encode())


@pytest.mark.parametrize("way", [without_moments, lambda handle: handle], ids=["scroll", "point in time"])
@pytest.mark.parametrize("less", [shorter, empty])
def test_fewer_hits_than_were_found_are_an_error(
    made: Indices, name: str, less: Callable[[Answer | None], Answer | None], way: Callable[[Handler], Handler]
) -> None:
    with serving(way(broken(forward(made.engine), less))) as server:
        store = open_store(f"{server.url}/{name}")
        with pytest.raises(StoreError, match=r"gave [\d,]+ of 95 hits, so some were lost on the way; run it again"):
            list(store.scan())


@pytest.mark.parametrize("shards", [(1, 1), (2, 3), (5, 1)])
def test_an_alias_is_read_whole(made: Indices, shards: tuple[int, int]) -> None:
    names = [made.name() for _ in shards]
    for number, (name, count) in enumerate(zip(names, shards, strict=True)):
        with closing(open_store(f"{made.engine}/{name}", create=True)) as store:
            mapping = call(made.engine, "GET", f"/{name}/_mapping")[name]["mappings"]
            call(made.engine, "DELETE", f"/{name}")
            call(made.engine, "PUT", f"/{name}", {"mappings": mapping, "settings": {"number_of_shards": count}})
        with closing(open_store(f"{made.engine}/{name}")) as store:
            put(store, *(record(f"{number}-{n}") for n in range(COUNT)))
    some = {"prefix": {"simdoc.names": "0-1"}}
    everything = sorted(f"{number}-{n}" for number in range(2) for n in range(COUNT))

    assert everything == ids(open_store(f"{made.engine}/{made.alias(*names)}"))
    assert everything == ids(open_store(f"{made.engine}/{','.join(names)}"))
    assert [each for each in everything if each.startswith("0-1")] == ids(
        open_store(f"{made.engine}/{made.alias(*names, filter=some)}")
    )


def test_what_is_written_meanwhile_does_not_show(made: Indices, name: str) -> None:
    store = open_store(f"{made.engine}/{name}")
    reading = store.scan()
    first = next(reading)
    with store.writer() as writer:
        writer.put(record(f"new{n}") for n in range(50))
        writer.delete(NAMES[50:])

    assert NAMES == sorted([first.id, *(each.id for each in reading)])


def test_pages_that_are_too_large_are_made_smaller(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    name = made.name()
    text = "word " * 20_000
    put(open_store(f"{made.engine}/{name}", create=True), *(record(f"{n:03}", text=text) for n in range(12)))
    monkeypatch.setattr(clients, "LARGEST_ANSWER", 3 * len(text))
    store = open_store(f"{made.engine}/{name}")

    assert {text} == {each.text for each in store.scan(text=True)}
    assert 12 == len(list(store.scan(text=True)))
    monkeypatch.setattr(clients, "LARGEST_ANSWER", len(text) // 2)
    with pytest.raises(StoreError, match="larger than 256 MB"):
        list(store.scan(text=True))


def test_nothing_is_pruned_by_a_list_with_a_hole(made: Indices, tmp_path: Path) -> None:
    for n in range(60):
        (tmp_path / f"{n}.txt").write_text(f"some words of the text of number {n}")
    name = made.name()
    with serving(without_moments(forward(made.engine))) as server:
        store = open_store(f"{server.url}/{name}", create=True)
        search = SimilaritySearch(store)
        search.index(read_corpus([tmp_path]))
        before = ids(store)
        (tmp_path / "0.txt").unlink()
        server.handle = without_moments(broken(forward(made.engine), CUTS["cut before the answer"]))
        with pytest.raises(StoreUnavailableError, match="a page is lost"):
            search.index(read_corpus([tmp_path]), prune=True)

    assert (60, before) == (len(before), ids(open_store(f"{made.engine}/{name}")))


def test_a_client_that_is_handed_in_stays_as_it_is(made: Indices, name: str) -> None:
    fates: list[Answer | None] = [None, None]
    with serving(forward(made.engine)) as server, closing(OpenSearch([server.url], max_retries=3)) as theirs:
        store = open_store(client=theirs, index=name)
        engine = forward(made.engine)
        server.handle = lambda request: fates.pop() if fates else engine(request)
        with pytest.raises(StoreUnavailableError):
            Engine(theirs, "the engine").call("DELETE", ["_search", "scroll"], {"scroll_id": ["x"]})
        fates[:] = [None, None]

        assert COUNT == theirs.count(index=name)["count"]
        assert 3 == theirs.transport.max_retries
        assert NAMES == ids(store)


def test_documents_that_are_indexed_again_are_not_new(made: Indices) -> None:
    name = made.name()
    documents = [Document(f"{n}", f"some words of the text of number {n}") for n in range(25)]
    with serving(broken(forward(made.engine), CUTS["busy"], times=2)) as server:
        search = SimilaritySearch(open_store(f"{server.url}/{name}", create=True))
        first, second = search.index(documents), search.index(documents)

    assert (25, 25) == (first.indexed, second.unchanged)


def test_an_engine_without_points_in_time_is_asked_about_its_documents(made: Indices, name: str) -> None:
    with serving(without_moments(forward(made.engine))) as server:
        search = SimilaritySearch(open_store(f"{server.url}/{name}-asked", create=True))
        try:
            search.index(Document(str(number), f"all of these six words {'stay ' * number}") for number in range(8))
            pairs, asked = ({(each.a.id, each.b.id) for each in search.duplicates(overlap=0.5, via=via).pairs()}
                            for via in ("memory", "engine"))  # fmt: skip
        finally:
            discard(made.engine, f"{name}-asked")
        scrolls = [each.method for each in server.requests if each.path.startswith("/_search/scroll")]

        assert 4 < len(pairs)
        assert pairs == asked
        assert 3 == scrolls.count("DELETE")
        assert 1 == sum(each.path.startswith(f"/{name}-asked/_msearch") for each in server.requests)
