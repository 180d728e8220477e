"""Fingerprints for indices that exist, while others write, engines are busy, and runs are killed."""

from __future__ import annotations

import itertools
import json
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import rounds, run
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import (
    OTHER,
    TEXTS,
    backfill,
    done,
    filled,
    interposed,
    load,
    one_engine,
    reasons,
    stored,
    to,
)
from tests.support.cli import environment
from tests.support.http_server import Answer, Indices, Request, error, forward, serving

# --- while others write ---


def test_a_document_that_changed_after_it_was_read_is_read_again(made: Indices, engine: Engine) -> None:
    """The other's write stays, and the fingerprint is that of the other's text."""
    name = filled(made, engine)

    def write(number: int) -> None:
        if number == 0:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER, "number": -1})
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"number": -2}})
            engine.call("POST", [name, "_update", "doc2"], {"doc": {"body": OTHER}})
            engine.call("PUT", [name, "_doc", "doc3"], {"body": OTHER, "simdoc": fingerprint_field(OTHER)})
            engine.call("DELETE", [name, "_doc", "doc4"])

    with interposed(made, write) as (through, _):
        report = backfill(through, name)
    found = stored(engine, name)

    assert {"body": OTHER, "number": -1, "simdoc": fingerprint_field(OTHER)} == found["doc0"]
    assert -2 == found["doc1"]["number"]
    assert fingerprint_field(OTHER) == found["doc2"]["simdoc"]
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == found["doc3"]
    assert "doc4" not in found
    assert (4, 1, 1) == (report.conflicts, report.unchanged, report.deleted_meanwhile)
    assert len(TEXTS) - 2 == report.updated


@pytest.mark.usefixtures("one_by_one")
def test_what_a_loader_replaces_after_its_turn_is_done_again(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A whole document that is written anew has no fingerprint; the run looks again before it ends."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 40)
    name = filled(made, engine)

    def replaced(number: int) -> None:
        if number == 2:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER})

    with interposed(made, replaced) as (through, _):
        report = backfill(through, name)

    assert len(TEXTS) + 1 == report.updated
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == stored(engine, name)["doc0"]


def test_a_document_that_others_change_all_the_time_is_left(made: Indices, engine: Engine) -> None:
    """It is listed, and the next run does it; nobody's write is lost."""
    name = filled(made, engine, {"a": OTHER, "b": OTHER})
    numbers = itertools.count(100)

    def write(_: int) -> None:
        engine.call("POST", [name, "_update", "a"], {"doc": {"number": next(numbers)}})

    with interposed(made, write) as (through, _):
        report = backfill(through, name)
    last = stored(engine, name)["a"]

    assert (1, ["a"]) == (report.updated, sorted({each.id for each in report.refused}))
    assert "run it again" in report.refused[0].reason
    assert {"body": OTHER, "number": next(numbers) - 1} == last
    assert 1 == backfill(engine, name).updated


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_is_removed_meanwhile_is_not_made_anew(made: Indices, engine: Engine) -> None:
    """The engine makes an index for an update that comes too late, without its owner's mapping."""
    gone, kept = filled(made, engine), filled(made, engine)
    alias = made.alias(gone, kept)
    passing, removed = forward(made.engine), False

    def handle(request: Request) -> Answer | None:
        nonlocal removed
        if not removed and f"{gone}/_settings" in request.path:
            removed = True
            engine.call("DELETE", [gone])
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, alias)

    assert {gone: "it was removed meanwhile"} == reasons(report)
    assert len(TEXTS) == report.updated
    with pytest.raises(StoreNotFoundError):
        engine.call("GET", [gone])


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_takes_the_name_of_another_is_not_written(made: Indices, engine: Engine) -> None:
    """The same ids, counted by the engine from 0 as in the old one, do not make it the same document."""
    name = filled(made, engine)

    def handle(request: Request) -> Answer | None:
        if f"{name}/_settings" in request.path and not swapped:
            swapped.append(True)
            engine.call("DELETE", [name])
            load(engine, name, {id: {"body": OTHER} for id in TEXTS})
        return passing(request)

    passing, swapped = forward(made.engine), list[bool]()
    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name)

    assert {name: "it is another one than was opened"} == reasons(report)
    assert {id: {"body": OTHER} for id in TEXTS} == stored(engine, name)


# --- engines that are busy, away, or old ---


def test_an_engine_that_fails_now_and_then_loses_nothing(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Busy, away, or cut off in the middle of an answer: what was sent twice is counted once."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine, number_of_shards=2)
    choose, passing = random.Random(0), forward(made.engine)
    busy = error(429, "rejected_execution_exception", "queue full")

    def unsteady(request: Request) -> Answer | None:
        answered = passing(request)
        if request.method == "GET" or choose.random() < 0.6:
            return answered
        return choose.choice([busy, None, answered and replace(answered, cut=True)])

    with serving(unsteady) as server, to(server.url) as through:
        report = backfill(through, name)

    assert len(TEXTS) == report.updated + report.unchanged
    assert done() == stored(engine, name)


@pytest.mark.parametrize("lacks", ["point in time", "refresh"])
def test_an_engine_that_has_not_all_of_it_is_done_too(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    """Without points in time by a scroll; where we may not refresh, in one round."""
    monkeypatch.setattr(run, "RENEWED_AFTER", 50)
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine, number_of_shards=2)
    passing = forward(made.engine)
    parts = {"point in time": ("point_in_time", "_pit"), "refresh": ("_refresh",)}[lacks]
    refusal = error(400 if lacks == "point in time" else 403, "no handler", "no such thing")

    def handle(request: Request) -> Answer | None:
        return refusal if any(part in request.path for part in parts) else passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name)
        kinds = Counter("scroll=" in each.path for each in server.requests)

    assert len(TEXTS) == report.updated
    assert done() == stored(engine, name)
    assert (lacks == "point in time") == (kinds[True] > 0)


