"""Tests that `AsyncSimilaritySearch` does not block the event loop, and ends its work when it is closed."""

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
from simdoc_search.cancellation import StopEvent, StoppedError
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.sketch import long_text
from tests.support.asynchronous import CLIENTS, StoreLocation, engines, indexed
from tests.support.cli import words
from tests.support.engines import PREFIX, discard
from tests.support.http_server import Answer, Request, Server, error, forward, serving, unused_url

__all__ = ["indexed"]

LONG = 20.0
"""A time limit in seconds that is only exceeded if something hangs."""

BUSY = error(503, "x", "no shards")


@asynccontextmanager
async def count_turns() -> AsyncIterator[list[int]]:
    """Count how often another task of the event loop runs while the block is executed."""
    turns = [0]

    async def count() -> None:
        while True:
            await asyncio.sleep(0.005)
            turns[0] += 1

    task = asyncio.create_task(count())
    try:
        yield turns
    finally:
        task.cancel()


@pytest.mark.slow
def test_computing_does_not_block_the_loop() -> None:
    text = words(0, 300_000)

    async def run() -> None:
        async with AsyncSimilaritySearch(open_store(":memory:")) as search, count_turns() as turns:
            await search.similar(text=text)

            assert turns[0] >= 5

    asyncio.run(run())


