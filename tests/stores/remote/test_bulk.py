"""Bulk writes: whatever the engine answers, each write arrives once, in order, and in the index that was opened."""

from __future__ import annotations

import json
import random
import re
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from itertools import chain, repeat

import pytest

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote import bulk, retry, writer
from simdoc_search.stores.remote.bulk import Action, BulkWriter, IndexGoneError
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.writer import ChunkSender
from tests.support.http_server import (
    CUT_AFTER,
    CUT_BEFORE,
    CUT_WITHIN,
    Answer,
    Fate,
    Handler,
    Request,
    Scripted,
    error,
    serving,
)
from tests.support.slow_cases import slow_after
from tests.support.waiting import wait_until

pytestmark = pytest.mark.usefixtures("short_pauses")

BUSY = error(429, "circuit_breaking_exception", "data too large")

NewSender = Callable[[Handler], ChunkSender]


@pytest.fixture
def new_sender() -> Iterator[NewSender]:
    """A function that makes a sender to a simulated engine."""
    with ExitStack() as opened:

        def make(engine: Handler) -> ChunkSender:
            server = opened.enter_context(serving(engine))
            client, _ = connect(f"{server.url}/index", engine="opensearch")
            opened.callback(client.close)
            background = client.in_background()
            writes = BulkWriter(background, "index", {"index": "u"})

            def write_chunk(actions: list[Action]) -> dict[str, str]:
                return {action.id: outcome.reason for action, outcome in writes.write(actions) if outcome.error}

            return opened.enter_context(closing(ChunkSender(write_chunk, background.stop_event)))

        yield make


def write(id: object, value: object = 1) -> Action:
    """Return an action that writes a value."""
    return Action.make("index", str(id), {"value": value}, _index="index")


def send(sender: ChunkSender, *actions: Action) -> None:
    """Send actions, and wait until they have arrived."""
    for action in actions:
        sender.add(action)
    sender.flush()


# --- requests ---


def test_an_action_and_its_document_are_one_line_each() -> None:
    action = Action.make("index", 'a"\n漢', {"text": "one\ntwo \u2028 漢"}, _index="i", routing="r")
    first_line, second, end = action.encoded_lines.decode().split("\n")

    assert {"index": {"_index": "i", "_id": 'a"\n漢', "routing": "r"}} == json.loads(first_line)
    assert ({"text": "one\ntwo \u2028 漢"}, "") == (json.loads(second), end)
    assert b'{"delete": {"_id": "a", "_index": "i"}}\n' == Action.make("delete", "a", _index="i").encoded_lines


def test_full_chunks_are_sent_at_once_and_the_last_chunk_by_flush(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 10)
    engine = Scripted()
    sender = new_sender(engine)
    for n in range(9):
        sender.add(write(n))
    assert [] == engine.requested
    send(sender, *(write(n, n) for n in range(9, 95)))

    assert sorted(map(str, range(95))) == sorted(id for id, _ in engine.done)
    assert [5] + 9 * [10] == sorted(map(len, engine.requested))


def test_a_chunk_has_a_maximum_size_unless_it_is_a_single_action(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bulk, "MAX_CHUNK_BYTES", 1800)
    engine = Scripted()
    replaced = (write("same", "x" * 400) for _ in range(9))
    send(new_sender(engine), *replaced, *(write(n, "x" * 400) for n in range(8)), write("large", "x" * 9999))

    assert [["2", "3", "4"], ["5", "6", "7"], ["large"], ["same", "0", "1"]] == sorted(engine.requested)


def test_the_last_of_several_writes_of_one_id_wins(new_sender: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 2)
    engine = Scripted(statuses={"a": iter([429, 429, 429, 201, 503, 503])})
    delete = Action.make("delete", "a", _index="index")
    writes = [write("a", 0), write("a", 1), write("b"), write("a", 2), write("c"), delete, write("d"), write("a", 3)]
    send(new_sender(engine), *writes)

    assert [1, 2, None, 3] == [document and document["value"] for id, document in engine.done if id == "a"]


# --- the index ---


@pytest.mark.parametrize("uuid", ["other", None])
def test_no_write_is_sent_to_another_index_of_the_same_name(new_sender: NewSender, uuid: str | None) -> None:
    engine = Scripted()

    def handle(request: Request) -> Answer | None:
        return error(404, "index_not_found_exception", "no such index [index]") if uuid is None else engine(request)

    engine.uuid = uuid or ""
    with pytest.raises(IndexGoneError, match=r"the index http\S+/index was (removed|replaced)"):
        send(new_sender(handle), write("a"))

    assert [] == engine.requested


def test_an_index_that_is_removed_during_a_write_is_an_error(new_sender: NewSender) -> None:
    engine = Scripted()

    def handle(request: Request) -> Answer | None:
        if request.path == "/_bulk":
            engine.uuid = "of another index"
        return engine(request)

    with pytest.raises(IndexGoneError, match=r"was removed during a write \(if the engine"):
        send(new_sender(handle), write("a"))


# --- retries ---


@pytest.mark.parametrize("fate", [BUSY, Answer(503, b"busy", "text/plain"), CUT_BEFORE, CUT_AFTER, CUT_WITHIN], ids=str)
def test_a_chunk_that_did_not_arrive_is_sent_again(new_sender: NewSender, fate: Fate) -> None:
    engine = Scripted(chain(repeat(fate, 6), repeat(None)))
    sender = new_sender(engine)
    send(sender, *(write(n, n) for n in range(10)))

    assert {str(n): {"value": n} for n in range(10)} == engine.stored
    assert {} == sender.refused