def test_a_moment_is_held_for_so_many_documents_and_let_go(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No old segment is pinned for hours: each point in time is closed before the next is opened."""
    monkeypatch.setattr(run, "RENEWED_AFTER", 40)
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name = filled(made, engine)
    with interposed(made, lambda _: None) as (through, server):
        backfill(through, name)
        requests = [each for each in server.requests if "_pit" in each.path or "point_in_time" in each.path]
    opened = [each.method for each in requests if each.method == "DELETE" or "keep_alive" in each.path]
    tried = opened.count("POST") // max(1, opened.count("DELETE"))  # OpenSearch's way comes first

    assert done() == stored(engine, name)
    assert 4 <= opened.count("DELETE")
    assert (["POST"] * tried + ["DELETE"]) * opened.count("DELETE") == opened


def test_a_moment_that_the_engine_let_go_is_replaced(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a long pause, or a restart of a node."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 30)
    name = filled(made, engine)
    passing, searches = forward(made.engine), itertools.count()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_search?") and next(searches) == 3:
            return error(404, "search_context_missing_exception", "No search context found for id [7]")
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        assert len(TEXTS) == backfill(through, name).updated
    assert done() == stored(engine, name)


def test_all_shards_are_read_to_their_ends(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order in a shard is that of its documents' numbers, which are the same in each: nothing falls between."""
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 3)
    monkeypatch.setattr(rounds, "FIRST_PAGE", 3)
    name = filled(made, engine, number_of_shards=5)
    backfill(engine, name)

    assert len(TEXTS) == backfill(engine, name, stale=True).unchanged


# --- killed, and interrupted ---


@contextmanager
def process(url: str, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    """A backfill in a process of its own."""
    command = [sys.executable, "-m", "simdoc_search", "backfill", url, "--text-field", "body", *arguments]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=environment())
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


def wait_for(engine: Engine, index: str, least: int) -> None:
    """Wait until so many documents have a fingerprint; unless it is all of them, not all have one."""
    deadline = time.monotonic() + 30
    while True:
        engine.call("POST", [index, "_refresh"])
        found = engine.call("POST", [index, "_count"], {"query": {"exists": {"field": "simdoc.format"}}})["count"]
        if found >= least:
            assert found < len(TEXTS) or least == len(TEXTS)
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_run_that_is_killed_three_times_is_completed(made: Indices, engine: Engine) -> None:
    """Each time it goes on where it was; in the end every document has exactly one fingerprint, the right one."""
    name = filled(made, engine)
    for least in (1, 40, 80):
        with process(f"{made.engine}/{name}", "--throttle", "100/s") as killed:
            wait_for(engine, name, least)
            killed.send_signal(signal.SIGKILL)
            killed.wait(10)
    report = backfill(engine, name)

    assert 0 < report.updated <= len(TEXTS) - 80
    assert done() == stored(engine, name)


def test_ctrl_c_says_what_is_done_and_how_to_go_on(made: Indices, engine: Engine) -> None:
    """Exit code 1; the report counts what the index has."""
    name = filled(made, engine)
    with process(f"{made.engine}/{name}", "--throttle", "100", "--json") as interrupted:
        wait_for(engine, name, 50)
        interrupted.send_signal(signal.SIGINT)
        printed, said = interrupted.communicate(timeout=30)
    report = json.loads(printed)

    assert (130, True) == (interrupted.returncode, report["interrupted"])
    assert "Error: interrupted; what was sent is done too, run the same command to go on\n" == said
    assert report["updated"] == sum("simdoc" in each for each in stored(engine, name).values())


@one_engine
def test_ctrl_c_is_how_watching_ends(made: Indices, engine: Engine) -> None:
    """Exit code 0, and what was done."""
    name = filled(made, engine)
    with process(f"{made.engine}/{name}", "--watch", "--changed-field", "number") as watching:
        wait_for(engine, name, len(TEXTS))
        time.sleep(0.5)
        watching.send_signal(signal.SIGINT)
        printed, said = watching.communicate(timeout=30)

    assert (0, "") == (watching.returncode, said)
    assert printed.startswith(f"{len(TEXTS)} updated, 0 unchanged in ")


@one_engine
def test_a_throttle_is_kept(made: Indices, engine: Engine) -> None:
    """So many documents a second, from the first second on."""
    name = filled(made, engine, dict(list(TEXTS.items())[:60]))
    report = backfill(engine, name, throttle=40)

    assert 60 == report.updated
    assert 0.5 <= report.seconds < 3
