"""Which indices get fingerprints, what is refused, and what a dry run says."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simdoc_search import Analysis
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import Task, cost_estimate, estimate
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import (
    OTHER,
    TEXTS,
    backfill,
    bodies,
    done,
    filled,
    interposed,
    load,
    one_engine,
    reasons,
    stored,
    to,
)
from tests.support.cli import answer, output, run, sentence
from tests.support.engines import call, own_name
from tests.support.http_server import Indices

# --- which indices ---


def test_a_partial_update_destroys_what_source_leaves_out(made: Indices, engine: Engine) -> None:
    """Why such an index is refused: after an update of another field nobody finds the document by it."""
    name = made.make({"_source": {"excludes": ["secret"]}, "properties": {"secret": {"type": "keyword"}}})
    load(engine, name, {"a": {"secret": "s", "body": OTHER}})
    asked = {"query": {"term": {"secret": "s"}}}
    before = engine.call("POST", [name, "_count"], asked)["count"]
    report = backfill(engine, name)
    kept = engine.call("POST", [name, "_count"], asked)["count"]
    engine.call("POST", [name, "_update", "a"], {"doc": {"simdoc": fingerprint_field(OTHER)}}, refresh=True)
    after = engine.call("POST", [name, "_count"], asked)["count"]

    assert "which a partial update would destroy" in reasons(report)[name]
    assert (1, 1, 0) == (before, kept, after)


@one_engine
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ({"enabled": False}, "_source is disabled"),
        ({"excludes": ["secret"]}, "leaves out fields"),
        ({"includes": ["body"]}, "leaves out simdoc.tokens"),
    ],
)
def test_an_index_without_all_of_its_source_is_not_touched(
    made: Indices, engine: Engine, source: dict[str, Any], said: str
) -> None:
    """Not even the mapping is added."""
    name = made.make({"_source": source, "properties": {"body": {"type": "text"}}})
    load(engine, name, {"a": {"body": OTHER}})
    before = engine.call("GET", [name])

    assert said in reasons(backfill(engine, name))[name]
    assert said in reasons(estimate(engine, name, Task("body")))[name]
    assert before == engine.call("GET", [name])


@pytest.mark.parametrize("block", ["read_only", "read_only_allow_delete", "write", "read", "metadata", "closed"])
def test_a_blocked_index_is_named_and_the_others_are_done(made: Indices, engine: Engine, block: str) -> None:
    """Behind one alias; exit code 1 says that not all is done."""
    blocked, kept = filled(made, engine), filled(made, engine)
    alias = made.alias(blocked, kept)
    if block == "closed":
        engine.call("POST", [blocked, "_close"])
    else:
        engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": True})
    try:
        result = run("backfill", f"{made.engine}/{alias}", "--text-field", "body", "--json")
    finally:
        if block != "closed":
            engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": None})
    report = json.loads(result.stdout)

    assert (1, len(TEXTS)) == (result.exit_code, report["updated"])
    assert [blocked] == [each["index"] for each in report["skipped_indices"]]
    assert ("closed" if block == "closed" else f"index.blocks.{block}") in report["skipped_indices"][0]["reason"]
    assert done() == stored(engine, kept)


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_is_blocked_meanwhile_costs_itself_alone(made: Indices, engine: Engine) -> None:
    """Not each of its documents is listed."""
    names = [filled(made, engine), filled(made, engine)]
    first = min(names)

    def block(number: int) -> None:
        if number == 0:
            engine.call("PUT", [first, "_settings"], {"index.blocks.write": True})

    with interposed(made, block) as (through, _):
        report = backfill(through, made.alias(*names))

    assert (len(TEXTS), []) == (report.updated, report.refused)
    assert "index.blocks.write" in reasons(report)[first]


def test_a_data_stream_is_written_where_its_documents_are(opensearch_url: str) -> None:
    """In its backing indices, which an application never names; those that are hidden too."""
    stream = own_name()
    with to(opensearch_url) as engine:
        template = {"index_patterns": [stream], "data_stream": {}, "priority": 900}
        call(opensearch_url, "PUT", f"/_index_template/{stream}", template)
        try:
            for text in (TEXTS["doc0"], OTHER):
                document = {"@timestamp": "2024-01-01", "body": text}
                engine.call("POST", [stream, "_doc"], document, refresh=True)
                engine.call("POST", [stream, "_rollover"])
            report = backfill(engine, stream)
            hits = engine.call("POST", [stream, "_search"])["hits"]["hits"]
        finally:
            call(opensearch_url, "DELETE", f"/_data_stream/{stream}")
            call(opensearch_url, "DELETE", f"/_index_template/{stream}")

    assert (2, []) == (report.updated, report.skipped_indices)
    assert 2 == len({hit["_index"] for hit in hits})
    assert [True, True] == [hit["_source"]["simdoc"] == fingerprint_field(hit["_source"]["body"]) for hit in hits]


def test_an_alias_with_a_filter_is_kept_to(made: Indices, engine: Engine) -> None:
    """What it does not show is not written; by the index's own name all is."""
    name = filled(made, engine)
    alias = made.alias(name, filter={"range": {"number": {"lt": 9}}})

    assert 9 == backfill(engine, alias).updated
    assert len(TEXTS) - 9 == backfill(engine, name).updated


