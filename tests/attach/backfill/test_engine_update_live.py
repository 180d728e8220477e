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
    """A backfill without the engine makes the same ones. With `stale`, only stale fingerprints are written."""
    name, seen = filled(temp_indices, engine), list[tuple[int, int]]()
    report = backfill_in_engine(engine, name, BODY, lambda written, total: seen.append((written, total)))

    assert replace(BackfillReport(updated_count=len(TEXTS)), seconds=report.seconds) == report
    assert done() == stored(engine, name)
    assert {len(TEXTS)} >= {total for _, total in seen}
    assert 0 == backfill_in_engine(engine, name, BODY).updated_count
    engine.call("POST", [name, "_update", "doc0"], {"doc": {"body": OTHER}}, refresh=True)
    assert 0 == backfill_in_engine(engine, name, BODY).updated_count
    report = backfill_in_engine(engine, name, replace(BODY, stale=True))
    assert (1, len(TEXTS) - 1, 0) == (report.updated_count, report.unchanged_count, report.unread_count)
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
    for options, updated, unchanged in (BODY, len(TEXTS), 0), (replace(BODY, stale=True), 0, len(TEXTS)):
        report = backfill_in_engine(engine, name, options)
        assert (updated, unchanged) == (report.updated_count, report.unchanged_count)
        assert (0, []) == (report.textless_count, report.skipped_indices)
        assert ["bad"] == [document.id for document in report.refused]
        assert "failed to parse field [year]" in report.refused[0].reason
    assert len(TEXTS) == engine.count(name, {"exists": {"field": "simdoc.format"}})


def test_documents_without_a_text_are_counted(temp_indices: TempIndices, engine: Engine) -> None:
    """They are not written, even if no query can tell which documents have a text."""
    for kind, textless in ({"type": "text"}, 0), ({"type": "text", "index": False}, 1):
        name = temp_indices.make({"properties": {"body": kind}})
        load(engine, name, bodies(TEXTS))
        engine.call("PUT", [name, "_doc", "bare"], {"number": 1}, refresh=True)
        for updated in (len(TEXTS), 0):
            report = backfill_in_engine(engine, name, BODY)
            assert (updated, textless) == (report.updated_count, report.textless_count)
        assert 1 == engine.call("GET", [name, "_doc", "bare"])["_version"]


def versions(engine: Engine, index: str) -> dict[str, int]:
    """Return how often each document was written."""
    engine.call("POST", [index, "_refresh"])
    hits = engine.call("POST", [index, "_search"], {"size": 1000, "version": True})["hits"]["hits"]
    return {hit["_id"]: hit["_version"] for hit in hits}


def test_only_documents_written_since_are_read(temp_indices: TempIndices, engine: Engine) -> None:
    """The shards contain different numbers of documents, so their sequence numbers differ. `--full` writes no more."""
    name = temp_indices.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 2})
    load(engine, name, bodies(dict(list(TEXTS.items())[:120])), routing="all")
    load(engine, name, bodies(dict(list(TEXTS.items())[120:])), routing="another")
    stale = replace(BODY, stale=True)
    backfill_in_engine(engine, name, stale)
    before = versions(engine, name)
    for options, unchanged in (stale, 0), (replace(stale, full=True), len(TEXTS)), (stale, 0):
        report = backfill_in_engine(engine, name, options)
        assert (0, unchanged) == (report.updated_count, report.unchanged_count)
        assert len(TEXTS) - unchanged == report.unread_count
        assert before == versions(engine, name)
    for id, part in {"doc1": {"body": OTHER}, "doc2": {"number": -1}}.items():
        engine.call("POST", [name, "_update", id], {"doc": part}, routing="all", refresh=True)
    report = backfill_in_engine(engine, name, stale)

    assert (1, 1, len(TEXTS) - 2) == (report.updated_count, report.unchanged_count, report.unread_count)
    assert {**before, "doc1": before["doc1"] + 2, "doc2": before["doc2"] + 1} == versions(engine, name)
    assert done({"doc1": OTHER})["doc1"]["simdoc"] == stored(engine, name)["doc1"]["simdoc"]


