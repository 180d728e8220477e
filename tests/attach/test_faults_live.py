"""What the engine does by itself, and an engine that refuses, breaks off or answers by halves: said, and made good."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from simdoc_search.attach.backfill import Backfill, Task, engine_side
from simdoc_search.attach.backfill.engine_side import backfill_in_engine
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import OTHER, TEXTS, bodies, filled, load, to
from tests.support.cli import run, sentence
from tests.support.http_server import Answer, Handler, Indices, Request, answer, error, forward, indices, serving

BODY = Task("body")
BUSY = error(429, "rejected_execution_exception", "queue full")
ALL: dict[str, object] = {"match_all": {}}


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(opensearch_url) as opened:
        yield opened


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture(autouse=True)
def _no_pipeline(engine: Engine) -> Iterator[None]:
    """No test finds the pipeline of another one."""
    yield
    engine.call("DELETE", ["_ingest", "pipeline", "simdoc"], allow=(404,))


def refused_once(made: Indices, part: str) -> Iterator[Engine]:
    """An engine that is busy at the first request with this in its path."""
    passing, left = forward(made.engine), [BUSY]

    def handle(request: Request) -> Answer | None:
        return left.pop() if part in request.path and left else passing(request)

    with serving(handle) as server, to(server.url) as way:
        yield way
    assert [] == left


@contextmanager
def instead(passing: Handler, path: str, said: Answer) -> Iterator[Engine]:
    """An engine that says this to whatever is asked below a path."""

    def handle(request: Request) -> Answer | None:
        return said if request.path.startswith(path) else passing(request)

    with serving(handle) as server, to(server.url) as way:
        yield way


@pytest.mark.parametrize("part", ["_update_by_query", "_tasks/", "_simulate"])
def test_a_busy_engine_is_waited_for(made: Indices, engine: Engine, part: str) -> None:
    """Before its own work is begun, while it goes on, and where the pipeline is tried."""
    name = filled(made, engine)
    for way in refused_once(made, part):
        assert len(TEXTS) == backfill_in_engine(way, name, BODY).updated


def test_ctrl_c_waits_for_no_answer(made: Indices, engine: Engine) -> None:
    """Of an engine that has become slow: it is told to end the task, and we go."""
    name, passing, told = filled(made, engine), forward(made.engine), list[str]()

    def handle(request: Request) -> Answer | None:
        if request.path.endswith("/_cancel"):
            told.append(request.path)
            time.sleep(5)
        return passing(request)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with serving(handle) as server, to(server.url) as way:
        began = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            update_by_query(way, name, ALL, script="ctx._source.x = 1", throttle=20.0, progress=interrupt)
        assert time.monotonic() - began < 4
    assert 1 == len(told)


def test_a_task_that_the_engine_lost_is_not_done(made: Indices, engine: Engine) -> None:
    """It was ended in the middle, or keeps no result: that is an error, and not nothing to do."""
    name, passing = filled(made, engine), forward(made.engine)
    lost = [answer({"completed": True, "task": {}}), error(404, "resource_not_found_exception", "task is missing")]
    shard = {"shard": 0, "index": name, "reason": {"type": "no_shard", "reason": "the shard is gone"}}
    half = answer({"completed": True, "task": {}, "response": {"updated": 1, "failures": [shard]}})

    for said, why in [*((each, "no longer knows what it was doing") for each in lost), (half, "the shard is gone")]:
        way = instead(passing, "/_tasks/", said)
        with pytest.raises(StoreError, match=f"{why}.*; run the same command to go on"), way as engine_of_halves:
            backfill_in_engine(engine_of_halves, name, BODY)


def test_the_others_are_done_where_one_cannot_be_written(made: Indices, engine: Engine) -> None:
    """The engine ends with it; it is named, and with stale too none of the others is left out."""
    name = made.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {**bodies(), "bad": {"body": OTHER, "year": "none"}})
    engine.call("PUT", [name, "_mapping"], {"properties": {"year": {"type": "integer"}}})
    for task in (BODY, replace(BODY, stale=True)):
        report = backfill_in_engine(engine, name, task)
        assert (len(TEXTS), 0, []) == (report.updated, report.without_text, report.skipped_indices)
        assert ["bad"] == [each.id for each in report.refused]
        assert "failed to parse field [year]" in report.refused[0].reason
    assert len(TEXTS) == engine.count(name, _fingerprinted())


def test_what_is_left_is_not_said_to_have_no_words(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing may be written any more, as when a disk is full in the middle of it."""
    name = filled(made, engine)
    monkeypatch.setattr(engine_side, "_ROUNDS", 2)

    def block(written: int, _: int) -> None:
        if written:
            engine.call("PUT", [name, "_settings"], {"index.blocks.write": True})

    report = backfill_in_engine(engine, name, replace(BODY, throttle=80.0), block)
    engine.call("PUT", [name, "_settings"], {"index.blocks.write": None})
    (skipped,) = report.skipped_indices

    assert 0 == report.without_text
    assert 0 < report.updated < len(TEXTS) - len(report.refused)
    assert "blocked by: [FORBIDDEN" in report.refused[0].reason
    assert "not done, as the engine ends where it cannot write one; leave out --in-engine" in skipped.reason


def test_documents_that_cannot_be_read_are_no_sample(made: Indices, engine: Engine) -> None:
    """One sentence, and not "stale 0 of 0"."""
    name, passing = filled(made, engine), forward(made.engine)
    Backfill(engine, name, BODY).run()
    gone = {"type": "no_shard_available_action_exception", "reason": "No shard available"}

    def handle(request: Request) -> Answer | None:
        done = passing(request)
        if not request.path.startswith("/_mget"):
            return done
        assert done is not None
        docs = [{"_index": each["_index"], "_id": each["_id"], "error": gone} for each in json.loads(done.body)["docs"]]
        return answer({"docs": docs})

    with serving(handle) as server:
        said = sentence(run("status", f"{server.url}/{name}", "--max-stale", "1%"))
    assert "cannot be read (No shard available)" in said


def _fingerprinted() -> dict[str, object]:
    return {"exists": {"field": "simdoc.format"}}
