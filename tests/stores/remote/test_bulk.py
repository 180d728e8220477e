"""Many writes: whatever an engine answers, each arrives once and in order, or is refused with the reason."""

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
from simdoc_search.stores.remote import bulk, patience, sending
from simdoc_search.stores.remote.bulk import Action, Delivery, IndexGoneError
from simdoc_search.stores.remote.connecting import connect
from simdoc_search.stores.remote.engine import RequestError
from simdoc_search.stores.remote.sending import BulkSender
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
from tests.support.often import first

NewSender = Callable[[Handler], BulkSender]

BUSY = error(429, "circuit_breaking_exception", "data too large")


@pytest.fixture(autouse=True)
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no test waits."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(patience, "LONGEST_PAUSE", 0.01)


@pytest.fixture
def to() -> Iterator[NewSender]:
    """Makes senders to an engine."""
    with ExitStack() as opened:

        def make(engine: Handler) -> BulkSender:
            server = opened.enter_context(serving(engine))
            client, _ = connect(f"{server.url}/index", engine="opensearch")
            opened.callback(client.close)
            at_work = client.at_work()
            delivery = Delivery(at_work, "index", {"index": "u"})

            def deliver(actions: list[Action]) -> dict[str, str]:
                return {action.id: outcome.reason for action, outcome in delivery.deliver(actions) if outcome.error}

            return opened.enter_context(closing(BulkSender(deliver, at_work.stopped)))

        yield make


def write(id: object, value: object = 1) -> Action:
    return Action.make("index", str(id), {"value": value}, _index="index")


def send(sender: BulkSender, *actions: Action) -> None:
    for each in actions:
        sender.add(each)
    sender.flush()


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
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 10)
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
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 1)
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

    assert sending.THREADS == most


def test_the_last_of_several_writes_of_one_id_counts(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """Within a chunk only it is sent; a later chunk waits until the earlier write has arrived."""
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 2)
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
    monkeypatch.setattr(patience, "FIRST_PAUSE", 60.0)

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
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 16)
    monkeypatch.setattr(sending, "THREADS", 1)
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
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 7)
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
    monkeypatch.setattr(patience, "PATIENCE", 0.05)
    with pytest.raises(StoreUnavailableError) as caught:
        send(to(engine), write("a"), write("b"))

    assert why in str(caught.value)
    assert re.search(r"; waited \d+ s, run it again later$", str(caught.value))
    assert "\n" not in str(caught.value)


@pytest.mark.slow
def test_patience_lasts_as_long_as_something_arrives(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that takes one document at a time is slow, not away."""
    monkeypatch.setattr(patience, "PATIENCE", 1.0)
    engine = Scripted(statuses={str(n): repeat(429, n) for n in range(20)})

    def slow(request: Request) -> Answer | None:
        time.sleep(0.08)
        return engine(request)

    began = time.monotonic()
    send(to(slow), *map(write, range(20)))

    assert 20 == len(engine.stored)
    assert time.monotonic() - began > 1.0


# --- the end ---


def test_close_does_not_wait_for_an_engine_that_is_away(to: NewSender, monkeypatch: pytest.MonkeyPatch) -> None:
    """What waits to be sent again is dropped at once; afterwards nothing is taken, and no thread is left."""
    monkeypatch.setattr(patience, "FIRST_PAUSE", 60.0)
    monkeypatch.setattr(sending, "CHUNK_ACTIONS", 1)
    engine = Scripted(repeat(BUSY))
    sender = to(engine)
    for n in range(sending.THREADS):
        sender.add(write(n))
    _wait_until(lambda: len(engine.asked) == sending.THREADS)
    began = time.monotonic()
    sender.close()
    sender.close()

    assert time.monotonic() - began < 1
    with pytest.raises(StoreError, match="writer is closed"):
        sender.add(write("a"))
    assert sending.THREADS == len(engine.asked)
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
