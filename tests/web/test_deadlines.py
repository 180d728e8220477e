"""Requests that take long: other requests are answered meanwhile, and unwanted computations end."""

from __future__ import annotations

import json
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.words import WordBatch, word_batch
from simdoc_search.sketch import fingerprint, long_text
from simdoc_search.web import app
from simdoc_search.web.request_limits import MAX_CONCURRENT_COMPARISONS
from tests.support.cli import words
from tests.support.waiting import wait_until
from tests.support.web import HEAD, Pages, pages_over

LONG = "word " * (1 << 18)
PIECES = 640  # of the long text, each read in 25 ms


@pytest.fixture
def pieces(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Makes reading a long text slow. Returns the sizes of the pieces that were read."""
    sizes: list[int] = []

    def read_slowly(texts: list[str], analysis: Analysis) -> WordBatch:
        sizes.append(len(texts[0]))
        time.sleep(0.025)
        return word_batch(texts, analysis)

    monkeypatch.setattr(fingerprint, "MIN_LONG_TEXT_LENGTH", 1 << 18)
    monkeypatch.setattr(long_text, "_PIECE_LENGTH", 1 << 11)
    monkeypatch.setattr(long_text, "word_batch", read_slowly)
    return sizes


def send_long_text(pages: Pages) -> httpx.Response:
    """Send a request that takes long."""
    return httpx.post(f"http://127.0.0.1:{pages.address[1]}/similar.json", json={"text": LONG}, timeout=60)


def test_a_long_request_ends_at_its_deadline(
    served_store: Path, pieces: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other comparisons wait for a thread until their own deadline. Pages without comparisons do not wait."""
    monkeypatch.setattr(app, "MAX_REQUEST_SECONDS", 1.5)
    with pages_over(served_store) as busy, ThreadPoolExecutor() as others:
        running = [others.submit(send_long_text, busy) for _ in range(2 * MAX_CONCURRENT_COMPARISONS)]
        wait_until(lambda: bool(pieces))
        assert 200 == busy.client.get("/status.json").status_code
        assert {504} == {answer.result().status_code for answer in running}
        assert busy.sent("/similar", text=words(0, 90))["hits"]
        assert len(pieces) < PIECES / 2


def test_a_computation_ends_when_its_client_has_gone(served_store: Path, pieces: list[int]) -> None:
    """The thread of the computation is free again at once."""
    body = json.dumps({"text": LONG})
    head = f"POST /similar.json HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    with pages_over(served_store) as pages:
        for _ in range(2 * MAX_CONCURRENT_COMPARISONS):
            before = len(pieces)
            with socket.create_connection(pages.address, timeout=30) as connection:
                connection.sendall(f"{head}{body}".encode())
                wait_until(lambda before=before: len(pieces) > before)  # type: ignore[misc]
        assert pages.sent("/similar", text=words(0, 90))["hits"]
        assert len(pieces) < PIECES / 2


@pytest.mark.slow
def test_a_computation_ends_when_the_server_ends(served_store: Path, pieces: list[int]) -> None:
    """The client gets an error."""
    with ThreadPoolExecutor() as others:
        with pages_over(served_store) as ending:
            answer = others.submit(send_long_text, ending)
            wait_until(lambda: bool(pieces))
        assert 503 == answer.result().status_code
        assert len(pieces) < PIECES / 2
