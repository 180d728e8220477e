"""A backfill that the engine does itself: the fingerprints are ours, and nothing is missed while others write."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from simdoc_search import Settings
from simdoc_search.attach.backfill import Backfill, BackfillReport, Task, engine_side
from simdoc_search.attach.backfill.engine_side import backfill_in_engine
from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.errors import StoreError
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import OTHER, TEXTS, bodies, done, filled, load, stored
from tests.support.cli import answer, output, run
from tests.support.engines import PREFIX
from tests.support.http_server import Indices
from tests.support.installing import use_pipeline

BODY = Task("body")


@pytest.fixture(scope="module")
def engine_url(opensearch_url: str) -> str:
    """Of the engine that has pipelines."""
    return opensearch_url


@pytest.fixture(autouse=True)
def _no_pipeline(engine: Engine) -> Iterator[None]:
    """No test finds the pipeline of another one."""
    yield
    engine.call("PUT", [f"{PREFIX}-*", "_settings"], {"index.final_pipeline": "_none"}, allow=(404,))
    engine.call("DELETE", ["_ingest", "pipeline", "simdoc"], allow=(404,))


def test_every_document_gets_the_fingerprint_of_its_text(made: Indices, engine: Engine) -> None:
    """The same that the client writes; another run finds nothing to do, and says how far it is meanwhile."""
    name, seen = filled(made, engine), list[tuple[int, int]]()
    report = backfill_in_engine(engine, name, BODY, lambda written, total: seen.append((written, total)))

    assert replace(BackfillReport(updated=len(TEXTS)), seconds=report.seconds) == report
    assert done() == stored(engine, name)
    assert {len(TEXTS)} >= {total for _, total in seen}
    assert 0 == backfill_in_engine(engine, name, BODY).updated
    again = Backfill(engine, name, Task("body", stale=True)).run()
    assert (0, len(TEXTS)) == (again.updated, again.unchanged)


def test_what_others_write_meanwhile_counts(made: Indices, engine: Engine) -> None:
    """A changed text, a new document and a deletion, while documents go through the pipeline slowly."""
    name = made.make({"properties": {"body": {"type": "text"}}}, {"number_of_shards": 2})
    load(engine, name, bodies(TEXTS))
    install_pipeline(engine)
    use_pipeline(engine, name)
    some = list(TEXTS)[:30]

    def write() -> None:
        for id in some:
            engine.call("POST", [name, "_update", id], {"doc": {"body": f"{OTHER} {id}"}}, retry_on_conflict=5)
        load(engine, name, bodies({"new": OTHER}))
        engine.call("DELETE", [name, "_doc", list(TEXTS)[-1]])

    writer = threading.Thread(target=write)
    writer.start()
    backfill_in_engine(engine, name, replace(BODY, throttle=200.0))
    writer.join()
    assert 0 == backfill_in_engine(engine, name, BODY).updated
    report = Backfill(engine, name, Task("body", stale=True)).run()
    assert (0, len(TEXTS)) == (report.updated, report.unchanged)


def test_a_document_that_cannot_be_done_is_named(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason that the pipeline gives; the others are done, and a run again is no endless one."""
    name = made.make({"properties": {"body": {"type": "text"}}})
    load(engine, name, bodies({"good": OTHER, "long": "word " * 250_000, "none": ""}))
    for _ in range(2):
        report = backfill_in_engine(engine, name, BODY)
        assert [("long", name)] == [(each.id, each.index) for each in report.refused]
        assert "characters, and the pipeline takes" in report.refused[0].reason
    assert 1 == run("backfill", f"{engine.name}/{name}", "--text-field", "body", "--in-engine").exit_code
    monkeypatch.setattr(engine_side, "_LISTED", 0)
    assert [] == backfill_in_engine(engine, name, BODY).refused


def test_documents_without_a_field_of_text_are_looked_at_once(made: Indices, engine: Engine) -> None:
    """Where the index tells that they have none they are not even read; else they are counted as what they are."""
    for kind, version in ({"type": "text"}, 1), ({"type": "text", "index": False}, 2):
        name = made.make({"properties": {"body": kind}})
        load(engine, name, bodies(TEXTS))
        engine.call("PUT", [name, "_doc", "bare"], {"number": 1}, refresh=True)
        report = backfill_in_engine(engine, name, BODY)

        assert (len(TEXTS), version - 1) == (report.updated, report.without_text)
        assert 0 == backfill_in_engine(engine, name, BODY).documents
        assert version == engine.call("GET", [name, "_doc", "bare"])["_version"]


def test_all_of_it_anew(made: Indices, engine: Engine) -> None:
    """With stale each document goes through the pipeline, as the engine compares no texts."""
    name = filled(made, engine)
    backfill_in_engine(engine, name, BODY)
    engine.call("POST", [name, "_update", "doc0"], {"doc": {"body": OTHER}}, refresh=True)

    assert 0 == backfill_in_engine(engine, name, BODY).updated
    assert len(TEXTS) == backfill_in_engine(engine, name, replace(BODY, stale=True)).updated
    assert {**done(), "doc0": done({"doc0": OTHER})["doc0"]} == stored(engine, name)


def test_another_pipeline_is_left_alone(made: Indices, engine: Engine) -> None:
    """One of other fields, or what the engine cannot make: a sentence each."""
    name = filled(made, engine)
    install_pipeline(engine, "title")
    with pytest.raises(StoreError, match="pipeline simdoc"):
        backfill_in_engine(engine, name, BODY)
    with pytest.raises(StoreError, match="cannot make fingerprints with sentences; use simdoc-search backfill"):
        backfill_in_engine(
            engine, name, replace(BODY, change=lambda settings: replace(settings, sentences=Sentences()))
        )
    assert Settings().sentences is None


def test_one_command_does_it(made: Indices, engine: Engine) -> None:
    """And queries find what it made."""
    name = filled(made, engine)
    url = f"{engine.name}/{name}"

    assert f"{len(TEXTS)} updated" in output("backfill", url, "--text-field", "body", "--in-engine")
    (hit,) = answer("similar", "--text", TEXTS["doc3"], "--store", url, "--overlap", "90")["hits"]
    assert ("doc3", 1.0) == (hit["id"], hit["overlap"])
    assert (
        "is done once"
        in run("backfill", url, "--text-field", "body", "--in-engine", "--watch", "--changed-field", "number").stderr
    )
