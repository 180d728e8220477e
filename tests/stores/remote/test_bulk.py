"""Many writes: each arrives once and in order, in the index that is meant, until the writer is closed."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from itertools import repeat

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote import bulk, retry, writer
from simdoc_search.stores.remote.bulk import Action, IndexGoneError
from tests.support.http_server import Answer, Request, Scripted, error
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


# --- what is sent ---


def test_an_action_is_one_line_and_its_document_another() -> None:
    """In UTF-8, with the routing if there is any; a deletion has no document."""
    made = Action.make("index", 'a"\n漢', {"text": "one\ntwo \u2028 漢"}, _index="i", routing="r")
    first, second, end = made.lines.decode().split("\n")

    assert {"index": {"_index": "i", "_id": 'a"\n漢', "routing": "r"}} == json.loads(first)
    assert ({"text": "one\ntwo \u2028 漢"}, "") == (json.loads(second), end)
    assert b'{"delete": {"_id": "a", "_index": "i"}}\n' == Action.make("delete", "a", _index="i").lines


def test_everything_arrives_once(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of so many actions, the last one of what is left; nothing is sent before a chunk is full."""
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 10)
    engine = Scripted()
    sender = to(engine)
    for n in range(9):
        sender.add(write(n))
    assert [] == engine.asked
    send(sender, *(write(n, n) for n in range(9, 95)))

    assert sorted(map(str, range(95))) == sorted(id for id, _ in engine.done)
    assert [5] + 9 * [10] == sorted(map(len, engine.asked))
    assert {} == sender.failed


def test_a_chunk_ends_where_it_is_large_enough(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """No chunk has more bytes than the limit, unless it is one action; a replaced action counts no more."""
    monkeypatch.setattr(bulk, "CHUNK_BYTES", 1800)
    engine = Scripted()
    sender = to(engine)
    send(
        sender,
        *(write("same", "x" * 400) for _ in range(9)),
        *(write(n, "x" * 400) for n in range(8)),
        write("large", "x" * 9999),
    )

    assert [["2", "3", "4"], ["5", "6", "7"], ["large"], ["same", "0", "1"]] == sorted(engine.asked)


def test_few_chunks_are_on_their_way_at_once(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several, so that the engine has always something to do, and no more than `THREADS`."""
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 1)
    engine, lock = Scripted(), threading.Lock()
    at_once, most = 0, 0

    def slow(request: Request) -> Answer | None:
        nonlocal at_once, most
        with lock:
            at_once += 1
            most = max(most, at_once)
        time.sleep(0.01)
        with lock:
            at_once -= 1
        return engine(request)

    send(to(slow), *(write(n) for n in range(12)))

    assert writer.THREADS == most


def test_the_last_of_several_writes_of_one_id_counts(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a chunk only it is sent; a later chunk waits until the earlier write has arrived."""
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 2)
    engine = Scripted(statuses={"a": iter([429, 429, 429, 201, 503, 503])})
    delete = Action.make("delete", "a", _index="index")
    send(
        to(engine),
        write("a", 0),
        write("a", 1),
        write("b"),
        write("a", 2),
        write("c"),
        delete,
        write("d"),
        write("a", 3),
    )

    assert [1, 2, None, 3] == [document and document["value"] for id, document in engine.done if id == "a"]


def test_a_deletion_of_what_is_not_there_is_no_failure(to: NewSender) -> None:
    """The engine answers 404 without an error."""
    engine = Scripted()
    sender = to(engine)
    send(sender, Action.make("delete", "a", _index="index"))

    assert ([("a", None)], {}) == (engine.done, sender.failed)


# --- the index ---


@pytest.mark.parametrize("uuid", ["other", None])
def test_nothing_is_sent_to_another_index_of_the_name(to: NewSender, uuid: str | None) -> None:
    """Nor to one that is gone, which the engine would make."""
    engine = Scripted()

    def handle(request: Request) -> Answer | None:
        return error(404, "index_not_found_exception", "no such index [index]") if uuid is None else engine(request)

    engine.uuid = uuid or ""
    with pytest.raises(IndexGoneError, match=r"the index http\S+/index (was removed|is another one)"):
        send(to(handle), write("a"))

    assert [] == engine.asked


def test_what_an_engine_did_in_an_index_made_anew_is_not_believed(to: NewSender) -> None:
    """It was removed between two looks, and the engine made one without our mapping: nothing counts as written."""
    engine = Scripted()

    def handle(request: Request) -> Answer | None:
        if request.path == "/_bulk":
            engine.uuid = "made anew"
        return engine(request)

    with pytest.raises(IndexGoneError, match="removed while it was written; the engine made index for it anew"):
        send(to(handle), write("a"))


def test_an_engine_that_does_not_tell_its_indices_apart_is_written(to: NewSender) -> None:
    """A user who may not read settings writes as before."""
    engine = Scripted()

    def handle(request: Request) -> Answer | None:
        return error(403, "security_exception", "no permissions") if "_settings" in request.path else engine(request)

    send(to(handle), write("a"))

    assert {"a": {"value": 1}} == engine.stored


# --- the end ---


def test_close_does_not_wait_for_an_engine_that_is_away(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits to be sent again is dropped at once; afterwards nothing is taken, and no thread is left."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 60.0)
    monkeypatch.setattr(writer, "CHUNK_ACTIONS", 1)
    engine = Scripted(repeat(BUSY))
    sender = to(engine)
    for n in range(writer.THREADS):
        sender.add(write(n))
    _wait_until(lambda: len(engine.asked) == writer.THREADS)
    began = time.monotonic()
    sender.close()
    sender.close()

    assert time.monotonic() - began < 1
    with pytest.raises(StoreError, match="writer is closed"):
        sender.add(write("a"))
    assert writer.THREADS == len(engine.asked)
    assert [] == [each.name for each in threading.enumerate() if each.name.startswith("simdoc-bulk")]


def _wait_until(condition: Callable[[], bool]) -> None:
    for _ in range(1000):
        if condition():
            return
        time.sleep(0.005)
    raise AssertionError("it did not come true")


def test_what_was_not_flushed_is_not_sent(to: NewSender) -> None:
    """A writer that is left by an error sends nothing more."""
    engine = Scripted()
    sender = to(engine)
    sender.add(write("a"))
    sender.close()

    assert [] == engine.asked