@pytest.mark.parametrize(
    "change",
    [
        {"tokens": "AAA"},
        {"passages": None},
        {"words_hash": "0"},
        {"error": "the pipeline failed"},
        {"format": "other"},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_fingerprint_with_a_wrong_value_is_replaced(
    temp_indices: TempIndices, engine: Engine, change: dict[str, object]
) -> None:
    """Null counts as no value, so the document with the null is not written."""
    name = filled(temp_indices, engine)
    backfill_in_engine(engine, name, replace(BODY, stale=True))
    for id, part in {"doc1": change, "doc2": {"error": None}}.items():
        engine.call("POST", [name, "_update", id], {"doc": {"simdoc": part}}, refresh=True)
    before = versions(engine, name)["doc2"]
    report = backfill_in_engine(engine, name, replace(BODY, stale=True))

    assert 1 == report.updated_count
    assert done()["doc1"] == stored(engine, name)["doc1"]
    assert before == versions(engine, name)["doc2"]


def test_documents_that_others_write_meanwhile_are_not_counted_as_textless(
    temp_indices: TempIndices, engine: Engine
) -> None:
    """`--full` cannot rely on a query for documents with a text."""
    name = filled(temp_indices, engine, {**TEXTS, "none": None, "empty": []}, number_of_shards=2)
    options, numbers = replace(BODY, stale=True, throttle=400.0), iter(range(20))
    backfill_in_engine(engine, name, options)

    def write(_: int, __: int) -> None:
        for number in numbers:
            load(engine, name, bodies({f"new{number}": f"{OTHER} {number}"}))

    report = backfill_in_engine(engine, name, replace(options, full=True), write)

    assert 2 == report.textless_count
    assert report.updated_count <= 20
    assert len(TEXTS) == report.unchanged_count
    backfill_in_engine(engine, name, options)
    assert len(TEXTS) + 20 == engine.count(name, {"exists": {"field": "simdoc.format"}})


def test_a_document_that_changes_meanwhile_is_compared_next_time(temp_indices: TempIndices, engine: Engine) -> None:
    """Its change is kept, and a note counts it."""
    name, stale = filled(temp_indices, engine), replace(BODY, stale=True)
    backfill_in_engine(engine, name, stale)
    texts = {id: f"{OTHER} {id}" for id in TEXTS}
    for id, text in texts.items():
        engine.call("POST", [name, "_update", id], {"doc": {"body": text}})
    changed = [id for id in TEXTS if id > "doc2"]

    def write(written: int, _: int) -> None:
        while written and changed:
            id = changed.pop()
            texts[id] = f"{id} {OTHER}"
            engine.call("POST", [name, "_update", id], {"doc": {"body": texts[id]}})

    report = backfill_in_engine(engine, name, replace(stale, throttle=100.0), write)
    left_count = len(TEXTS) - report.updated_count
    backfill_in_engine(engine, name, stale)

    assert 0 < left_count
    advice = "the next run with --stale compares them"
    assert [f"{name}: other programs changed {left_count} documents during the update; {advice}"] == report.notes
    assert done(texts) == stored(engine, name)


def test_the_default_pipeline_of_an_index_does_not_run(temp_indices: TempIndices, engine: Engine) -> None:
    """Neither when fingerprints are added nor when they are removed. Only the fingerprint field changes."""
    name = filled(temp_indices, engine)
    body = {"processors": [{"set": {"field": "number", "value": -1}}]}
    engine.call("PUT", ["_ingest", "pipeline", name], body)
    engine.call("PUT", [name, "_settings"], {"index.default_pipeline": name})
    install_pipeline(engine)
    use_pipeline(engine, name)
    backfill_in_engine(engine, name, BODY)
    filled_sources = stored(engine, name)
    output("template", "remove", engine.name, "--index", name)
    removed_sources = stored(engine, name)
    engine.call("PUT", [name, "_settings"], {"index.default_pipeline": None})
    engine.call("DELETE", ["_ingest", "pipeline", name])

    assert (done(), bodies()) == (filled_sources, removed_sources)


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
