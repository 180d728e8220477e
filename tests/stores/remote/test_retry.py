"""An engine that is busy or away is waited for, by every request that may be repeated, and people are told."""

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
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.retry import Retries
from simdoc_search.stores.remote.schema import index_body
from tests.support.http_server import Answer, Handler, Request, Server, answer, error, serving, unused_url

BUSY = error(429, "rejected_execution_exception", "queue full")
NewEngine = Callable[..., tuple[Engine, Server]]


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits; and what is said is said again at once."""
    monkeypatch.delenv("SIMDOC_RETRY_SECONDS", raising=False)
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)
    monkeypatch.setattr(retry, "LOG_INTERVAL", 0.0)


@pytest.fixture
def to() -> Iterator[NewEngine]:
    """Makes engines that have answered once, and then do as a handler says."""
    with ExitStack() as opened:

        def make(handle: Handler, **options: Any) -> tuple[Engine, Server]:
            server = opened.enter_context(serving(lambda _: answer({})))
            client, _ = connect(f"{server.url}/index")
            opened.callback(client.close)
            server.handle = handle
            server.requests.clear()
            return client, server

        yield make


def failing(times: int, fault: Answer | None, then: Answer) -> Handler:
    """Fails so often, and then answers."""
    left = [times]

    def handle(_: Request) -> Answer | None:
        left[0] -= 1
        return fault if left[0] >= 0 else then

    return handle


WHOLE = {"_shards": {"total": 1, "successful": 1, "failed": 0}}
NONE_FOUND = {"hits": {"hits": [], "total": {"value": 0}}, **WHOLE}
FOUND = answer(NONE_FOUND)

READING: list[tuple[str, Callable[[Engine], Any], Answer]] = [
    ("GET", lambda engine: engine.call("GET", ["index", "_mapping"]), answer({})),
    ("PUT", lambda engine: engine.call("PUT", ["index", "_mapping"], {}), answer({})),
    ("count", lambda engine: engine.call("POST", ["index", "_count"], {}), answer({"count": 1, **WHOLE})),
    ("mget", lambda engine: engine.call("POST", ["_mget"], {}), answer({"docs": []})),
    ("refresh", lambda engine: engine.call("POST", ["index", "_refresh"]), answer(WHOLE)),
    ("PIT", lambda engine: engine.call("POST", ["index", "_pit"]), answer({"id": "x"})),
    ("point in time", lambda engine: engine.call("POST", ["i", "_search", "point_in_time"]), answer({"pit_id": "x"})),
    ("search", lambda engine: engine.search("index", {}), FOUND),
    ("msearch", lambda engine: engine.search_many("index", [{}]), answer({"responses": [NONE_FOUND]})),
]


@pytest.mark.parametrize("fault", [BUSY, error(503, "x", "shards on their way"), Answer(502, b"", "text/html"), None])
@pytest.mark.parametrize(("ask", "then"), [each[1:] for each in READING], ids=[each[0] for each in READING])
def test_what_only_reads_is_asked_again(
    to: NewEngine, ask: Callable[[Engine], Any], then: Answer, fault: Answer | None
) -> None:
    """Of a busy engine, and of one that closes the connection, until it answers."""
    engine, server = to(failing(3, fault, then))
    ask(engine)

    assert len(server.requests) == 4


@pytest.mark.parametrize("fault", [BUSY, None])
@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", ["_bulk"]), ("POST", ["_search", "scroll"]), ("DELETE", ["_search", "scroll"]), ("DELETE", ["index"])],
)
def test_what_changes_something_is_sent_once(to: NewEngine, method: str, path: list[str], fault: Answer | None) -> None:
    """Whoever sends it knows whether it may be sent again: a page of a scroll that is lost is lost."""
    engine, server = to(failing(1, fault, answer({})))
    with pytest.raises(StoreError):
        engine.call(method, path, {})

    assert [method] == [each.method for each in server.requests]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 500])
def test_what_does_not_pass_is_not_waited_for(to: NewEngine, status: int) -> None:
    """It would only be said later."""
    engine, server = to(lambda _: error(status, "x", "no"))
    with pytest.raises(RequestError) as caught:
        engine.call("GET", ["index"])

    assert (status, 1) == (caught.value.status, len(server.requests))


@pytest.mark.parametrize(("seconds", "asked"), [(0.0, "once"), (0.4, "often")])
def test_patience_has_an_end(to: NewEngine, monkeypatch: pytest.MonkeyPatch, seconds: float, asked: str) -> None:
    """Then the error says what the engine answered last, and how long we waited if we did."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", str(seconds))
    engine, server = to(lambda _: BUSY)
    with pytest.raises(StoreError) as caught:
        engine.search("index", {})

    assert ("once" if len(server.requests) == 1 else "often") == asked
    waited = r"; retried for \d+ s, run it again later" if seconds else ""
    assert re.fullmatch(f"{re.escape(server.url)} answers 429: queue full{waited}", str(caught.value))
    assert isinstance(caught.value, StoreUnavailableError if seconds else RequestError)


