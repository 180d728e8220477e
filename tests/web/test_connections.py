"""Many connections, slow ones, and such as nobody reads: the others are answered."""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from simdoc_search.web import request_body, server
from simdoc_search.web.limits import CONNECTIONS
from tests.support.cli import words
from tests.support.waiting import wait_until
from tests.support.web import HEAD, Pages, answer, pages_over, sent


def test_as_many_connections_as_are_allowed_are_all_answered(served_store: Path) -> None:
    """They are open before the first one asks; a further one is told to come again, and can when one has gone."""
    with pages_over(served_store) as pages, ExitStack() as opened:
        asked = f"GET /status.json HTTP/1.1\r\n{HEAD}\r\n".encode()

        def connect() -> socket.socket:
            return opened.enter_context(socket.create_connection(pages.address, timeout=60))

        several = [connect() for _ in range(CONNECTIONS)]
        further = connect()
        further.sendall(asked)
        status, headers, _ = answer(further)
        assert (503, "1") == (status, headers["retry-after"])
        for each in several:
            each.sendall(asked)
        assert {200} == {answer(each)[0] for each in several}

        several[0].close()
        wait_until(lambda: sent(pages, asked)[0] == 200)


def test_a_client_that_does_not_read_is_not_waited_for(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its connection is closed, and the rest of its answers is dropped."""
    monkeypatch.setattr(server, "READING_SECONDS", 0.3)
    count = 2_000
    with pages_over(served_store) as quick, socket.socket() as deaf:
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.connect(quick.address)
        deaf.settimeout(30)
        size = len(quick.client.get("/static/site.css").content)
        deaf.sendall(f"GET /static/site.css HTTP/1.1\r\n{HEAD}\r\n".encode() * count)
        wait_until(lambda: len(quick.server.server_state.connections) <= 1)  # that of the client above
        received = 0
        with suppress(ConnectionError):
            while piece := deaf.recv(1 << 20):
                received += len(piece)

        assert received < size * count / 2


def test_a_slow_body_is_given_up(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that comes byte by byte; not one that comes as fast as it must, however long that takes."""
    monkeypatch.setattr(request_body, "FIRST_SECONDS", 0.4)
    monkeypatch.setattr(request_body, "BODY_RATE", 100)
    body = json.dumps({"text": words(0, 90)}).encode()
    head = f"POST /similar.json HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: "

    with pages_over(served_store) as hasty:
        assert 408 == sent(hasty, f"{head}{len(body)}\r\n\r\n{{".encode())[0]
        with socket.create_connection(hasty.address, timeout=30) as slow:
            slow.sendall(f"{head}{len(body)}\r\n\r\n".encode())
            for start in range(0, len(body), 100):
                slow.sendall(body[start : start + 100])
                time.sleep(0.1)
            assert 200 == answer(slow)[0]


def test_a_body_in_tiny_pieces_is_cut_off(pages: Pages) -> None:
    """Each of a million would be looked at. One in pieces of a line is read."""
    head = f"POST /similar.json HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
    text = words(0, 20_000)
    lines = [b'{"text": "', *(text[at : at + 100].encode() for at in range(0, len(text), 100)), b'"}']

    assert (
        200 == sent(pages, head.encode() + b"".join(b"%x\r\n%b\r\n" % (len(each), each) for each in [*lines, b""]))[0]
    )
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        sent(pages, head.encode() + b"1\r\n{\r\n" * 2_000)
