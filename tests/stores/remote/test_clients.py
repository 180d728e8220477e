"""Requests through each kind of client. They can be stopped, and our own clients limit the time and size of answers."""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import pytest
from elastic_transport import HttpxAsyncHttpNode
from elasticsearch import AsyncElasticsearch, Elasticsearch
from opensearchpy import AsyncOpenSearch, OpenSearch, RequestsHttpConnection

from simdoc_search.cancellation import StopEvent, StoppedError
from simdoc_search.errors import StoreError, StoreNotFoundError, StoreUnavailableError
from simdoc_search.stores import open_store
from simdoc_search.stores.asynchronous import open_store_async
from simdoc_search.stores.location import ENGINES, EngineKind
from simdoc_search.stores.remote import clients
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError, ResponseTooLargeError
from simdoc_search.stores.remote.transport import LoopClient
from tests.support.error_sentences import MAPPING
from tests.support.http_server import ELASTICSEARCH, Answer, Server, answer, error, serving
from tests.support.waiting import wait_until

NewClient = Callable[[str], Any]

CLIENTS: dict[str, NewClient] = {
    "OpenSearch": OpenSearch,
    "OpenSearch by requests": lambda url: OpenSearch(url, connection_class=RequestsHttpConnection),
    "Elasticsearch": Elasticsearch,
}
ASYNCHRONOUS: dict[str, NewClient] = {
    "AsyncOpenSearch": AsyncOpenSearch,
    "AsyncElasticsearch by aiohttp": AsyncElasticsearch,
    "AsyncElasticsearch by httpx": lambda url: AsyncElasticsearch(url, node_class=HttpxAsyncHttpNode),
}
BODY = replace(answer({}), headers=ELASTICSEARCH)

