"""Questions from an event loop: the answers of `SimilaritySearch`, and a loop that goes on meanwhile."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from elasticsearch import AsyncElasticsearch
from opensearchpy import AsyncOpenSearch

from simdoc_search import (
    AsyncSimilaritySearch,
    Document,
    Settings,
    SimdocError,
    SimilaritySearch,
    any_of,
    open_store,
    open_store_async,
)
from simdoc_search.errors import QuerySyntaxError, StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.stopping import Stop, StoppedError
from tests.support.cli import words
from tests.support.engines import discard
from tests.support.http_server import Answer, Request, Server, error, forward, serving, unused_url
from tests.versions.paper import DOCUMENTS

SETTINGS = Settings(sentences=Sentences(), concepts=Concepts())
TEXTS = {
    "whole": words(0, 300),
    "near": words(0, 280),
    "half": words(0, 150),
    "copy": words(0, 300),
    "far/name.txt": words(500, 600),
    "near/name.txt": words(500, 590),
    "empty": "",
}
CLIENTS: dict[str, Any] = {"opensearch": AsyncOpenSearch, "elasticsearch": AsyncElasticsearch}
DOCUMENT = Path(__file__).parents[2] / "docs" / "async.md"
LONG = 20.0
"""Seconds that nothing here takes, unless it hangs."""


def documents() -> Iterator[Document]:
    """Texts that overlap, versions, and some that are about the same."""
    papers = {f"paper/{number}": text for number, text in enumerate(DOCUMENTS, 1)}
    return (Document(id, text, {"size": len(text), "kind": id[:4]}) for id, text in (TEXTS | papers).items())


class Place:
    """Where an index is, and how it is opened from an event loop."""

    def __init__(self, kind: str, place: str) -> None:
        self.kind = kind
        self.place = place

    @asynccontextmanager
    async def search(self, **options: Any) -> AsyncIterator[AsyncSimilaritySearch]:
        """An asynchronous search over it; in an engine by an asynchronous client."""
        if self.kind == "folder":
            with await open_store_async(self.place) as store:
                async with AsyncSimilaritySearch(store, **options) as search:
                    yield search
            return
        url, _, index = self.place.rpartition("/")
        async with CLIENTS[self.kind](url) as client:
            store = await open_store_async(client=client, index=index)
            async with AsyncSimilaritySearch(store, **options) as search:
                yield search


@pytest.fixture(params=["folder", "opensearch", "elasticsearch"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An index of these documents in each kind of store."""
    if request.param == "folder":
        place = str(tmp_path / "store")
    else:
        url = request.getfixturevalue(f"{request.param}_url")
        place = f"{url}/test-{uuid4()}"
    with open_store(place, SETTINGS, create=True) as store:
        assert not SimilaritySearch(store).index(documents()).failed
    yield Place(request.param, place)
    if request.param != "folder":
        discard(*place.rsplit("/", 1))


one_engine = pytest.mark.parametrize("indexed", ["opensearch"], indirect=True)
engines = pytest.mark.parametrize("indexed", ["opensearch", "elasticsearch"], indirect=True)


QUESTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("similar", ("whole",), {}),
    ("similar", ("whole_20",), {"include_self": True, "size": 2}),
    ("similar", ("whole_20_80",), {"fields": ["size", "kind"]}),
    ("similar", ("whole",), {"overlap": 0.3, "probability": 0.9, "planner": "all"}),
    ("similar", ("whole_20",), {"verify": True}),
    ("similar", ("whole",), {"overlap": 0.3, "measure": "containment"}),
    ("similar", ("half",), {"overlap": 0.9, "measure": "contained"}),
    ("similar", ("whole",), {"filters": {"kind": any_of("near", "half")}}),
    ("similar", ("nothing",), {}),
    ("similar", ("name",), {}),
    ("similar", ("empty",), {}),
    ("similar", ("whole",), {"overlap": 2.0}),
    ("similar", ("whole",), {"filters": {"unknown": 1}}),
    ("similar", ("whole",), {"measure": "cosine"}),
    ("similar_to_text", (words(0, 200),), {"overlap": 0.4, "verify": True}),
    ("similar_to_text", ("",), {}),
    ("passages", ("half",), {}),
    ("passages", (), {"text": words(500, 560), "preset": "verbatim", "min_words": 10}),
    ("passages", (), {}),
    ("versions", ("paper/1",), {}),
    ("versions", (), {"text": DOCUMENTS[0]}),
    ("related", ("paper/3",), {}),
    ("related", (), {"text": DOCUMENTS[2], "name": "a text"}),
    ("nearest_duplicate", (words(0, 299),), {}),
    ("nearest_duplicate", (words(7000, 7100),), {}),
    ("resolve", ("far/name",), {"overlap": 0.5}),
    ("tokens", ("whole",), {}),
    ("tokens", ("nothing",), {}),
    ("languages", (), {}),
    ("info", (), {}),
    ("delete", (["nothing"],), {}),
    ("kept_by_marks", (), {}),
]


