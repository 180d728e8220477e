"""Writes that an engine turns away: what is for now is sent again, what is for good is kept with the reason."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.remote import retry, writer
from simdoc_search.stores.remote.bulk import Action
from simdoc_search.stores.remote.errors import RequestError
from tests.support.http_server import CUT_AFTER, CUT_BEFORE, CUT_WITHIN, Answer, Fate, Request, Scripted, error
from tests.support.often import first
from tests.support.senders import NewSender, send, senders, write

BUSY = error(429, "circuit_breaking_exception", "data too large")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)


@pytest.fixture
def to() -> Iterator[NewSender]:
    """Makes senders to an engine."""
    with senders() as make:
        yield make


# --- sent again ---


@pytest.mark.parametrize("fate", [BUSY, Answer(503, b"busy", "text/plain"), CUT_BEFORE, CUT_AFTER, CUT_WITHIN], ids=str)
def test_a_chunk_that_did_not_arrive_is_sent_again(to: NewSender, fate: Fate) -> None:
    """Refused as a whole for now, or the connection broke before, after or in the middle of it."""
    engine = Scripted(chain(repeat(fate, 6), repeat(None)))
    sender = to(engine)
    send(sender, *(write(n, n) for n in range(10)))

    assert {str(n): {"value": n} for n in range(10)} == engine.stored
    assert {} == sender.failed


@pytest.mark.parametrize("status", [429, 503])
def test_only_what_was_turned_away_is_sent_again(to: NewSender, status: int) -> None:
    """The others have arrived; none of them is written twice."""
    engine = Scripted(statuses={"b": iter([status]), "d": iter([status])})
    send(to(engine), *map(write, "abcde"))

    assert [[*"abcde"], [*"bd"]] == engine.asked
    assert [*"acebd"] == [id for id, _ in engine.done]


def test_a_chunk_that_is_too_large_is_halved(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it fits, without a pause; the one document that never will is refused, and nothing else."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 60.0)

    def limited(request: Request) -> Answer | None:
        return Answer(413, b"", "text/plain") if len(request.body) > 400 else engine(request)

    engine = Scripted()
    sender = to(limited)
    send(sender, *(write(n, n) for n in range(40)), write("large", "x" * 500))

    assert {str(n): {"value": n} for n in range(40)} == engine.stored
    assert 40 == len(engine.done)
    assert {"large": "too large for the engine"} == sender.failed


def test_the_size_that_fits_is_remembered(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """After the first refusals every later chunk is small enough at once."""
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 16)
    monkeypatch.setattr(writer, "THREADS", 1)
    refused: list[int] = []

    def limited(request: Request) -> Answer | None:
        if len(request.body) <= 400:
            return engine(request)
        refused.append(len(engine.done))
        return Answer(413, b"", "text/plain")

    engine = Scripted()
    send(to(limited), *(write(n, n) for n in range(160)))

    assert {str(n): {"value": n} for n in range(160)} == engine.stored
    assert {0} == set(refused)


def test_smaller_chunks_are_tried_where_large_ones_are_turned_away(to: NewSender) -> None:
    """An engine short of memory takes a few documents when it does not take many."""

    def short_of_memory(request: Request) -> Answer | None:
        return BUSY if len(request.lines()) > 6 else engine(request)

    engine = Scripted()
    send(to(short_of_memory), *(write(n, n) for n in range(20)))

    assert {str(n): {"value": n} for n in range(20)} == engine.stored
    assert 20 == len(engine.done)


@pytest.mark.parametrize("seed", first(2, range(8)))
@pytest.mark.slow
def test_nothing_is_lost_or_doubled(to: NewSender, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    """Whatever an engine answers at random, in the end it has the last value of each id, written once and in order."""
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 7)
    choose = random.Random(seed)
    cuts = [] if seed % 2 else [CUT_AFTER, CUT_WITHIN]  # a write whose answer is lost must come twice
    fates: list[Fate] = [None, None, None, None, BUSY, Answer(502, b"", "text/html"), CUT_BEFORE, *cuts]
    statuses = {f"id{n}": iter(choose.choices([201, 429, 503], [3, 1, 1], k=99)) for n in range(30)}
    engine = Scripted(iter(lambda: choose.choice(fates), "never"), statuses)
    values = range(100)
    actions = [(choose.choice([*statuses]), choose.choice([value, value, value, None])) for value in values]
    sender = to(engine)
    send(
        sender,
        *(Action.make("delete", id, _index="index") if value is None else write(id, value) for id, value in actions),
    )
    last = dict(actions)

    assert {id: {"value": value} for id, value in last.items() if value is not None} == engine.stored
    assert {} == sender.failed
    for id in last:
        written = [document and document["value"] for each, document in engine.done if each == id]
        if cuts:
            written = [each for n, each in enumerate(written) if not n or each != written[n - 1]]
        assert _is_in_order(written, [value for each, value in actions if each == id])


def _is_in_order(some: list[int | None], all_of_them: list[int | None]) -> bool:
    rest = iter(all_of_them)
    return all(each in rest for each in some)


# --- refused for good ---


def test_what_is_refused_is_kept_with_the_reason(to: NewSender) -> None:
    """In one line, with the cause; it is not sent again, and the others are not disturbed."""
    engine = Scripted(statuses={"a": iter([429]), "b": iter([429]), "bad": iter([400])})
    sender = to(engine)
    send(sender, write("a"), write("bad"), write("b"))

    assert {"bad": 'failed to parse field [year] for input string: "x"'} == sender.failed
    assert [["a", "bad", "b"], ["a", "b"]] == engine.asked


def test_a_later_write_that_arrives_is_no_failure(to: NewSender) -> None:
    """And one that is refused later is."""
    engine = Scripted(statuses={"a": iter([400, 201, 400])})
    sender = to(engine)
    send(sender, write("a"))
    first = dict(sender.failed)
    send(sender, write("a"))
    second = dict(sender.failed)
    send(sender, write("a"))

    assert [["a"], [], ["a"]] == [list(first), list(second), list(sender.failed)]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 500])
def test_an_error_that_no_waiting_mends_is_raised_at_once(to: NewSender, status: int) -> None:
    """The whole request was refused: it is not sent again."""
    engine = Scripted(repeat(error(status, "some_exception", "for a reason")))
    with pytest.raises(RequestError) as caught:
        send(to(engine), write("a"), write("b"))

    assert (status, [["a", "b"]]) == (caught.value.status, engine.asked)


@pytest.mark.parametrize(
    ("engine", "why"),
    [
        (Scripted(repeat(BUSY)), "answers 429: data too large"),
        (Scripted(repeat(CUT_BEFORE)), "does not answer (connection lost)"),
        (Scripted(statuses={"a": repeat(429), "b": repeat(429)}), "the engine is busy (queue full)"),
    ],
)
def test_patience_has_an_end(to: NewSender, monkeypatch: pytest.MonkeyPatch, engine: Scripted, why: str) -> None:
    """An engine that takes nothing for so long is given up, in one sentence that says what it answered last."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 0.05)
    with pytest.raises(StoreUnavailableError) as caught:
        send(to(engine), write("a"), write("b"))

    assert why in str(caught.value)
    assert re.search(r"; retried for \d+ s, run it again later$", str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_patience_lasts_as_long_as_something_arrives(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that takes one document at a time is slow, not away."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_SECONDS", 1.0)
    engine = Scripted(statuses={str(n): repeat(429, n) for n in range(20)})

    def slow(request: Request) -> Answer | None:
        time.sleep(0.08)
        return engine(request)

    began = time.monotonic()
    send(to(slow), *map(write, range(20)))

    assert 20 == len(engine.stored)
    assert time.monotonic() - began > 1.0
