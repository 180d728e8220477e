"""Answers that never end, in time or size: each is given up, and disturbs neither the next one nor the end."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Iterator
from contextlib import closing

import pytest

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.location import ENGINES, EngineKind
from simdoc_search.stores.remote import bounded_requests
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import TooLargeError
from tests.support.http_server import Answer, answer, serving
from tests.support.often import first
from tests.support.raw_server import HEAD, Parts, RawServer, raw_server, stopped_while_waiting, whole

LONG = 30.0
"""Seconds that no test takes; a machine that is busy may take a few."""


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is asked twice, and a request has a second."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setenv("SIMDOC_TIMEOUT", "1")


@pytest.fixture
def server() -> Iterator[RawServer]:
    """A server that answers {} to all."""
    with raw_server() as running:
        yield running


@pytest.fixture(params=ENGINES)
def engine(server: RawServer, request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine at that server."""
    made, _ = connect(f"{server.url}/index", engine=request.param)
    with closing(made):
        assert {} == made.call("GET", ["_x"])
        yield made


def drips(server: RawServer) -> dict[str, Parts]:
    """Answers that never end, though each of their bytes comes soon."""
    chunked = HEAD + b"transfer-encoding: chunked\r\n\r\n"
    return {
        "status line": server.dripping(b"HTTP/1.1 200 O", b"K"),
        "head": server.dripping(HEAD, b"x-a: b\r\n"),
        "one line of the head": server.dripping(HEAD + b"x-a: ", b"b"),
        "continue": server.dripping(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
        "body": server.dripping(HEAD + b"content-length: 100000\r\n\r\n{"),
        "body without end": server.dripping(HEAD + b"connection: close\r\n\r\n{"),
        "chunks": server.dripping(chunked, b"1\r\n \r\n"),
        "size of a chunk": server.dripping(chunked, b"0"),
        "nothing": server.frozen,
    }


@pytest.mark.parametrize(
    "what",
    first(
        2,
        [
            "nothing",
            "body",
            "status line",
            "head",
            "one line of the head",
            "continue",
            "body without end",
            "chunks",
            "size of a chunk",
        ],
    ),
)
def test_an_answer_that_drips_is_given_up(server: RawServer, engine: Engine, what: str) -> None:
    """After as long as an answer may take from its first byte to its last, wherever it stands then."""
    server.parts = drips(server)[what]
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match=r"does not answer \((it took too long|connection lost)\)"):
        engine.call("GET", ["_x"])

    assert 0.9 < time.monotonic() - began < LONG


@pytest.mark.parametrize(
    "body",
    ["", "[]", "{", *(f'{{"version": {{"lucene_version": "8", "number": {each}}}}}' for each in ("7.1", "{}", '"x"'))],
)
def test_a_greeting_of_no_known_form_is_answered_by_the_client_of_opensearch(body: str) -> None:
    """Who says no version, or a malformed one, is asked all the same; what is wrong with it shows then."""
    greeting, found = Answer(200, body.encode()), answer({"found": 1})
    with serving(lambda request: greeting if request.path == "/" else found) as server:
        engine, _ = connect(f"{server.url}/index")
        with closing(engine):
            assert {"found": 1} == engine.call("GET", ["_x"])

        assert server.requests[-1].headers["user-agent"].startswith("opensearch-py/")


@pytest.mark.parametrize("what", first(1, ["nothing", "head", "body"]))
@pytest.mark.slow
def test_a_greeting_that_drips_is_given_up(server: RawServer, what: str) -> None:
    """The first question, which engine it is, is asked with the same care."""
    server.parts = drips(server)[what]
    began = time.monotonic()
    with pytest.raises(StoreUnavailableError, match="took too long"):
        connect(f"{server.url}/index")

    assert time.monotonic() - began < LONG


def test_who_drips_is_not_heard_in_the_next_answer(server: RawServer, engine: Engine) -> None:
    """What comes late belongs to the request that was given up."""
    server.parts = server.dripping(HEAD + b"content-length: 100000\r\n\r\n", b'{"late": 1}')
    with pytest.raises(StoreUnavailableError):
        engine.call("GET", ["_x"])
    server.parts = whole(b'{"next": 1}')

    assert {"next": 1} == engine.call("GET", ["_x"])