def comparable(value: Any) -> Any:
    """A value that can be compared with what another client gave: the engine has another name there."""
    if isinstance(value, SimdocError):
        return type(value), re.sub(r"http://[^/]*", "the engine", str(value))
    return replace(value, location="") if isinstance(value, StoreInfo) else value


def outcome(ask: Callable[[], Any]) -> Any:
    """What a method gives, or its error."""
    try:
        return comparable(ask())
    except SimdocError as raised:
        return comparable(raised)


async def outcome_async(asked: Awaitable[Any]) -> Any:
    """The same for an asynchronous one."""
    try:
        return comparable(await asked)
    except SimdocError as raised:
        return comparable(raised)


def public_methods(kind: type) -> dict[str, Any]:
    """The methods of a class that have a name without an underscore."""
    return {name: each for name, each in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def test_each_method_has_its_twin() -> None:
    """Of the same name and signature; what gives an iterator gives an asynchronous one, all else is awaited."""
    theirs, ours = public_methods(SimilaritySearch), public_methods(AsyncSimilaritySearch)

    assert {"aclose", "each"} == ours.keys() - theirs.keys()
    assert set() == theirs.keys() - ours.keys()
    for name, method in theirs.items():
        iterates = (
            inspect.isgeneratorfunction(method) or str(inspect.signature(method).return_annotation)[:9] == "Iterator["
        )
        assert inspect.signature(method) == inspect.signature(ours[name])
        assert iterates != inspect.iscoroutinefunction(ours[name]), name
        assert ours[name].__doc__ == method.__doc__


def test_the_store_is_opened_by_the_same_arguments() -> None:
    """`open_store_async` has the signature of `open_store`."""
    assert inspect.signature(open_store) == inspect.signature(open_store_async)


def test_answers_are_the_same(indexed: Place) -> None:
    """All questions to a store, and the errors among them, asked at once by an asynchronous client."""
    with open_store(indexed.place) as store:
        search = SimilaritySearch(store)
        expected = [outcome(lambda: getattr(search, name)(*args, **kwargs)) for name, args, kwargs in QUESTIONS]  # noqa: B023

    async def ask() -> list[Any]:
        async with indexed.search() as search:
            asked = [getattr(search, name)(*args, **kwargs) for name, args, kwargs in QUESTIONS]
            return list(await asyncio.gather(*map(outcome_async, asked)))

    for (name, _, options), theirs, ours in zip(QUESTIONS, expected, asyncio.run(ask()), strict=True):
        assert repr(theirs) == repr(ours), (name, options)


def test_iterators_give_the_same(indexed: Place) -> None:
    """Many queries, one of them unknown; and the pairs of duplicates, which are verified as they are read."""
    queries = ["whole", "nothing", "half_50", "name", *["copy"] * 10]
    with open_store(indexed.place) as store:
        search = SimilaritySearch(store)
        expected = [
            [comparable(each) for each in found]
            for found in (search.similar_many(queries, size=3), search.passages_of_many(queries))
        ]
        duplicates = list(search.duplicates(overlap=0.9).groups())
        pairs = list(search.duplicates(overlap=0.9).pairs())

    async def ask() -> None:
        async with indexed.search() as search:
            similar = [comparable(each) async for each in search.similar_many(queries, size=3)]
            passages = [comparable(each) async for each in search.passages_of_many(queries)]
            found = await search.duplicates(overlap=0.9)

            assert expected == [similar, passages]
            assert duplicates == list(found.groups()) != []
            assert pairs == [each async for each in search.each(found.pairs())] != []

    asyncio.run(ask())


def test_an_iterator_reads_no_more_queries_than_it_needs(indexed: Place) -> None:
    """Answers that nobody asks for are not made; one that is left early leaves nothing behind."""
    read: list[str] = []

    def queries() -> Iterator[str]:
        for _ in range(1000):
            read.append("whole")
            yield "whole"

    async def ask() -> None:
        async with indexed.search(threads=1) as search:
            iterators = [search.similar_many(queries()) for _ in range(3)]
            for each in iterators:  # none holds the only thread
                assert not isinstance(await each.__anext__(), SimdocError)
            assert len(read) < 200
            for each in iterators:
                await each.aclose()
            with pytest.raises(QuerySyntaxError, match="overlap"):
                search.similar_many(queries(), overlap=3.0)

    asyncio.run(ask())


def test_documents_are_written(request: pytest.FixtureRequest, indexed: Place) -> None:
    """Indexed, found and deleted; what is handed in is called in a thread, with the caller's context variables."""
    user, seen = ContextVar("user", default="nobody"), []

    async def write() -> None:
        async with indexed.search() as search:
            user.set("ann")
            more = (Document(f"new/{number}", words(0, 300 - number)) for number in range(30))
            report = await search.index(more, written=lambda _: seen.append((user.get(), threading.current_thread())))

            assert (30, False) == (report.indexed, report.failed)
            assert {"ann"} == {name for name, _ in seen}
            assert threading.main_thread() not in {thread for _, thread in seen}
            assert 33 == len((await search.similar("whole", size=50)).hits)
            assert 30 == await search.delete([f"new/{number}" for number in range(30)])
            assert 3 == len((await search.similar("whole", size=50)).hits)

    asyncio.run(write())


@engines
def test_marks_are_written(indexed: Place) -> None:
    """Of duplicates that were found by the same search."""

    async def mark() -> None:
        async with indexed.search() as search:
            report = await search.mark_duplicates(await search.duplicates(overlap=0.9))

            assert report.set > 0
            assert await search.kept_by_marks()

    asyncio.run(mark())


@pytest.mark.slow
def test_a_hundred_ask_at_once(indexed: Place) -> None:
    """With few threads each waits for its turn, and all have their answers."""

    async def ask() -> None:
        async with indexed.search(threads=4) as search:
            results = await asyncio.gather(*(search.similar("whole_20", size=1 + number % 3) for number in range(100)))

            assert [1 + number % 3 for number in range(100)] == [len(each.hits) for each in results]

    asyncio.run(ask())


@asynccontextmanager
async def beating() -> AsyncIterator[list[int]]:
    """Counts how often the loop comes by meanwhile."""
    beats = [0]

    async def beat() -> None:
        while True:
            await asyncio.sleep(0.005)
            beats[0] += 1

    task = asyncio.create_task(beat())
    try:
        yield beats
    finally:
        task.cancel()


@pytest.mark.slow
def test_arithmetic_does_not_hold_the_loop_up(tmp_path: Path) -> None:
    """A text of millions of words is fingerprinted beside it."""
    text = words(0, 300_000)

    async def ask() -> None:
        with open_store(":memory:", create=True) as store:
            async with AsyncSimilaritySearch(store) as search, beating() as beats:
                await search.similar_to_text(text)

                assert beats[0] >= 5

    asyncio.run(ask())


# --- an engine that fails ---


@pytest.fixture
def between(indexed: Place) -> Iterator[tuple[Server, Place]]:
    """A server that hands on to the engine, and the index by way of it."""
    url, _, index = indexed.place.rpartition("/")
    with serving(forward(url)) as server:
        yield server, Place(indexed.kind, f"{server.url}/{index}")


@engines
def test_waiting_does_not_hold_the_loop_up(between: tuple[Server, Place]) -> None:
    """An engine that takes its time."""
    server, place = between
    through = server.handle

    def slow(request: Request) -> Answer | None:
        time.sleep(0.3)
        return through(request)

    async def ask() -> None:
        async with place.search() as search:
            server.handle = slow
            async with beating() as beats:
                await search.similar("whole")

            assert beats[0] >= 5

    asyncio.run(ask())


@engines
@pytest.mark.parametrize("state", ["frozen", "busy"])
def test_whoever_is_cancelled_is_waited_for_no_longer(between: tuple[Server, Place], state: str) -> None:
    """The thread ends too, and sends nothing more; others go on."""
    server, place = between
    through, thaw = server.handle, threading.Event()
    busy = error(503, "x", "no shards")

    async def ask() -> None:
        async with place.search(threads=1) as search:
            server.handle = (lambda _: (thaw.wait(LONG), busy)[1]) if state == "frozen" else (lambda _: busy)
            task = asyncio.create_task(search.similar("whole"))
            sent = len(server.requests)
            while len(server.requests) == sent:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(search.similar("whole"), 0.2)
            server.handle = through
            began = time.monotonic()

            assert 3 == len((await search.similar("whole")).hits)  # by the only thread
            assert time.monotonic() - began < LONG / 2
            thaw.set()

    asyncio.run(ask())


@engines
def test_closing_ends_what_runs(between: tuple[Server, Place]) -> None:
    """With one sentence, for those that run, wait in line, or come later."""
    server, place = between
    thaw = threading.Event()

    async def ask() -> None:
        async with place.search(threads=1) as search:
            server.handle = lambda _: (thaw.wait(LONG), error(503, "x", "no shards"))[1]
            tasks = [asyncio.create_task(search.similar("whole")) for _ in range(3)]
            await asyncio.sleep(0.05)
            await asyncio.wait_for(search.aclose(), LONG / 2)
            for each in (*tasks, search.info()):
                with pytest.raises(StoreError, match="this search is closed; make another one"):
                    await each
            thaw.set()

    asyncio.run(ask())


@engines
def test_errors_of_the_engine_are_sentences(between: tuple[Server, Place]) -> None:
    """As without an event loop."""
    server, place = between
    through = server.handle

    async def ask() -> None:
        async with place.search() as search:
            server.handle = lambda request: replace(
                error(400, "kind", "a reason"), product=(through(request) or error(500, "", "")).product
            )
            with pytest.raises(StoreError, match="the engine answers 400: a reason"):
                await search.similar("whole")
            server.handle = lambda _: None
            with pytest.raises(StoreUnavailableError, match="the engine does not answer"):
                await asyncio.wait_for(search.similar("whole"), LONG)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SIMDOC_PATIENCE", "0")
        asyncio.run(ask())


@pytest.mark.parametrize("kind", CLIENTS)
def test_an_engine_that_is_not_there(kind: str) -> None:
    """One sentence, at once."""

    async def ask() -> None:
        async with CLIENTS[kind](unused_url()) as client:
            with pytest.raises(StoreUnavailableError, match=r"the engine does not answer \(connection refused\)"):
                await open_store_async(client=client, index="index")

    asyncio.run(ask())


@engines
def test_what_is_not_there_is_said(indexed: Place) -> None:
    """An index of an engine; and a client that was not entered before has one set of connections, which it closes."""

    async def ask() -> None:
        client = CLIENTS[indexed.kind](indexed.place.rpartition("/")[0])
        with pytest.raises(StoreNotFoundError, match="there is no index the engine/nothing"):
            await open_store_async(client=client, index="nothing")
        store = await open_store_async(client=client, index="test-new", create=True)
        async with AsyncSimilaritySearch(store) as search:
            assert 0 == (await search.info()).documents
        store.close()
        await client.close()

    asyncio.run(ask())
    discard(indexed.place.rpartition("/")[0], "test-new")


@engines
def test_a_loop_is_not_blocked_by_mistake(indexed: Place) -> None:
    """The store itself, asked in the loop, says whom to ask."""

    async def ask() -> None:
        async with indexed.search() as search:
            with pytest.raises(StoreError, match=r"would block the event loop .* ask with AsyncSimilaritySearch"):
                search.store.info()

    asyncio.run(ask())


@engines
def test_a_loop_that_has_ended(indexed: Place) -> None:
    """A search that outlives its loop says so in the next one."""
    kept: list[AsyncSimilaritySearch] = []

    async def first() -> None:
        async with indexed.search() as search:
            kept.append(AsyncSimilaritySearch(search.store))

    async def second() -> None:
        async with kept[0] as search:
            with pytest.raises(StoreError, match="the event loop in which this store was opened has ended; open it in"):
                await search.similar("whole")

    asyncio.run(first())
    asyncio.run(second())


def test_indexing_ends_with_whoever_waits_for_it(tmp_path: Path) -> None:
    """In a store without an engine at the next documents; nothing of it is kept, and the store takes others."""
    began = threading.Event()

    def endless() -> Iterator[Document]:
        for number in range(10**9):
            began.set()
            yield Document(str(number), words(number, number + 50))

    async def ask() -> None:
        with open_store(tmp_path / "store", create=True) as store:
            async with AsyncSimilaritySearch(store) as search:
                task = asyncio.create_task(search.index(endless()))
                await asyncio.to_thread(began.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
            async with AsyncSimilaritySearch(store) as search:
                assert 0 == (await search.info()).documents
                assert 1 == (await search.index([Document("a", words(0, 9))])).indexed

    asyncio.run(ask())


def test_the_code_of_the_document_runs(opensearch_url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It prints what its comments say."""
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    name = f"test-{uuid4()}"
    code = code.replace("http://localhost:9200", opensearch_url).replace('"notes"', repr(name))
    exec(compile(code, DOCUMENT.name, "exec"), {})
    discard(opensearch_url, name)

    assert ["['b']", "1", "1"] == capsys.readouterr().out.splitlines()


def test_a_search_needs_a_thread() -> None:
    """At the least."""
    with open_store(":memory:", create=True) as store, pytest.raises(ValueError, match="greater than 0"):
        AsyncSimilaritySearch(store, threads=0)


def test_a_stop_reaches_below_and_not_above() -> None:
    """Those made later too."""
    above = Stop()
    one, other = above.below(), above.below()
    one.set()

    assert (False, True, False) == (above.is_set(), one.is_set(), other.is_set())
    above.set()
    assert (True, True) == (other.is_set(), above.below().is_set())
    with pytest.raises(StoppedError):
        other.check()
