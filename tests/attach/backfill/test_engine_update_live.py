"""A backfill in the engine makes the same fingerprints, keeps concurrent writes, and reports failures."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from simdoc_search.attach.backfill import Backfill, BackfillOptions, BackfillReport, engine_update
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.errors import StoreError
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import OTHER, TEXTS, backfill_in_engine, bodies, done, filled, load, stored, to
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import PREFIX
from tests.support.http_server import Answer, Handler, Request, TempIndices, error, forward, indices, serving
from tests.support.http_server import answer as reply
from tests.support.pipeline_installation import install_pipeline, use_pipeline

BODY = BackfillOptions("body")
BUSY = error(429, "rejected_execution_exception", "queue full")
ALL: dict[str, object] = {"match_all": {}}


@pytest.fixture(scope="module")
def engine_url(opensearch_url: str) -> str:
    """An engine with pipelines."""
    return opensearch_url


@pytest.fixture(autouse=True)
def _no_pipeline(engine: Engine) -> Iterator[None]:
    """Remove the pipeline after each test."""
    yield
    engine.call("PUT", [f"{PREFIX}-*", "_settings"], {"index.final_pipeline": "_none"}, allowed_statuses=(404,))
    engine.call("DELETE", ["_ingest", "pipeline", "simdoc"], allowed_statuses=(404,))


def test_every_document_gets_the_fingerprint_of_its_text(temp_indices: TempIndices, engine: Engine) -> None:
    """A backfill without the engine makes the same ones. With `stale`, all documents pass the pipeline again."""
    name, seen = filled(temp_indices, engine), list[tuple[int, int]]()
    report = backfill_in_engine(engine, name, BODY, lambda written, total: seen.append((written, total)))

    assert replace(BackfillReport(updated_count=len(TEXTS)), seconds=report.seconds) == report
    assert done() == stored(engine, name)
    assert {len(TEXTS)} >= {total for _, total in seen}
    assert 0 == backfill_in_engine(engine, name, BODY).updated_count
    engine.call("POST", [name, "_update", "doc0"], {"doc": {"body": OTHER}}, refresh=True)
    assert 0 == backfill_in_engine(engine, name, BODY).updated_count
    assert len(TEXTS) == backfill_in_engine(engine, name, replace(BODY, stale=True)).updated_count
    assert {**done(), "doc0": done({"doc0": OTHER})["doc0"]} == stored(engine, name)


def test_the_pipeline_of_the_index_is_used(temp_indices: TempIndices, engine: Engine) -> None:
    """Its name may differ. The pipeline `simdoc` may then read another text field."""
    name = filled(temp_indices, engine)
    install_pipeline(engine, "title")
    install = ["template", "install", engine.name, "--pipeline", "--text-field", "body"]
    output(*install, "--name", name, "--index", name)
    output("backfill", f"{engine.name}/{name}", "--in-engine")
    engine.call("PUT", [name, "_settings"], {"index.final_pipeline": "_none"})
    engine.call("DELETE", ["_ingest", "pipeline", name])

    assert done() == stored(engine, name)


def test_concurrent_writes_are_kept_and_fingerprinted(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 2})
    load(engine, name, bodies(TEXTS))
    install_pipeline(engine)
    use_pipeline(engine, name)

    def write() -> None:
        for id in list(TEXTS)[:30]:
            engine.call("POST", [name, "_update", id], {"doc": {"body": f"{OTHER} {id}"}}, retry_on_conflict=5)
        load(engine, name, bodies({"new": OTHER}))
        engine.call("DELETE", [name, "_doc", list(TEXTS)[-1]])

    writer = threading.Thread(target=write)
    writer.start()
    backfill_in_engine(engine, name, replace(BODY, throttle=200.0))
    writer.join()
    assert 0 == backfill_in_engine(engine, name, BODY).updated_count
    report = Backfill(engine, name, BackfillOptions("body", stale=True)).run()
    assert (0, len(TEXTS)) == (report.updated_count, report.unchanged_count)


def test_a_document_that_the_pipeline_cannot_fingerprint_is_listed(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": {"body": {"type": "text"}}})
    load(engine, name, bodies({"good": OTHER, "long": "word " * 250_000, "none": ""}))
    for _ in range(2):
        report = backfill_in_engine(engine, name, BODY)
        assert [("long", name)] == [(document.id, document.index) for document in report.refused]
        assert "characters, but the pipeline accepts at most" in report.refused[0].reason
    assert 1 == run("backfill", f"{engine.name}/{name}", "--text-field", "body", "--in-engine").exit_code


def test_a_document_that_the_engine_cannot_write_does_not_stop_the_others(
    temp_indices: TempIndices, engine: Engine
) -> None:
    """The engine stops at this document, so the next round excludes it."""
    name = temp_indices.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {**bodies(), "bad": {"body": OTHER, "year": "none"}})
    engine.call("PUT", [name, "_mapping"], {"properties": {"year": {"type": "integer"}}})
    for options in (BODY, replace(BODY, stale=True)):
        report = backfill_in_engine(engine, name, options)
        assert (len(TEXTS), 0, []) == (report.updated_count, report.textless_count, report.skipped_indices)
        assert ["bad"] == [document.id for document in report.refused]
        assert "failed to parse field [year]" in report.refused[0].reason
    assert len(TEXTS) == engine.count(name, {"exists": {"field": "simdoc.format"}})


def test_documents_without_a_text_are_counted(temp_indices: TempIndices, engine: Engine) -> None:
    """They are not written if a query can tell which documents have a text."""
    for kind, version in ({"type": "text"}, 1), ({"type": "text", "index": False}, 2):
        name = temp_indices.make({"properties": {"body": kind}})
        load(engine, name, bodies(TEXTS))
        engine.call("PUT", [name, "_doc", "bare"], {"number": 1}, refresh=True)
        report = backfill_in_engine(engine, name, BODY)

        assert (len(TEXTS), version - 1) == (report.updated_count, report.textless_count)
        assert version == engine.call("GET", [name, "_doc", "bare"])["_version"]


def test_an_unsuitable_pipeline_is_not_used(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    install_pipeline(engine, "title")
    with pytest.raises(StoreError, match="pipeline simdoc"):
        backfill_in_engine(engine, name, BODY)
    with_sentences = replace(BODY, change_settings=lambda settings: replace(settings, sentences=SentenceSettings()))
    with pytest.raises(StoreError, match="does not support sentences; use `simdoc-search backfill`"):
        backfill_in_engine(engine, name, with_sentences)


def test_queries_find_what_the_command_filled(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    url = f"{engine.name}/{name}"

    assert f"{len(TEXTS)} documents updated" in output("backfill", url, "--text-field", "body", "--in-engine")
    (hit,) = answer("similar", "--text", TEXTS["doc3"], "--store", url, "--overlap", "90")["hits"]
    assert ("doc3", 1.0) == (hit["id"], hit["overlap"])


# --- the task in the engine ---


def test_a_throttle_limits_the_rate_and_progress_is_reported(temp_indices: TempIndices, engine: Engine) -> None:
    """Both count the documents of all slices."""
    name, seen, started = filled(temp_indices, engine, number_of_shards=2), list[int](), time.monotonic()
    updated = update_by_query(engine, name, ALL, throttle=200.0, progress=seen.append)

    assert (len(TEXTS), 0, {}) == (updated.updated_count, updated.conflict_count, updated.failures)
    assert time.monotonic() - started > 0.5
    assert seen == sorted(seen)


def test_ctrl_c_cancels_the_task_without_waiting_for_it(temp_indices: TempIndices, engine: Engine) -> None:
    """The engine may be slow to answer."""
    name, passing, cancelled = filled(temp_indices, engine), forward(temp_indices.engine), list[str]()

    def handle(request: Request) -> Answer | None:
        if request.path.endswith("/_cancel"):
            cancelled.append(request.path)
            passing(request)
            time.sleep(5)
        return passing(request)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with serving(handle) as server, to(server.url) as through:
        started = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            update_by_query(through, name, ALL, throttle=20.0, progress=interrupt)
        assert time.monotonic() - started < 4
        assert 1 == len(cancelled)
        assert {} == engine.call("GET", ["_tasks"], actions="*byquery")["nodes"]


@pytest.mark.parametrize("part", ["_update_by_query", "_tasks/", "_simulate"])
def test_requests_to_a_busy_engine_are_retried(temp_indices: TempIndices, engine: Engine, part: str) -> None:
    name, passing, left = filled(temp_indices, engine), forward(temp_indices.engine), [BUSY]

    def handle(request: Request) -> Answer | None:
        return left.pop() if part in request.path and left else passing(request)

    with serving(handle) as server, to(server.url) as through:
        assert len(TEXTS) == backfill_in_engine(through, name, BODY).updated_count
    assert [] == left


@contextmanager
def answering(passing: Handler, path: str, answer: Answer) -> Iterator[Engine]:
    """An engine that gives one answer to all requests below a path."""

    def handle(request: Request) -> Answer | None:
        return answer if request.path.startswith(path) else passing(request)

    with serving(handle) as server, to(server.url) as through:
        yield through


def test_a_lost_task_is_an_error(temp_indices: TempIndices, engine: Engine) -> None:
    name, passing = filled(temp_indices, engine), forward(temp_indices.engine)
    shard = {"shard": 0, "index": name, "reason": {"type": "no_shard", "reason": "the shard is gone"}}
    answers = {
        "lost the task": reply({"completed": True, "task": {}}),
        "lost the task .*": error(404, "resource_not_found_exception", "task is missing"),
        "the shard is gone": reply({"completed": True, "task": {}, "response": {"updated": 1, "failures": [shard]}}),
    }
    for reason, given in answers.items():
        lost = pytest.raises(StoreError, match=f"{reason}.*; run the same command again to resume")
        with answering(passing, "/_tasks/", given) as through, lost:
            backfill_in_engine(through, name, BODY)


def test_documents_that_are_left_are_reported(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Here a block stops all writes, as on a full disk."""
    name = filled(temp_indices, engine)
    monkeypatch.setattr(engine_update, "_MAX_ROUNDS", 2)

    def block(written: int, _: int) -> None:
        if written:
            engine.call("PUT", [name, "_settings"], {"index.blocks.write": True})

    report = backfill_in_engine(engine, name, replace(BODY, throttle=80.0), block)
    engine.call("PUT", [name, "_settings"], {"index.blocks.write": None})
    (skipped,) = report.skipped_indices

    assert 0 == report.textless_count
    assert 0 < report.updated_count < len(TEXTS) - len(report.refused)
    assert "blocked by: [FORBIDDEN" in report.refused[0].reason
    assert (
        "because the update stopped at a document that the engine could not write; run the command again without"
        in skipped.reason
    )


def test_an_engine_without_update_by_query_is_an_error(elasticsearch_url: str) -> None:
    """Elasticsearch without modules has none."""
    unsupported = pytest.raises(StoreError, match="cannot update documents by query")
    with to(elasticsearch_url) as engine, indices(elasticsearch_url) as temp_indices, unsupported:
        update_by_query(engine, temp_indices.make({}), ALL)


def test_documents_that_cannot_be_read_are_an_error_for_status(temp_indices: TempIndices, engine: Engine) -> None:
    """Otherwise `status` would report that 0 of 0 are stale."""
    name, passing = filled(temp_indices, engine), forward(temp_indices.engine)
    Backfill(engine, name, BODY).run()
    gone = {"type": "no_shard_available_action_exception", "reason": "No shard available"}

    def handle(request: Request) -> Answer | None:
        if not request.path.startswith("/_mget"):
            return passing(request)
        places = json.loads(request.body)["docs"]
        return reply({"docs": [{"_index": place["_index"], "_id": place["_id"], "error": gone} for place in places]})

    with serving(handle) as server:
        refused = sentence(run("status", f"{server.url}/{name}", "--max-stale", "1%"))
    assert "(No shard available)" in refused