def test_indices_behind_an_alias_get_the_same_settings(made: Indices, engine: Engine) -> None:
    """Those that one of them has; else no query could ask them together."""
    settings = Settings(Analysis("lowercase"))
    with_field = made.make(component_template(settings)["template"]["mappings"])
    without = filled(made, engine, {"a": OTHER})
    backfill(engine, made.alias(with_field, without))

    assert fingerprint_field(OTHER, settings) == stored(engine, without)["a"]["simdoc"]


def ours(**changes: Any) -> dict[str, Any]:
    """Our mapping, with changes to our fields."""
    mappings: dict[str, Any] = component_template()["template"]["mappings"]
    for name, change in changes.items():
        mappings["properties"]["simdoc"]["properties"][name] = change
    return mappings


@one_engine
@pytest.mark.parametrize(
    ("mappings", "settings", "said"),
    [
        ({"properties": {"simdoc": {"type": "keyword"}}}, {}, "the field simdoc is keyword; choose another name"),
        ({"properties": {"simdoc": {"type": "object", "enabled": False}}}, {}, "the field simdoc is a disabled object"),
        (ours(tokens={"type": "text"}), {}, "simdoc.tokens has analyzer None, not 'whitespace'"),
        (ours(format={"type": "text"}), {}, "simdoc.format has type 'text', not 'keyword'"),
        (ours(format={"type": "keyword", "index": False}), {}, "simdoc.format has index False, not None"),
        (ours(facts={"type": "keyword"}), {}, "made by simdoc-search index"),
        ({}, {"index.mapping.total_fields.limit": 3}, "3 of 3 fields are left; raise"),
        ({"properties": {"body": {"type": "integer"}}}, {}, "body is integer, not text"),
        ({"properties": {"body": {"properties": {"en": {"type": "text"}}}}}, {}, "name a field of text in it: body.en"),
        ({"properties": {"body": {"type": "alias", "path": "b"}, "b": {"type": "text"}}}, {}, "name b"),
    ],
)
def test_an_index_that_cannot_take_it_says_why_in_one_sentence(
    made: Indices, engine: Engine, mappings: object, settings: object, said: str
) -> None:
    """And is not changed."""
    name = made.make(mappings, settings)
    before = engine.call("GET", [name])
    report = backfill(engine, name)

    assert said in reasons(report)[name]
    assert before == engine.call("GET", [name])


@one_engine
@pytest.mark.parametrize(("field", "said"), [("bdoy", "it has body"), ("title.raw", "name title")])
def test_a_misspelt_field_marks_nothing_as_empty(made: Indices, engine: Engine, field: str, said: str) -> None:
    """A field that neither the mapping nor a document has, or that `_source` never has."""
    title = {"type": "text", "fields": {"raw": {"type": "keyword"}}}
    name = made.make({"properties": {"body": {"type": "text"}, "title": title}})
    load(engine, name, bodies())
    report = backfill(engine, name, field)

    assert said in reasons(report)[name]
    assert bodies() == stored(engine, name)


@one_engine
def test_no_index_is_an_error(made: Indices) -> None:
    """One sentence, exit code 1."""
    assert "no such index" in sentence(run("backfill", f"{made.engine}/{own_name()}", "--text-field", "body"))