@pytest.mark.parametrize("declared", [True, False])
def test_an_answer_that_is_too_large_is_refused(
    server: RawServer, engine: Engine, monkeypatch: pytest.MonkeyPatch, declared: bool
) -> None:
    """Before it is read, if its head says so; else as soon as it is."""
    monkeypatch.setattr(bounded_requests, "LARGEST_ANSWER", 1 << 20)
    size = 1 << 40
    head = HEAD + (b"content-length: %d\r\n\r\n" % size if declared else b"connection: close\r\n\r\n")
    server.parts = server.dripping(head, b" " * (1 << 16), 0.0001)
    with pytest.raises(TooLargeError, match="larger than"):
        engine.call("GET", ["_x"])


@pytest.mark.parametrize("length", ["-1", "1e9", "x", "9" * 400])
def test_a_length_that_is_none_is_an_error(server: RawServer, engine: Engine, length: str) -> None:
    """One sentence, and no traceback."""
    server.parts = lambda _: [HEAD + f"content-length: {length}\r\nconnection: close\r\n\r\n".encode() + b"{"]
    server.parts = server.dripping(b"".join(server.parts(0)))
    with pytest.raises(StoreError):
        engine.call("GET", ["_x"])


def test_connections_are_used_again(server: RawServer, engine: Engine) -> None:
    """Bounds cost no connection for each request."""
    for _ in range(20):
        engine.call("GET", ["_x"])

    assert 1 == server.connections


@pytest.mark.parametrize("kind", ENGINES)
def test_a_large_request_has_longer(server: RawServer, kind: EngineKind) -> None:
    """A second more for each 64 kB, also where the connection was used before."""
    engine, _ = connect(f"{server.url}/index", engine=kind)
    with closing(engine):
        engine.call("GET", ["_x"])
        server.pause = 2.0
        engine.call("POST", ["_x"], b" " * 20_000_000)

    assert (2, 1) == (server.requests, server.connections)


def test_a_large_answer_has_longer(server: RawServer, engine: Engine) -> None:
    """It comes for two seconds, at some ten times the rate that is slow enough to be given up."""
    pieces = [b" " * bounded_requests.SLOWEST] * 20

    def slowly(_: int) -> Iterator[bytes]:
        yield HEAD + b"content-length: %d\r\n\r\n" % (2 + sum(map(len, pieces)))
        for each in pieces:
            time.sleep(0.1)
            yield each
        yield b"{}"

    server.parts = slowly
    began = time.monotonic()

    assert {} == engine.call("GET", ["_x"])
    assert 2.0 <= time.monotonic() - began


@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "a minute"])
def test_a_timeout_that_is_none_is_said(server: RawServer, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    """Before anything is asked."""
    monkeypatch.setenv("SIMDOC_TIMEOUT", value)
    with pytest.raises(StoreError, match=f"^SIMDOC_TIMEOUT is '{value}', which is not a number of seconds; write 60$"):
        connect(f"{server.url}/index")

    assert 0 == server.requests


@pytest.mark.parametrize("what", ["nothing", "body"])
def test_a_read_ends_with_the_run(server: RawServer, monkeypatch: pytest.MonkeyPatch, what: str) -> None:
    """A thread that waits for an engine that is frozen does not keep the process alive."""
    monkeypatch.setenv("SIMDOC_TIMEOUT", "3600")
    server.parts = drips(server)[what]
    engine, _ = connect(f"{server.url}/index", engine="opensearch")
    with closing(engine):
        assert [StoppedError] == stopped_while_waiting(engine, server)


@pytest.mark.parametrize("text", ['299 OpenSearch-3.3.2-x "old \x1b[31mred\x9b2J\u202e \x07style"', "\x1b]0;owned\x07"])
def test_warnings_of_an_engine_cannot_steer_a_terminal(
    server: RawServer, engine: Engine, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    """They go to our logger, without control characters; nothing is printed by the client."""
    server.parts = whole(b"{}", b"warning: " + text.encode("latin-1", "replace") + b"\r\n")
    with warnings.catch_warnings(record=True) as caught, caplog.at_level(logging.INFO, "simdoc_search"):
        warnings.simplefilter("always")
        engine.call("GET", ["_x"])
    (line,) = [each.getMessage() for each in caplog.records if each.name == "simdoc_search"]

    assert [] == caught
    assert line.startswith("the engine warns: ")
    assert line.isprintable()
