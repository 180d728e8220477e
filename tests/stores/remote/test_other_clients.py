"""A request through a client of the application ends in time, too, whatever the timeout of that client means."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from typing import Any

import pytest
from elastic_transport import HttpxAsyncHttpNode
from elasticsearch import AsyncElasticsearch, Elasticsearch
from opensearchpy import AsyncOpenSearch, OpenSearch, RequestsHttpConnection

from simdoc_search.cancellation import Stop, StoppedError
from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.event_loop_client import InLoop
from tests.support.raw_server import HEAD, RawServer, raw_server, stopped_while_waiting

Make = Callable[[str], Any]

SYNCHRONOUS: dict[str, Make] = {
    "OpenSearch": OpenSearch,
    "OpenSearch by requests": lambda url: OpenSearch(url, connection_class=RequestsHttpConnection),
    "Elasticsearch": Elasticsearch,
}
ASYNCHRONOUS: dict[str, Make] = {
    "AsyncOpenSearch": lambda url: AsyncOpenSearch(url, timeout=None),
    "AsyncElasticsearch by aiohttp": lambda url: AsyncElasticsearch(url, request_timeout=None),
    "AsyncElasticsearch by httpx": lambda url: AsyncElasticsearch(url, node_class=HttpxAsyncHttpNode),
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[RawServer]:
    """A server that sends a byte now and then. A request has a second."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setenv("SIMDOC_TIMEOUT", "0.1")
    with raw_server() as running:
        running.parts = running.dripping(HEAD + b"content-length: 100000\r\n\r\n{")
        yield running


@pytest.mark.parametrize("make", SYNCHRONOUS.values(), ids=SYNCHRONOUS)
def test_an_answer_that_drips_is_given_up(server: RawServer, make: Make) -> None:
    """The sentence says after how long, and how to wait longer."""
    given_up = (
        r"^the engine does not answer \(no whole answer came within 1 s\); .* set SIMDOC_TIMEOUT to more than 0.1$"
    )
    with make(server.url) as client, pytest.raises(StoreUnavailableError, match=given_up):
        Engine(client, "the engine").call("GET", ["_x"])


@pytest.mark.parametrize("make", ASYNCHRONOUS.values(), ids=ASYNCHRONOUS)
def test_an_answer_that_drips_is_given_up_in_an_event_loop(server: RawServer, make: Make) -> None:
    """The request is cancelled."""

    async def ask() -> None:
        async with make(server.url) as client:
            engine = Engine(InLoop(client, asyncio.get_running_loop(), Stop()), "the engine")
            await asyncio.to_thread(engine.call, "GET", ["_x"])

    with pytest.raises(StoreUnavailableError, match="no whole answer came within 1 s"):
        asyncio.run(ask())


@pytest.mark.parametrize("make", SYNCHRONOUS.values(), ids=SYNCHRONOUS)
def test_a_read_ends_with_the_run(server: RawServer, monkeypatch: pytest.MonkeyPatch, make: Make) -> None:
    """As with a client of ours."""
    monkeypatch.setenv("SIMDOC_TIMEOUT", "3600")
    with make(server.url) as client:
        assert [StoppedError] == stopped_while_waiting(Engine(client, "the engine"), server)


def test_a_client_sees_the_context_of_who_asks() -> None:
    """Such as the span of a trace below which its own belongs."""
    asked: ContextVar[str] = ContextVar("asked", default="")

    class Client:
        def options(self, **_: Any) -> Client:
            return self

        def perform_request(self, *_: Any, **__: Any) -> Any:
            return type("Answer", (), {"body": {"asked": asked.get()}})

    asked.set("by a test")

    assert {"asked": "by a test"} == Engine(Client(), "the engine").call("GET", ["_x"])