def test_only_refused_actions_are_sent_again(new_sender: NewSender) -> None:
    engine = Scripted(statuses={"b": iter([429]), "d": iter([503])})
    send(new_sender(engine), *map(write, "abcde"))

    assert [[*"abcde"], [*"bd"]] == engine.requested
    assert [*"acebd"] == [id for id, _ in engine.done]


def test_a_chunk_that_is_too_large_is_halved_without_a_pause(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 60.0)
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 16)
    monkeypatch.setattr(writer, "MAX_CONCURRENT_CHUNKS", 1)
    engine, refusals = Scripted(), list[int]()

    def limited(request: Request) -> Answer | None:
        if len(request.body) <= 400:
            return engine(request)
        refusals.append(len(engine.done))
        return Answer(413, b"", "text/plain")

    sender = new_sender(limited)
    send(sender, *(write(n, n) for n in range(160)))
    assert {0} == set(refusals)  # the accepted size is remembered
    send(sender, write("large", "x" * 500))

    assert {str(n): {"value": n} for n in range(160)} == engine.stored
    assert {"large": "the document is too large for the engine"} == sender.refused


@pytest.mark.parametrize("seed", slow_after(2, range(8)))
@pytest.mark.slow
def test_no_write_is_lost_or_repeated_or_out_of_order(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 7)
    rng = random.Random(seed)
    cuts = [] if seed % 2 else [CUT_AFTER, CUT_WITHIN]  # a write without an answer is sent twice
    fates: list[Fate] = [None, None, None, None, BUSY, Answer(502, b"", "text/html"), CUT_BEFORE, *cuts]
    statuses = {f"id{n}": iter(rng.choices([201, 429, 503], [3, 1, 1], k=99)) for n in range(30)}
    engine = Scripted(iter(lambda: rng.choice(fates), "never"), statuses)
    values = [(rng.choice([*statuses]), rng.choice([n, n, n, None])) for n in range(100)]
    sender = new_sender(engine)
    send(sender, *(Action.make("delete", id, _index="index") if n is None else write(id, n) for id, n in values))
    last = dict(values)

    assert {id: {"value": n} for id, n in last.items() if n is not None} == engine.stored
    assert {} == sender.refused
    for id in last:
        written = [document and document["value"] for other, document in engine.done if other == id]
        if cuts:
            written = [n for number, n in enumerate(written) if not number or n != written[number - 1]]
        rest = iter(n for other, n in values if other == id)
        assert all(n in rest for n in written)


@pytest.mark.parametrize("status", [400, 403, 500])
def test_an_error_that_is_not_retryable_is_raised_at_once(new_sender: NewSender, status: int) -> None:
    engine = Scripted(repeat(error(status, "some_exception", "for a reason")))
    with pytest.raises(RequestError) as caught:
        send(new_sender(engine), write("a"), write("b"))

    assert (status, [["a", "b"]]) == (caught.value.status, engine.requested)


@pytest.mark.parametrize(
    ("engine", "reason"),
    [
        (Scripted(repeat(BUSY)), "returned status 429: data too large"),
        (Scripted(repeat(CUT_BEFORE)), ": connection lost; "),
        (Scripted(statuses={"a": repeat(429), "b": repeat(429)}), "the engine is busy (queue full)"),
    ],
)
def test_retries_end_at_the_deadline(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch, engine: Scripted, reason: str
) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 0.05)
    with pytest.raises(StoreUnavailableError) as caught:
        send(new_sender(engine), write("a"), write("b"))

    assert reason in str(caught.value)
    assert re.search(r"; run the command again later \(gave up after \d+ s of retries\)$", str(caught.value))


@pytest.mark.slow
def test_each_success_extends_the_deadline(new_sender: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    monkeypatch.setattr(retry, "BACKGROUND_RETRY_SECONDS", 1.0)
    engine = Scripted(statuses={str(n): repeat(429, n) for n in range(20)})

    def slow(request: Request) -> Answer | None:
        time.sleep(0.08)
        return engine(request)

    began = time.monotonic()
    send(new_sender(slow), *map(write, range(20)))

    assert 20 == len(engine.stored)
    assert time.monotonic() - began > 1.0


# --- refused documents, and closing ---


def test_a_refused_document_is_listed_with_the_reason_until_it_is_written(new_sender: NewSender) -> None:
    engine = Scripted(statuses={"b": iter([429]), "bad": iter([400, 201])})
    sender = new_sender(engine)
    send(sender, write("a"), write("bad"), write("b"), Action.make("delete", "unknown", _index="index"))

    assert {"bad": 'failed to parse field [year] for input string: "x"'} == sender.refused
    assert [["a", "bad", "b", "unknown"], ["b"]] == engine.requested
    send(sender, write("bad"))
    assert {} == sender.refused


def test_close_drops_unsent_actions_and_does_not_wait_for_the_engine(
    new_sender: NewSender, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 60.0)
    monkeypatch.setattr(writer, "MAX_CHUNK_ACTIONS", 2)
    engine = Scripted(repeat(BUSY))
    sender = new_sender(engine)
    for n in range(2 * writer.MAX_CONCURRENT_CHUNKS + 1):
        sender.add(write(n))
    wait_until(lambda: len(engine.requested) == writer.MAX_CONCURRENT_CHUNKS)
    began = time.monotonic()
    sender.close()
    sender.close()

    assert time.monotonic() - began < 1
    with pytest.raises(StoreError, match="writer is closed"):
        sender.add(write("a"))
    assert writer.MAX_CONCURRENT_CHUNKS == len(engine.requested)
    assert [] == [thread.name for thread in threading.enumerate() if thread.name.startswith("simdoc-bulk")]