def test_a_cancelled_computation_ends_and_frees_its_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    began, pieces = threading.Event(), 0

    def slow_word_batch(texts: list[str], analysis: Analysis) -> WordBatch:
        nonlocal pieces
        pieces += 1
        began.set()
        time.sleep(0.02)
        return word_batch(texts, analysis)

    monkeypatch.setattr(long_text, "word_batch", slow_word_batch)
    monkeypatch.setattr(long_text, "_PIECE_LENGTH", 1 << 12)

    async def run() -> None:
        async with AsyncSimilaritySearch(open_store(":memory:"), threads=1) as search:
            task = asyncio.create_task(search.similar(text="word " * (1 << 20)))
            await asyncio.to_thread(began.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert 0 == (await search.info()).document_count
            assert 200 > pieces  # of 1,280

    asyncio.run(run())


def test_cancelled_indexing_stores_nothing(tmp_path: Path) -> None:
    began = threading.Event()

    def endless() -> Iterator[Document]:
        for number in range(10**9):
            began.set()
            yield Document(str(number), words(number, number + 50))

    async def run() -> None:
        async with AsyncSimilaritySearch(open_store(tmp_path / "store", create=True)) as search:
            task = asyncio.create_task(search.index(endless()))
            await asyncio.to_thread(began.wait)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        async with AsyncSimilaritySearch(open_store(tmp_path / "store")) as search:
            assert 0 == (await search.info()).document_count
            assert 1 == (await search.index([Document("a", words(0, 9))])).added_count

    asyncio.run(run())


@pytest.fixture
def proxied(indexed: StoreLocation) -> Iterator[tuple[Server, StoreLocation]]:
    """A server that forwards to the engine, and the location of the index behind it."""
    url, _, index = indexed.location.rpartition("/")
    with serving(forward(url)) as server:
        yield server, StoreLocation(indexed.kind, f"{server.url}/{index}")


@engines
def test_waiting_for_an_engine_does_not_block_the_loop(proxied: tuple[Server, StoreLocation]) -> None:
    server, location = proxied
    forwarding = server.handle

    def slow(request: Request) -> Answer | None:
        time.sleep(0.3)
        return forwarding(request)

    async def run() -> None:
        async with location.search() as search:
            server.handle = slow
            async with count_turns() as turns:
                await search.similar("whole")

            assert turns[0] >= 5

    asyncio.run(run())


@engines
@pytest.mark.parametrize("state", ["frozen", "busy"])
def test_a_cancelled_request_frees_its_thread(proxied: tuple[Server, StoreLocation], state: str) -> None:
    server, location = proxied
    forwarding, thaw = server.handle, threading.Event()

    async def run() -> None:
        async with location.search(threads=1) as search:
            server.handle = lambda _: (thaw.wait(LONG), BUSY)[1] if state == "frozen" else BUSY
            task = asyncio.create_task(search.similar("whole"))
            sent = len(server.requests)
            while len(server.requests) == sent:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(search.similar("whole"), 0.2)
            server.handle = forwarding
            began = time.monotonic()

            assert 3 == len(await search.similar("whole"))
            assert time.monotonic() - began < LONG / 2
            thaw.set()

    asyncio.run(run())


@engines
def test_closing_ends_running_and_waiting_calls(proxied: tuple[Server, StoreLocation]) -> None:
    server, location = proxied
    thaw = threading.Event()

    async def run() -> None:
        async with location.search(threads=1) as search:
            server.handle = lambda _: (thaw.wait(LONG), BUSY)[1]
            tasks = [asyncio.create_task(search.similar("whole")) for _ in range(3)]
            await asyncio.sleep(0.05)
            await asyncio.wait_for(search.aclose(), LONG / 2)
            for call in (*tasks, search.info()):
                with pytest.raises(StoreError, match="this search is closed; create a new AsyncSimilaritySearch"):
                    await call
            thaw.set()

    asyncio.run(run())


@engines
def test_errors_of_an_engine_are_store_errors(
    proxied: tuple[Server, StoreLocation], monkeypatch: pytest.MonkeyPatch
) -> None:
    server, location = proxied
    forwarding = server.handle
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")

    def refuse(request: Request) -> Answer:
        return replace(error(400, "kind", "a reason"), headers=(forwarding(request) or BUSY).headers)

    async def run() -> None:
        async with location.search() as search:
            server.handle = refuse
            with pytest.raises(StoreError, match=f"{server.url} returned status 400: a reason"):
                await search.similar("whole")
            server.handle = lambda _: None
            with pytest.raises(StoreUnavailableError, match=f"no response from {server.url}"):
                await asyncio.wait_for(search.similar("whole"), LONG)

    asyncio.run(run())


@pytest.mark.parametrize("kind", CLIENTS)
def test_an_unreachable_engine_is_an_error(kind: str) -> None:
    async def run() -> None:
        async with CLIENTS[kind](url := unused_url()) as client:
            with pytest.raises(StoreUnavailableError, match=f"no response from {url}: connection refused"):
                await open_store_async(client=client, index="index")

    asyncio.run(run())


@engines
def test_a_client_works_without_a_with_block(indexed: StoreLocation) -> None:
    async def run() -> None:
        client = CLIENTS[indexed.kind](indexed.location.rpartition("/")[0])
        with pytest.raises(StoreNotFoundError, match=r"there is no index http.*/nothing"):
            await open_store_async(client=client, index="nothing")
        store = await open_store_async(client=client, index=f"{PREFIX}-new", create=True)
        async with AsyncSimilaritySearch(store) as search:
            assert 0 == (await search.info()).document_count
        store.close()
        await client.close()

    asyncio.run(run())
    discard(indexed.location.rpartition("/")[0], f"{PREFIX}-new")


@engines
def test_a_blocking_call_in_the_loop_is_refused(indexed: StoreLocation) -> None:
    async def run() -> None:
        async with indexed.search() as search:
            with pytest.raises(StoreError, match=r"would block the event loop .* use AsyncSimilaritySearch"):
                search.store.info()

    asyncio.run(run())


@engines
def test_a_search_cannot_be_used_in_another_event_loop(indexed: StoreLocation) -> None:
    searches: list[AsyncSimilaritySearch] = []

    async def first() -> None:
        url, _, index = indexed.location.rpartition("/")
        async with CLIENTS[indexed.kind](url) as client:
            searches.append(AsyncSimilaritySearch(await open_store_async(client=client, index=index)))

    async def second() -> None:
        async with searches[0] as search:
            with pytest.raises(StoreError, match="the event loop in which this index was opened is closed; open"):
                await search.similar("whole")

    asyncio.run(first())
    asyncio.run(second())


def test_a_search_needs_at_least_one_thread() -> None:
    with open_store(":memory:") as store, pytest.raises(ValueError, match="greater than 0"):
        AsyncSimilaritySearch(store, threads=0)


def test_a_stop_cancels_its_children_only() -> None:
    stop = StopEvent()
    child, other = stop.make_child(), stop.make_child()
    child.set()

    assert (False, True, False) == (stop.is_set(), child.is_set(), other.is_set())
    stop.set()
    assert (True, True) == (other.is_set(), stop.make_child().is_set())
    with pytest.raises(StoppedError):
        other.check()
