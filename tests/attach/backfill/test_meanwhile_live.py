"""A backfill loses nothing if others write, the engine is busy, or the run is killed."""

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
from simdoc_search.attach.backfill import pages, run
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
from tests.support.http_server import Answer, Request, TempIndices, error, forward, serving

# --- while others write ---


def test_a_document_that_changed_after_it_was_read_is_read_again(temp_indices: TempIndices, engine: Engine) -> None:
    """The other write is kept, and the fingerprint is that of the new text."""
    name = filled(temp_indices, engine)

    def write(number: int) -> None:
        if number == 0:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER, "number": -1})
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"number": -2}})
            engine.call("POST", [name, "_update", "doc2"], {"doc": {"body": OTHER}})
            engine.call("PUT", [name, "_doc", "doc3"], {"body": OTHER, "simdoc": fingerprint_field(OTHER)})
            engine.call("DELETE", [name, "_doc", "doc4"])

    with interposed(temp_indices, write) as (through, _):
        report = backfill(through, name)
    found = stored(engine, name)

    assert {"body": OTHER, "number": -1, "simdoc": fingerprint_field(OTHER)} == found["doc0"]
    assert -2 == found["doc1"]["number"]
    assert fingerprint_field(OTHER) == found["doc2"]["simdoc"]
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == found["doc3"]
    assert "doc4" not in found
    assert (4, 1, 1) == (report.conflict_count, report.unchanged_count, report.deleted_count)
    assert len(TEXTS) - 2 == report.updated_count


@pytest.mark.usefixtures("one_by_one")
def test_a_document_that_is_replaced_after_its_update_is_filled_again(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before it ends, the run searches for incomplete documents again."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 40)
    name = filled(temp_indices, engine)

    def replaced(number: int) -> None:
        if number == 2:
            engine.call("PUT", [name, "_doc", "doc0"], {"body": OTHER})

    with interposed(temp_indices, replaced) as (through, _):
        report = backfill(through, name)

    assert len(TEXTS) + 1 == report.updated_count
    assert {"body": OTHER, "simdoc": fingerprint_field(OTHER)} == stored(engine, name)["doc0"]


def test_a_document_that_always_changes_meanwhile_is_refused(temp_indices: TempIndices, engine: Engine) -> None:
    """The next run fills it, and no write is lost."""
    name = filled(temp_indices, engine, {"a": OTHER, "b": OTHER})
    numbers = itertools.count(100)

    def write(_: int) -> None:
        engine.call("POST", [name, "_update", "a"], {"doc": {"number": next(numbers)}})

    with interposed(temp_indices, write) as (through, _):
        report = backfill(through, name)
    last = stored(engine, name)["a"]

    assert (1, ["a"]) == (report.updated_count, [document.id for document in report.refused])
    assert "run the command again" in report.refused[0].reason
    assert {"body": OTHER, "number": next(numbers) - 1} == last
    assert 1 == backfill(engine, name).updated_count


@pytest.mark.usefixtures("one_by_one")
@pytest.mark.parametrize("is_replaced", [False, True])
def test_an_index_that_is_removed_or_replaced_is_not_written(
    temp_indices: TempIndices, engine: Engine, is_replaced: bool
) -> None:
    """A late update would create the index again. The same ids in a new index are other documents."""
    gone, kept = filled(temp_indices, engine), filled(temp_indices, engine)
    passing, removed = forward(temp_indices.engine), list[bool]()

    def handle(request: Request) -> Answer | None:
        if f"{gone}/_settings" in request.path and not removed:
            removed.append(True)
            engine.call("DELETE", [gone])
            if is_replaced:
                load(engine, gone, {id: {"body": OTHER} for id in TEXTS})
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, temp_indices.alias(gone, kept))

    assert {gone: "the index was replaced with another index" if is_replaced else "the index was removed"} == reasons(
        report
    )
    assert len(TEXTS) == report.updated_count
    if is_replaced:
        assert {id: {"body": OTHER} for id in TEXTS} == stored(engine, gone)
    else:
        with pytest.raises(StoreNotFoundError):
            engine.call("GET", [gone])


# --- engines that are busy, do not answer, or are old ---


@one_engine
def test_an_engine_that_often_fails_loses_nothing(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is busy, does not respond, or cuts off a response. A write that was sent twice is counted once."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 20)
    name = filled(temp_indices, engine, number_of_shards=2)
    choose, passing = random.Random(0), forward(temp_indices.engine)
    busy = error(429, "rejected_execution_exception", "queue full")

    def unsteady(request: Request) -> Answer | None:
        answered = passing(request)
        if request.method == "GET" or choose.random() < 0.6:
            return answered
        return choose.choice([busy, None, answered and replace(answered, cut=True)])

    with serving(unsteady) as server, to(server.url) as through:
        report = backfill(through, name)

    assert len(TEXTS) == report.updated_count + report.unchanged_count
    assert done() == stored(engine, name)


@one_engine
@pytest.mark.parametrize("lacks", ["point in time", "refresh"])
def test_an_engine_without_points_in_time_or_refresh_is_filled(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch, lacks: str
) -> None:
    """The run uses a scroll instead of a point in time. Without a refresh it has one round."""
    monkeypatch.setattr(run, "POINT_IN_TIME_DOCUMENTS", 50)
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 20)
    name = filled(temp_indices, engine, number_of_shards=2)
    passing = forward(temp_indices.engine)
    parts = {"point in time": ("point_in_time", "_pit"), "refresh": ("_refresh",)}[lacks]
    refusal = error(400 if lacks == "point in time" else 403, "no handler", "no such thing")

    def handle(request: Request) -> Answer | None:
        return refusal if any(part in request.path for part in parts) else passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name)
        scrolls = Counter("scroll=" in request.path for request in server.requests)[True]

    assert len(TEXTS) == report.updated_count
    assert done() == stored(engine, name)
    assert (lacks == "point in time") == (scrolls > 0)