pytestmark = pytest.mark.usefixtures("no_credentials")


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers each request with an empty object."""
    with serving(lambda _: BODY) as running:
        yield running


@pytest.fixture
def silent_server(server: Server) -> Iterator[Server]:
    """A server that does not respond until the end of the test."""
    end = threading.Event()
    server.handle = lambda _: (end.wait(), None)[1]
    yield server
    end.set()


def error_when_stopped(engine: Engine, server: Server) -> type[BaseException]:
    """Stop a request that waits in another thread, and return the type of its error."""
    background, errors = engine.in_background(), list[type[BaseException]]()

    def call() -> None:
        with pytest.raises(BaseException) as caught:  # noqa: PT011 - the test compares its type
            background.call("GET", ["_x"])
        errors.append(caught.type)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: bool(server.requests))
    background.stop_event.set()
    thread.join(5)
    return errors[0]


@pytest.mark.parametrize("kind", ENGINES)
def test_our_client_waits_for_the_timeout(
    silent_server: Server, kind: EngineKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMDOC_TIMEOUT", "0.2")
    engine, _ = connect(f"{silent_server.url}/index", engine=kind)
    began = time.monotonic()
    with (
        closing(engine),
        pytest.raises(StoreUnavailableError, match=r"the request took too long; .* increase SIMDOC_TIMEOUT"),
    ):
        engine.call("GET", ["_x"])

    assert 0.1 < time.monotonic() - began < 10


@pytest.mark.parametrize("value", ["0", "a minute"])
def test_a_malformed_timeout_is_refused(server: Server, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SIMDOC_TIMEOUT", value)
    with pytest.raises(
        StoreError,
        match=f"^SIMDOC_TIMEOUT is '{value}', which is not a valid number of seconds; "
        "set SIMDOC_TIMEOUT to a number such as 60$",
    ):
        connect(f"{server.url}/index")


@pytest.mark.parametrize("kind", ENGINES)
def test_a_large_answer_is_refused_and_does_not_affect_the_next_one(
    server: Server, kind: EngineKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "MAX_RESPONSE_BYTES", 1 << 16)
    engine, _ = connect(f"{server.url}/index", engine=kind)
    with closing(engine):
        server.handle = lambda _: replace(BODY, body=b" " * (1 << 20))
        with pytest.raises(ResponseTooLargeError, match="larger than"):
            engine.call("GET", ["_x"])
        server.handle = lambda _: BODY

        assert {} == engine.call("GET", ["_x"])


@pytest.mark.parametrize("kind", ENGINES)
def test_connections_are_reused(server: Server, kind: EngineKind) -> None:
    engine, _ = connect(f"{server.url}/index", engine=kind)
    with closing(engine):
        for _ in range(20):
            engine.call("GET", ["_x"])

    assert 1 == len(server.connections)


def test_a_request_without_an_answer_does_not_delay_the_others(server: Server) -> None:
    """Each background request has a thread, which sends further requests when it is free."""
    end = threading.Event()
    server.handle = lambda request: BODY if "fast" in request.path or end.wait() else None
    before = {thread for thread in threading.enumerate() if thread.name == "simdoc-request"}
    engine, _ = connect(f"{server.url}/index", engine="opensearch")
    background = engine.in_background()
    with closing(engine), ThreadPoolExecutor(1) as executor:
        slow = executor.submit(background.call, "GET", ["_slow"])
        wait_until(lambda: bool(server.requests))
        for _ in range(20):
            assert {} == background.call("GET", ["_fast"])
        assert not slow.done()
        end.set()
        assert {} == slow.result()
    threads = {thread for thread in threading.enumerate() if thread.name == "simdoc-request"}

    assert len(threads - before) <= 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_sends_requests(server: Server) -> None:
    """It does not have the threads of its parent."""
    engine, _ = connect(f"{server.url}/index", engine="opensearch")
    with closing(engine):
        engine.in_background().call("GET", ["_x"])
        child = os.fork()
        if not child:
            signal.alarm(30)
            in_child, _ = connect(f"{server.url}/index", engine="opensearch")
            os._exit(0 if in_child.in_background().call("GET", ["_x"]) == {} else 1)

    assert 0 == os.waitpid(child, 0)[1]


@pytest.mark.parametrize("kind", ENGINES)
def test_warnings_from_an_engine_are_logged_without_control_characters(
    server: Server, kind: EngineKind, caplog: pytest.LogCaptureFixture
) -> None:
    warning = '299 OpenSearch-3.3.2-x "old \x1b[31mred\x9b2J style"'
    server.handle = lambda _: replace(BODY, headers={**ELASTICSEARCH, "warning": warning})
    engine, _ = connect(f"{server.url}/index", engine=kind)
    with closing(engine), warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.INFO):
        warnings.simplefilter("always")
        engine.call("GET", ["_x"])
    (line,) = [line.getMessage() for line in caplog.records if line.name == "simdoc_search"]

    assert [] == caught
    assert line.startswith("the engine warns: ")
    assert line.isprintable()


@pytest.mark.parametrize("kind", ENGINES)
def test_a_request_through_our_client_can_be_stopped(silent_server: Server, kind: EngineKind) -> None:
    engine, _ = connect(f"{silent_server.url}/index", engine=kind)
    with closing(engine):
        assert StoppedError is error_when_stopped(engine, silent_server)


@pytest.mark.parametrize("new_client", CLIENTS.values(), ids=CLIENTS)
def test_a_request_through_an_application_client_can_be_stopped(silent_server: Server, new_client: NewClient) -> None:
    with new_client(silent_server.url) as client:
        assert StoppedError is error_when_stopped(Engine(client, "the engine"), silent_server)


@pytest.mark.parametrize("new_client", ASYNCHRONOUS.values(), ids=ASYNCHRONOUS)
def test_a_request_in_an_event_loop_can_be_stopped(silent_server: Server, new_client: NewClient) -> None:
    async def call() -> type[BaseException]:
        async with new_client(silent_server.url) as client:
            engine = Engine(LoopClient(client, asyncio.get_running_loop(), StopEvent()), "the engine")
            return await asyncio.to_thread(error_when_stopped, engine, silent_server)

    assert StoppedError is asyncio.run(call())


@pytest.mark.parametrize("kind", [AsyncOpenSearch, AsyncElasticsearch])
def test_an_asynchronous_client_is_refused_outside_an_event_loop(kind: Any) -> None:
    client = kind(["http://127.0.0.1:1"])
    expected = (
        f"{kind.__name__} is asynchronous; open the index with `await open_store_async`, or pass a client of type "
        f"{kind.__name__[5:]}"
    )

    with pytest.raises(TypeError, match=expected):
        open_store(client=client, index="docs")
    asyncio.run(client.close())


@pytest.mark.parametrize("new_client", CLIENTS.values(), ids=CLIENTS)
def test_messages_for_an_application_client_name_its_url_and_its_credentials(
    server: Server, new_client: NewClient
) -> None:
    server.handle = lambda _: replace(error(401, "security_exception", "no"), headers=ELASTICSEARCH)
    client = new_client(f"{server.url.replace('//', '//user:secret@')}/prefix")
    message = f"^{server.url}/prefix rejected the credentials; check the credentials of your client$"
    with closing(client), pytest.raises(RequestError, match=message):
        open_store(client=client, index="docs")


@pytest.mark.parametrize("new_client", ASYNCHRONOUS.values(), ids=ASYNCHRONOUS)
def test_messages_for_an_asynchronous_client_name_its_url(server: Server, new_client: NewClient) -> None:
    server.handle = lambda _: replace(error(404, "index_not_found_exception", "no"), headers=ELASTICSEARCH)

    async def run() -> None:
        async with new_client(server.url) as client:
            with pytest.raises(StoreNotFoundError, match=f"there is no index {server.url}/docs"):
                await open_store_async(client=client, index="docs")

    asyncio.run(run())


@pytest.mark.skipif(
    os.name != "posix", reason="on this system, Ctrl-C does not interrupt a thread that waits for a socket"
)
def test_the_calling_thread_sends_the_requests_that_only_ctrl_c_can_stop() -> None:
    senders: list[threading.Thread] = []

    class Client:
        def options(self, **_: Any) -> Client:
            return self

        def perform_request(self, *_: Any, **__: Any) -> Any:
            senders.append(threading.current_thread())
            return type("Answer", (), {"body": {}})

    engine = Engine(Client(), "the engine")
    for other in (engine, engine.without_closed_indices(), engine.in_background(), engine.cancellable_by(StopEvent())):
        other.call("GET", ["_x"])

    assert [True, True, False, False] == [sender is threading.current_thread() for sender in senders]


def test_a_client_sees_the_context_variables_of_the_caller() -> None:
    variable: ContextVar[str] = ContextVar("variable", default="")

    class Client:
        def options(self, **_: Any) -> Client:
            return self

        def perform_request(self, *_: Any, **__: Any) -> Any:
            return type("Answer", (), {"body": {"variable": variable.get()}})

    variable.set("by a test")

    assert {"variable": "by a test"} == Engine(Client(), "the engine").in_background().call("GET", ["_x"])


def test_closing_a_store_does_not_close_the_application_client(server: Server) -> None:
    closings: list[None] = []

    class Client(OpenSearch):
        def close(self) -> None:
            closings.append(None)
            super().close()

    server.handle = lambda _: MAPPING
    client = Client([server.url])
    store: Any = open_store(client=client, index="index")
    store.close()
    with pytest.raises(StoreError, match=f"the index on {server.url} is closed; open it again"):
        store.get("a")

    assert [] == closings
    assert ["index"] == list(client.indices.get_mapping(index="index"))
    assert f"{server.url}/index" == store.location
    client.close()


@pytest.mark.parametrize("body", ["", "[]", '{"version": {"lucene_version": "8", "number": {}}}'])
def test_an_unknown_first_answer_counts_as_opensearch(body: str) -> None:
    first_answer = Answer(200, body.encode())
    with serving(lambda request: first_answer if request.path == "/" else answer({"found": 1})) as server:
        engine, _ = connect(f"{server.url}/index")
        with closing(engine):
            assert {"found": 1} == engine.call("GET", ["_x"])

        assert server.requests[-1].headers["user-agent"].startswith("opensearch-py/")
