"""An event loop goes on while a question is answered: slow engines, cancelling, closing, and faults."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search import Analysis, AsyncSimilaritySearch, Document, open_store, open_store_async
from simdoc_search.analysis.words import WordBatch, word_batch
from simdoc_search.cancellation import Stop, StoppedError
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.sketch import long_text
from tests.support.asynchronous import CLIENTS, Place, place_of
from tests.support.cli import words
from tests.support.engines import PREFIX, discard
from tests.support.http_server import Answer, Request, Server, error, forward, serving, unused_url


@pytest.fixture(params=["folder", "opensearch", "elasticsearch"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An index of the documents in each kind of store."""
    with place_of(request.param, request, tmp_path) as place:
        yield place


engines = pytest.mark.parametrize("indexed", ["opensearch", "elasticsearch"], indirect=True)
LONG = 20.0
"""Seconds that nothing here takes, unless it hangs."""


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


def test_a_computation_ends_when_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not only a request: the thread reads no further piece of the text, and is free again."""
    began, pieces = threading.Event(), 0

    def slowly(texts: list[str], analysis: Analysis) -> WordBatch:
        nonlocal pieces
        pieces += 1
        began.set()
        time.sleep(0.02)
        return word_batch(texts, analysis)

    monkeypatch.setattr(long_text, "word_batch", slowly)
    monkeypatch.setattr(long_text, "_PIECE", 1 << 12)

    async def ask() -> None:
        with open_store(":memory:", create=True) as store:
            async with AsyncSimilaritySearch(store, threads=1) as search:
                task = asyncio.create_task(search.similar_to_text("word " * (1 << 20)))
                await asyncio.to_thread(began.wait)
                task.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await task
                assert 0 == (await search.info()).documents  # by the only thread
                assert 200 > pieces  # of 1,280

    asyncio.run(ask())


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
        patch.setenv("SIMDOC_RETRY_SECONDS", "0")
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
        store = await open_store_async(client=client, index=f"{PREFIX}-new", create=True)
        async with AsyncSimilaritySearch(store) as search:
            assert 0 == (await search.info()).documents
        store.close()
        await client.close()

    asyncio.run(ask())
    discard(indexed.place.rpartition("/")[0], f"{PREFIX}-new")


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
        url, _, index = indexed.place.rpartition("/")
        async with CLIENTS[indexed.kind](url) as client:
            kept.append(AsyncSimilaritySearch(await open_store_async(client=client, index=index)))

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
        async with AsyncSimilaritySearch(open_store(tmp_path / "store", create=True)) as search:
            task = asyncio.create_task(search.index(endless()))
            await asyncio.to_thread(began.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        async with AsyncSimilaritySearch(open_store(tmp_path / "store")) as search:
            assert 0 == (await search.info()).documents
            assert 1 == (await search.index([Document("a", words(0, 9))])).indexed

    asyncio.run(ask())


def test_a_search_needs_a_thread() -> None:
    """At the least."""
    with open_store(":memory:", create=True) as store, pytest.raises(ValueError, match="greater than 0"):
        AsyncSimilaritySearch(store, threads=0)


def test_a_stop_reaches_below_and_not_above() -> None:
    """Those made later too."""
    above = Stop()
    one, other = above.child(), above.child()
    one.set()

    assert (False, True, False) == (above.is_set(), one.is_set(), other.is_set())
    above.set()
    assert (True, True) == (other.is_set(), above.child().is_set())
    with pytest.raises(StoppedError):
        other.check()