def test_a_point_in_time_is_closed_before_the_next_one_is_opened(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then the engine can remove old segments."""
    monkeypatch.setattr(run, "POINT_IN_TIME_DOCUMENTS", 40)
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 20)
    name = filled(temp_indices, engine)
    with interposed(temp_indices, lambda _: None) as (through, server):
        backfill(through, name)
        requests = [request for request in server.requests if "_pit" in request.path or "point_in_time" in request.path]
    methods = [request.method for request in requests if request.method == "DELETE" or "keep_alive" in request.path]
    tried = methods.count("POST") // max(1, methods.count("DELETE"))  # the request of OpenSearch is tried first

    assert done() == stored(engine, name)
    assert 4 <= methods.count("DELETE")
    assert (["POST"] * tried + ["DELETE"]) * methods.count("DELETE") == methods


def test_a_lost_point_in_time_is_replaced(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine loses it after a long pause, or when a node restarts."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 30)
    name = filled(temp_indices, engine)
    passing, searches = forward(temp_indices.engine), itertools.count()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_search?") and next(searches) == 3:
            return error(404, "search_context_missing_exception", "No search context found for id [7]")
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        assert len(TEXTS) == backfill(through, name).updated_count
    assert done() == stored(engine, name)


def test_a_document_that_is_read_again_after_an_outage_is_counted_once(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All documents match the query again, because they have a complete fingerprint."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 30)
    monkeypatch.setattr(pages, "FIRST_PAGE_DOCUMENTS", 30)
    name = filled(temp_indices, engine)
    backfill(engine, name)
    passing, searches = forward(temp_indices.engine), itertools.count()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_search?") and next(searches) in (3, 6):
            return error(404, "search_context_missing_exception", "No search context found for id [7]")
        return passing(request)

    with serving(handle) as server, to(server.url) as through:
        report = backfill(through, name, stale=True, full=True)

    assert next(searches) > 7
    assert (0, len(TEXTS)) == (report.updated_count, report.unchanged_count)


def test_all_documents_of_all_shards_are_read(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sort values of documents are unique only within a shard."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 7)
    monkeypatch.setattr(pages, "FIRST_PAGE_DOCUMENTS", 7)
    name = filled(temp_indices, engine, number_of_shards=5)
    backfill(engine, name)

    assert len(TEXTS) == backfill(engine, name, stale=True).unchanged_count


# --- killed, and interrupted ---


@contextmanager
def process(url: str, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A backfill in another process."""
    command = [sys.executable, "-m", "simdoc_search", "backfill", url, "--text-field", "body", *options]
    run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", env=environment())
    try:
        yield run
    finally:
        run.kill()
        run.communicate()


def wait_for(engine: Engine, index: str, least: int) -> None:
    """Wait until this many documents have a fingerprint, but not all."""
    deadline = time.monotonic() + 30
    while True:
        engine.refresh(index)
        found = engine.count(index, {"exists": {"field": "simdoc.format"}})
        if found >= least:
            assert found < len(TEXTS)
            return
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_a_killed_run_is_completed_by_the_next_one(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    for least in (1, 60):
        with process(f"{temp_indices.engine}/{name}", "--throttle", "100/s") as killed:
            wait_for(engine, name, least)
            killed.send_signal(signal.SIGKILL)
            killed.wait(10)
    report = backfill(engine, name)

    assert 0 < report.updated_count <= len(TEXTS) - 60
    assert done() == stored(engine, name)


@one_engine
def test_ctrl_c_shows_how_many_updates_the_engine_has_not_confirmed(temp_indices: TempIndices, engine: Engine) -> None:
    name, handle = filled(temp_indices, engine), forward(temp_indices.engine)

    def answer_bulk_late(request: Request) -> Answer | None:
        answer = handle(request)
        time.sleep(4 if "/_bulk" in request.path else 0)
        return answer

    with serving(answer_bulk_late) as server, process(f"{server.url}/{name}", "--throttle", "100") as interrupted:
        wait_for(engine, name, 50)
        interrupted.send_signal(signal.SIGINT)
        printed, _ = interrupted.communicate(timeout=30)
    count = sum("simdoc" in source for source in stored(engine, name).values())

    unconfirmed = f"0 documents updated, 0 unchanged, {count} possibly updated (the engine had not answered yet) ("
    assert printed.startswith(unconfirmed), printed


@one_engine
def test_ctrl_c_shows_what_is_done_and_how_to_continue(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    with process(f"{temp_indices.engine}/{name}", "--throttle", "100", "--json") as interrupted:
        wait_for(engine, name, 50)
        interrupted.send_signal(signal.SIGINT)
        printed, stderr = interrupted.communicate(timeout=30)
    report = json.loads(printed)

    assert (130, True) == (interrupted.returncode, report["interrupted"])
    assert "Error: interrupted; run the same command again to resume\n" == stderr
    assert report["updated_count"] == sum("simdoc" in source for source in stored(engine, name).values())
