"""Requests that take long: others are answered meanwhile, and nothing is computed that nobody waits for."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from simdoc_search.analysis import Analysis
from simdoc_search.analysis.words import WordBatch, word_batch
from simdoc_search.sketch import long_text
from simdoc_search.web import dispatch
from simdoc_search.web.limits import COMPARING
from tests.support.cli import words
from tests.support.waiting import wait_until
from tests.support.web import HEAD, Pages, pages_over

LONG = "word " * (1 << 20)


@contextmanager
def slow_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Texts are read piece by piece, slowly: a long one in minutes. Gives the sizes of the pieces that were read."""
    pieces: list[int] = []

    def slowly(texts: list[str], analysis: Analysis) -> WordBatch:
        pieces.append(len(texts[0]))
        time.sleep(0.05)
        return word_batch(texts, analysis)

    monkeypatch.setattr(long_text, "_PIECE", 1 << 12)
    monkeypatch.setattr(long_text, "word_batch", slowly)
    yield pieces


@contextmanager
def slow_json(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Semaphore, threading.Event]]:
    """JSON with the words `parsed slowly` is parsed until an event is set. Gives what counts those, and the event."""
    parse = json.JSONDecoder.raw_decode
    parsing, go_on = threading.Semaphore(0), threading.Event()

    def slowly(self: json.JSONDecoder, text: str, idx: int = 0) -> Any:
        if "parsed slowly" in text and not go_on.is_set():
            parsing.release()
            go_on.wait(60)
        return parse(self, text, idx)

    monkeypatch.setattr(json.JSONDecoder, "raw_decode", slowly)
    try:
        yield parsing, go_on
    finally:
        go_on.set()


def test_other_requests_are_answered_while_a_body_is_parsed(pages: Pages, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parsing holds nobody up."""
    with ThreadPoolExecutor() as others, slow_json(monkeypatch) as (parsing, go_on):
        slow = others.submit(pages.sent, "/similar", text=f"parsed slowly {words(0, 90)}")
        parsing.acquire(timeout=60)
        assert 200 == pages.client.get("/static/icon.svg", timeout=20).status_code
        assert 200 == pages.client.get("/similar.json?q=doc123", timeout=20).status_code
        go_on.set()
        assert slow.result()["hits"]


def test_a_thread_that_does_not_end_takes_its_place(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The client is told at the deadline. Requests that need such a thread wait, until theirs; quick ones do not."""
    monkeypatch.setattr(dispatch, "ANSWER_SECONDS", 2.0)
    with (
        pages_over(served_store) as busy,
        ThreadPoolExecutor() as others,
        slow_json(monkeypatch) as (parsing, go_on),
    ):

        def ask(text: str) -> httpx.Response:
            return busy.client.post("/similar.json", json={"text": text})

        stuck = [others.submit(ask, "parsed slowly") for _ in range(COMPARING)]
        for _ in stuck:
            parsing.acquire(timeout=60)
        assert [504] * COMPARING == [each.result().status_code for each in stuck]
        assert (503, True) == ((waiting := ask(words(0, 90))).status_code, "too many requests" in waiting.text)
        assert 200 == busy.client.get("/similar.json?q=doc123&estimate=1").status_code
        for texts_are_read in ("", "&estimate=off", "&estimate=", "&estimate=1&measure=containment"):
            assert 503 == busy.client.get(f"/similar.json?q=doc123{texts_are_read}").status_code
        go_on.set()
        wait_until(lambda: ask(words(0, 90)).status_code == 200)


def test_an_answer_that_takes_too_long_is_given_up(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The thread ends too, and is free for others."""
    monkeypatch.setattr(dispatch, "ANSWER_SECONDS", 3.0)
    with slow_words(monkeypatch) as pieces, pages_over(served_store) as busy:
        with ThreadPoolExecutor() as others:
            too_long = [others.submit(busy.client.post, "/similar.json", json={"text": LONG}) for _ in range(COMPARING)]
            answers = [each.result() for each in too_long]

        assert [504] * COMPARING == [each.status_code for each in answers]
        assert "takes longer than 3 seconds" in answers[0].json()["error"]
        assert busy.sent("/similar", text=words(0, 90))["hits"]
        assert 300 > len(pieces)  # of 2,560


def test_nothing_is_computed_for_a_client_that_has_gone(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its threads are free again at once."""
    body = json.dumps({"text": LONG})
    request = f"POST /similar.json HTTP/1.1\r\n{HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}"
    with slow_words(monkeypatch) as pieces, pages_over(served_store) as left:
        for _ in range(3 * COMPARING):
            before = len(pieces)
            with socket.create_connection(left.address, timeout=30) as connection:
                connection.sendall(f"{request}\r\n\r\n{body}".encode())
                wait_until(lambda before=before: len(pieces) > before)  # type: ignore[misc]
        assert left.sent("/similar", text=words(0, 90))["hits"]
        assert 600 > len(pieces)  # of 7,680


def test_the_server_ends_while_it_computes(served_store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is asked for gets an error, soon."""
    with slow_words(monkeypatch) as pieces, ThreadPoolExecutor() as others:
        with pages_over(served_store) as ending:
            asked = others.submit(
                httpx.post, f"http://127.0.0.1:{ending.address[1]}/similar.json", json={"text": LONG}, timeout=60
            )
            wait_until(lambda: bool(pieces))
        assert 503 == asked.result().status_code
        assert 300 > len(pieces)