def test_a_query_that_the_engine_does_not_take_is_an_error(made: Indices, engine: Engine) -> None:
    """Nothing is written."""
    name = filled(made, engine)
    said = sentence(run("backfill", f"{made.engine}/{name}", "--text-field", "body", "--query", '{"nothing": {}}'))

    assert " answers 400: " in said
    assert bodies() == stored(engine, name)


# --- dry run ---


def test_a_dry_run_writes_nothing_and_is_about_right(made: Indices, engine: Engine) -> None:
    """Not even the mapping; the bytes are those that the fingerprints take after a merge, within a third."""
    name = filled(made, engine, number_of_replicas=0)
    before = engine.call("GET", [name])
    found = answer("backfill", f"{made.engine}/{name}", "--text-field", "body", "--dry-run")
    size = found["bytes_added"] / len(TEXTS)

    assert before == engine.call("GET", [name])
    assert bodies() == stored(engine, name)
    assert (len(TEXTS), len(TEXTS), len(TEXTS)) == (found["documents"], found["writes"], found["sampled"])
    assert 25 < found["tokens_per_document"] < 30
    assert 250 < size < 400
    assert found["bytes_added"] < found["bytes_meanwhile"]
    assert 0 < found["seconds"] < 60


@one_engine
def test_a_dry_run_tells_people_what_they_need(made: Indices, engine: Engine) -> None:
    """Documents, bytes, time by the throttle, disks."""
    name = filled(made, engine)
    shown = output("backfill", f"{made.engine}/{name}", "--text-field", "body", "--dry-run", "--throttle", "0.1/s")
    lines = [line.split()[0] for line in shown.splitlines()]

    assert ["documents", "bytes", "time"] == lines[:3]
    assert "nothing was written" == shown.splitlines()[-1]
    assert f"about {len(TEXTS) / 0.1 / 60:.0f} min" in shown


@one_engine
def test_the_sample_of_a_dry_run_is_random(made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the documents that the engine has first, which may be quite other ones."""
    monkeypatch.setattr(cost_estimate, "SAMPLE", 60)
    texts = dict(list(TEXTS.items())[:80]) | {f"long{number}": f"{OTHER} {number} " * 30 for number in range(80)}
    long = {id: " ".join(f"w{id}{n}" for n in range(300)) for id in texts if id.startswith("long")}
    name = filled(made, engine, {**texts, **long})
    mean = (80 * 27 + 80 * 230) / 160

    assert 0.6 * mean < estimate(engine, name, Task("body")).tokens_per_document < 1.4 * mean


@one_engine
def test_a_dry_run_of_stale_ones_says_how_many_it_may_have_missed(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no fingerprint of these settings is counted; of changed texts a sample tells no more than a bound."""
    monkeypatch.setattr(cost_estimate, "SAMPLE", 40)
    name = filled(made, engine)
    backfill(engine, name)
    load(engine, name, {"new": {"body": OTHER}})
    engine.call("POST", [name, "_update", "doc7"], {"doc": {"body": OTHER}}, refresh=True)
    found = estimate(engine, name, Task("body", stale=True))
    shown = output("backfill", f"{made.engine}/{name}", "--text-field", "body", "--stale", "--dry-run")
    mended = backfill(engine, name, stale=True).updated

    assert 1 <= found.writes <= mended + 8
    assert 2 == mended <= found.writes_at_most
    assert " would be written, at most " in shown.splitlines()[0]


@one_engine
def test_a_dry_run_of_stale_ones_counts_what_would_be_mended(made: Indices, engine: Engine) -> None:
    """It reads as many as it would, and writes as many as are not right."""
    name = filled(made, engine)
    backfill(engine, name)
    found = estimate(engine, name, Task("body", stale=True))

    assert (len(TEXTS), 0, 0, 0) == (found.documents, found.writes, found.writes_at_most, found.bytes_added)


def test_the_fields_of_the_text_are_named_once(made: Indices, engine: Engine) -> None:
    """The mapping notes them for each run that comes; without such a note a run says what to name."""
    name = filled(made, engine, {"a": OTHER})
    url = f"{engine.name}/{name}"

    assert f"nothing says which field of {url} has the text; name it with --text-field" == sentence(
        run("backfill", url)
    )

    output("backfill", url, "--text-field", "body")
    load(engine, name, bodies({"b": OTHER}))

    assert 1 == answer("backfill", url)["updated"]
    assert "simdoc" in stored(engine, name)["b"]