def test_work_is_more_patient_than_questions(to: NewEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody waits for the answer to a question; indexing goes on by itself."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    engine, server = to(failing(3, BUSY, answer({})))
    with pytest.raises(RequestError, match="queue full"):
        engine.call("GET", ["index"])
    engine.in_background().call("GET", ["index"])

    assert len(server.requests) == 4


@pytest.mark.parametrize("said", ["soon", "-1", "nan", "inf"])
def test_a_patience_that_is_no_number_is_an_error(monkeypatch: pytest.MonkeyPatch, said: str) -> None:
    """One sentence that says what to write."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", said)
    with pytest.raises(StoreError, match=f"SIMDOC_RETRY_SECONDS is '{said}', .*; write 30, or 0 for no retries"):
        connect(f"{unused_url()}/index", engine="opensearch")


def test_an_engine_that_never_answered_is_not_waited_for() -> None:
    """The address may be wrong, and whoever typed it wants to know."""
    engine, _ = connect(f"{unused_url()}/index", engine="opensearch")
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"connection refused\); start it, or check the address$"):
        engine.call("GET", ["index"])
    engine.close()

    assert time.monotonic() - began < retry.QUERY_SECONDS / 2


def test_an_engine_that_comes_back_is_found_again(to: NewEngine) -> None:
    """It stopped after its first answer."""
    engine, server = to(lambda _: FOUND)
    engine.search("index", {})
    server.handle = failing(5, None, FOUND)

    assert engine.search("index", {})["hits"]["hits"] == []


# --- what is said ---


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    """What our logger said."""
    return [each.getMessage() for each in caplog.records if each.name == "simdoc_search"]


def test_waiting_is_said_once_in_a_while(
    to: NewEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """By the logger `simdoc_search`, with what the engine answers, and not for each pause."""
    monkeypatch.setattr(retry, "LOG_INTERVAL", 60.0)
    monkeypatch.setattr(retry, "_last_logged", [float("-inf")])
    engine, server = to(failing(5, BUSY, FOUND))
    with caplog.at_level(logging.WARNING, "simdoc_search"):
        engine.search("index", {})

    assert [f"{server.url} answers 429: queue full; retrying for up to 30 s"] == said(caplog)


def test_nothing_is_said_where_nothing_is_waited_for(to: NewEngine, caplog: pytest.LogCaptureFixture) -> None:
    """No line for an engine that answers."""
    engine, _ = to(lambda _: FOUND)
    engine.search("index", {})

    assert [] == said(caplog)


def test_what_an_engine_says_cannot_steer_a_terminal(to: NewEngine, caplog: pytest.LogCaptureFixture) -> None:
    """Escape sequences and signs that turn the direction of writing are shown as what they are."""
    engine, _ = to(failing(1, error(429, "x", "queue \x1b]0;owned\x07\x1b[2J \x9b31m\u202efull"), FOUND))
    engine.search("index", {})

    (line,) = said(caplog)

    assert r"answers 429: queue \x1b]0;owned\x07\x1b[2J \x9b31m\u202efull; retrying" in line
    assert line.isprintable()


# --- the end ---


def test_stopping_ends_waiting_at_once(to: NewEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it waits in another thread; and afterwards nothing more is sent."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 60.0)
    engine, server = to(lambda _: BUSY)
    working = engine.in_background()
    ended: list[type[BaseException]] = []

    def ask() -> None:
        try:
            working.call("GET", ["index"])
        except Exception as error:
            ended.append(type(error))

    asking = threading.Thread(target=ask)
    asking.start()
    while not server.requests:
        time.sleep(0.001)
    working.stopped.set()
    asking.join(5)

    assert (False, [StoppedError]) == (asking.is_alive(), ended)
    with pytest.raises(StoppedError):
        working.call("GET", ["index"])
    assert len(server.requests) == 1


def test_closing_a_store_ends_what_waits_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In other threads, with the sentence of a closed store."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 60.0)
    mapping = answer({"index": index_body(Settings(), field="simdoc", store_texts=True)})
    said: list[str] = []
    with serving(lambda _: mapping) as server:
        store = open_store(f"{server.url}/index")
        server.handle = lambda _: BUSY
        server.requests.clear()

        def ask(action: Callable[[], Any]) -> None:
            with pytest.raises(StoreError) as caught:
                action()
            said.append(str(caught.value))

        actions: list[Callable[[], Any]] = [lambda: store.get("a"), lambda: list(store.digests(["a"]))]
        asking = [threading.Thread(target=ask, args=(each,)) for each in actions]
        for each in asking:
            each.start()
        while len(server.requests) < len(asking):
            time.sleep(0.001)
        store.close()
        for each in asking:
            each.join(5)

    assert [f"the store on {server.url} is closed; open it again"] * 2 == said


def test_pauses_grow_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is drawn at random from the upper half of what it may be, and progress begins anew."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 1.0)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 6.0)
    pauses: list[float] = []

    class Noted(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            pauses.append(timeout or 0.0)
            return False

    waiting = Retries(Noted(), 1000.0)
    for _ in range(5):
        waiting.pause("busy")
    waiting.reset()
    waiting.pause("busy")

    for longest, pause in zip((1, 2, 4, 6, 6, 1), pauses, strict=True):
        assert longest / 2 <= pause <= longest
