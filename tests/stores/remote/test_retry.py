"""Retries of requests to an engine that is busy or does not respond, and their log lines."""

from __future__ import annotations

import logging
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores import open_store
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.retry import Retries
from tests.support.error_sentences import MAPPING
from tests.support.http_server import Answer, Handler, Request, Server, answer, error, serving, unused_url
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("short_pauses")

BUSY = error(429, "rejected_execution_exception", "queue full")
NewEngine = Callable[..., tuple[Engine, Server]]


@pytest.fixture(autouse=True)
def logged_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry as usual, and log each retry."""
    monkeypatch.delenv("SIMDOC_RETRY_SECONDS", raising=False)
    monkeypatch.setattr(retry, "LOG_INTERVAL_SECONDS", 0.0)


@pytest.fixture
def new_engine() -> Iterator[NewEngine]:
    """A function that makes an engine, which has answered once, with a handler for further requests."""
    with ExitStack() as opened:

        def make(handle: Handler) -> tuple[Engine, Server]:
            server = opened.enter_context(serving(lambda _: answer({})))
            client, _ = connect(f"{server.url}/index")
            opened.callback(client.close)
            server.handle = handle
            server.requests.clear()
            return client, server

        yield make


def failing(times: int, fault: Answer | None, then: Answer) -> Handler:
    """Return a handler that fails `times` times, and then answers."""
    left = [times]

    def handle(_: Request) -> Answer | None:
        left[0] -= 1
        return fault if left[0] >= 0 else then

    return handle


SHARDS = {"_shards": {"total": 1, "successful": 1, "failed": 0}}
NOTHING = {"hits": {"hits": [], "total": {"value": 0}}, **SHARDS}

REPEATABLE: dict[str, tuple[Callable[[Engine], Any], Answer]] = {
    "GET": (lambda engine: engine.call("GET", ["index", "_mapping"]), answer({})),
    "PUT": (lambda engine: engine.call("PUT", ["index", "_mapping"], {}), answer({})),
    "count": (lambda engine: engine.call("POST", ["index", "_count"], {}), answer({"count": 1, **SHARDS})),
    "refresh": (lambda engine: engine.call("POST", ["index", "_refresh"]), answer(SHARDS)),
    "PIT": (lambda engine: engine.call("POST", ["index", "_pit"]), answer({"id": "x"})),
    "search": (lambda engine: engine.search("index", {}), answer(NOTHING)),
    "msearch": (lambda engine: engine.search_many("index", [{}, {}]), answer({"responses": [NOTHING] * 2})),
}


@pytest.mark.parametrize(("call", "then"), REPEATABLE.values(), ids=REPEATABLE)
def test_a_repeatable_request_is_retried(new_engine: NewEngine, call: Callable[[Engine], Any], then: Answer) -> None:
    for fault in (BUSY, Answer(502, b"", "text/html"), None):
        engine, server = new_engine(failing(3, fault, then))
        call(engine)

        assert 4 == len(server.requests), fault


@pytest.mark.parametrize("fault", [BUSY, None])
@pytest.mark.parametrize(("method", "path"), [("POST", ["_bulk"]), ("POST", ["_search", "scroll"]), ("DELETE", ["i"])])
def test_a_request_that_is_not_repeatable_is_sent_once(
    new_engine: NewEngine, method: str, path: list[str], fault: Answer | None
) -> None:
    engine, server = new_engine(failing(1, fault, answer({})))
    with pytest.raises(StoreError):
        engine.call(method, path, {})

    assert [method] == [request.method for request in server.requests]


@pytest.mark.parametrize("status", [400, 403, 413, 500])
def test_an_error_that_is_not_retryable_is_raised_at_once(new_engine: NewEngine, status: int) -> None:
    engine, server = new_engine(lambda _: error(status, "x", "no"))
    with pytest.raises(RequestError) as caught:
        engine.call("GET", ["index"])

    assert (status, 1) == (caught.value.status, len(server.requests))


@pytest.mark.parametrize("seconds", [0.0, 0.4])
def test_retries_end_at_the_deadline(new_engine: NewEngine, monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", str(seconds))
    engine, server = new_engine(lambda _: BUSY)
    with pytest.raises(StoreUnavailableError if seconds else RequestError) as caught:
        engine.search("index", {})

    assert (len(server.requests) == 1) == (seconds == 0)
    retried = r"; run the command again later \(gave up after \d+ s of retries\)" if seconds else ""
    assert re.fullmatch(f"{re.escape(server.url)} returned status 429: queue full{retried}", str(caught.value))


@pytest.mark.parametrize("text", ["soon", "-1", "inf"])
def test_a_malformed_deadline_is_refused(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", text)
    with pytest.raises(
        StoreError,
        match=f"SIMDOC_RETRY_SECONDS is '{text}', .*; set SIMDOC_RETRY_SECONDS to a number such as 30, or "
        "to 0 for no retries",
    ):
        connect(f"{unused_url()}/index", engine="opensearch")


def test_an_engine_that_has_never_answered_is_not_retried() -> None:
    engine, _ = connect(f"{unused_url()}/index", engine="opensearch")
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"connection refused; start the engine, or check the URL$"):
        engine.call("GET", ["index"])
    engine.close()

    assert time.monotonic() - began < retry.QUERY_RETRY_SECONDS / 2


def test_retries_are_logged_once_per_interval(
    new_engine: NewEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(retry, "LOG_INTERVAL_SECONDS", 60.0)
    monkeypatch.setattr(retry, "_last_log_time", [float("-inf")])
    reason = "queue \x1b]0;owned\x07 \x9b31m\u202efull"
    engine, server = new_engine(failing(5, error(429, "x", reason), answer(NOTHING)))
    with caplog.at_level(logging.WARNING, "simdoc_search"):
        engine.search("index", {})
        engine.search("index", {})
    lines = [line.getMessage() for line in caplog.records if line.name == "simdoc_search"]

    shown = r"queue \x1b]0;owned\x07 \x9b31m\u202efull"
    assert [f"{server.url} returned status 429: {shown}; retrying for up to 30 s"] == lines


def test_stopping_ends_a_pause_at_once(new_engine: NewEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 60.0)
    engine, server = new_engine(lambda _: BUSY)
    background = engine.in_background()
    ended: list[type[BaseException]] = []

    def call() -> None:
        with pytest.raises(StoppedError):
            background.call("GET", ["index"])
        ended.append(StoppedError)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: bool(server.requests))
    background.stop_event.set()
    thread.join(5)

    assert [StoppedError] == ended
    with pytest.raises(StoppedError):
        background.call("GET", ["index"])
    assert 1 == len(server.requests)


def test_closing_a_store_ends_its_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 60.0)
    messages: list[str] = []
    with serving(lambda _: MAPPING) as server:
        store = open_store(f"{server.url}/index")
        server.handle = lambda _: BUSY
        server.requests.clear()

        def read(action: Callable[[], Any]) -> None:
            with pytest.raises(StoreError) as caught:
                action()
            messages.append(str(caught.value))

        actions: list[Callable[[], Any]] = [lambda: store.get("a"), lambda: list(store.digests(["a"]))]
        threads = [threading.Thread(target=read, args=(action,)) for action in actions]
        for thread in threads:
            thread.start()
        wait_until(lambda: len(server.requests) == len(threads))
        store.close()
        for thread in threads:
            thread.join(5)

    assert [f"the index on {server.url} is closed; open it again"] * 2 == messages


def test_pauses_grow_up_to_a_limit_and_start_again_after_a_success(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 1.0)
    monkeypatch.setattr(retry, "MAX_PAUSE_SECONDS", 6.0)
    pauses: list[float] = []

    class Recorded(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            return False

    retries = Retries(Recorded(), 1000.0)
    for _ in range(5):
        retries.pause("busy")
    retries.reset()
    retries.pause("busy")

    for longest, pause in zip((1, 2, 4, 6, 6, 1), pauses, strict=True):
        assert longest / 2 <= pause <= longest
