"""A backfill fills or refuses indices, and a dry run estimates the cost."""

from __future__ import annotations

import json
from typing import Any

import pytest

from simdoc_search import Analysis
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import BackfillOptions, cost_estimate, estimate_cost
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
from tests.support.http_server import TempIndices

# --- which indices ---


@one_engine
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ({"enabled": False}, "_source is disabled"),
        ({"excludes": ["secret"]}, "excludes fields, so an update would lose their values"),
        ({"includes": ["body"]}, "excludes simdoc.tokens"),
    ],
)
def test_an_index_with_an_incomplete_source_is_not_touched(
    temp_indices: TempIndices, engine: Engine, source: dict[str, Any], reason: str
) -> None:
    """Its mapping does not change either."""
    name = temp_indices.make({"_source": source, "properties": {"body": {"type": "text"}}})
    load(engine, name, {"a": {"body": OTHER}})
    before = engine.call("GET", [name])

    assert reason in reasons(backfill(engine, name))[name]
    assert reason in reasons(estimate_cost(engine, name, BackfillOptions("body")))[name]
    assert before == engine.call("GET", [name])


@pytest.mark.parametrize("block", ["read_only_allow_delete", "read", "closed"])
def test_a_blocked_index_is_skipped_and_the_others_are_filled(
    temp_indices: TempIndices, engine: Engine, block: str
) -> None:
    blocked, kept = filled(temp_indices, engine), filled(temp_indices, engine)
    alias = temp_indices.alias(blocked, kept)
    if block == "closed":
        engine.call("POST", [blocked, "_close"])
    else:
        engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": True})
    try:
        result = run("backfill", f"{temp_indices.engine}/{alias}", "--text-field", "body", "--json")
    finally:
        if block != "closed":
            engine.call("PUT", [blocked, "_settings"], {f"index.blocks.{block}": None})
    report = json.loads(result.stdout)

    assert (1, len(TEXTS)) == (result.exit_code, report["updated_count"])
    assert [blocked] == [skipped["index"] for skipped in report["skipped_indices"]]
    assert ("closed" if block == "closed" else f"index.blocks.{block}") in report["skipped_indices"][0]["reason"]
    assert done() == stored(engine, kept)


@pytest.mark.usefixtures("one_by_one")
def test_an_index_that_is_blocked_during_the_run_is_skipped(temp_indices: TempIndices, engine: Engine) -> None:
    """Its documents are not listed one by one."""
    names = [filled(temp_indices, engine), filled(temp_indices, engine)]
    first = min(names)

    def block(number: int) -> None:
        if number == 0:
            engine.call("PUT", [first, "_settings"], {"index.blocks.write": True})

    with interposed(temp_indices, block) as (through, _):
        report = backfill(through, temp_indices.alias(*names))

    assert (len(TEXTS), []) == (report.updated_count, report.refused)
    assert "index.blocks.write" in reasons(report)[first]


def test_a_data_stream_is_written_in_its_backing_indices(opensearch_url: str) -> None:
    stream = own_name()
    with to(opensearch_url) as engine:
        template = {"index_patterns": [stream], "data_stream": {}, "priority": 900}
        call(opensearch_url, "PUT", f"/_index_template/{stream}", template)
        try:
            for text in (TEXTS["doc0"], OTHER):
                engine.call("POST", [stream, "_doc"], {"@timestamp": "2024-01-01", "body": text}, refresh=True)
                engine.call("POST", [stream, "_rollover"])
            report = backfill(engine, stream)
            hits = engine.call("POST", [stream, "_search"])["hits"]["hits"]
        finally:
            call(opensearch_url, "DELETE", f"/_data_stream/{stream}")
            call(opensearch_url, "DELETE", f"/_index_template/{stream}")

    assert (2, []) == (report.updated_count, report.skipped_indices)
    assert 2 == len({hit["_index"] for hit in hits})
    assert all(hit["_source"]["simdoc"] == fingerprint_field(hit["_source"]["body"]) for hit in hits)


def test_only_documents_that_the_alias_shows_are_written(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    alias = temp_indices.alias(name, filter={"range": {"number": {"lt": 9}}})

    assert [9, len(TEXTS) - 9] == [backfill(engine, index).updated_count for index in (alias, name)]


def ours(**changes: Any) -> dict[str, Any]:
    """The mapping of the fingerprint field, with changes."""
    mappings: dict[str, Any] = component_template()["template"]["mappings"]
    mappings["properties"]["simdoc"]["properties"] |= changes
    return mappings


@one_engine
@pytest.mark.parametrize(
    ("mappings", "settings", "reason"),
    [
        (
            {"properties": {"simdoc": {"type": "keyword"}}},
            {},
            "the field simdoc has the type keyword; choose another field name with --field",
        ),
        (ours(tokens={"type": "text"}), {}, "simdoc.tokens has analyzer None, not 'whitespace'"),
        (ours(format={"type": "keyword", "index": False}), {}, "simdoc.format has index False, not None"),
        (ours(facts={"type": "keyword"}), {}, "the command `simdoc-search index` created this index"),
        ({}, {"index.mapping.total_fields.limit": 3}, "the index can have only 3 more fields (limit 3); increase"),
        ({"properties": {"body": {"type": "integer"}}}, {}, "body has the type integer; choose a text field"),
        ({"properties": {"body": {"properties": {"en": {"type": "text"}}}}}, {}, "choose a text field in it: body.en"),
        ({"properties": {"body": {"type": "alias", "path": "b"}, "b": {"type": "text"}}}, {}, "use b"),
    ],
)
def test_an_index_that_cannot_be_filled_is_skipped_with_the_reason(
    temp_indices: TempIndices, engine: Engine, mappings: object, settings: object, reason: str
) -> None:
    name = temp_indices.make(mappings, settings)
    before = engine.call("GET", [name])

    assert reason in reasons(backfill(engine, name))[name]
    assert before == engine.call("GET", [name])


@one_engine
@pytest.mark.parametrize(
    ("field", "reason"),
    [("bdoy", "choose a text field with --text-field (body, title)"), ("title.raw", "use title")],
)
def test_a_misspelt_text_field_is_refused(temp_indices: TempIndices, engine: Engine, field: str, reason: str) -> None:
    """Otherwise all documents would be marked as empty."""
    title = {"type": "text", "fields": {"raw": {"type": "keyword"}}}
    name = temp_indices.make({"properties": {"body": {"type": "text"}, "title": title}})
    load(engine, name, bodies())

    assert reason in reasons(backfill(engine, name, field))[name]
    assert bodies() == stored(engine, name)


@one_engine
def test_a_missing_index_is_an_error(temp_indices: TempIndices) -> None:
    assert "no such index" in sentence(run("backfill", f"{temp_indices.engine}/{own_name()}", "--text-field", "body"))


# --- other text fields than those of existing fingerprints ---


@one_engine
def test_other_text_fields_need_force(temp_indices: TempIndices, engine: Engine) -> None:
    """This applies to an index with fingerprints, and to other indices behind the same alias."""
    mapping = {"properties": {"body": {"type": "text"}, "heading": {"type": "text"}}}
    first, second = sorted(temp_indices.make(mapping) for _ in range(2))
    for name in (first, second):
        load(engine, name, {"a": {"body": "the words of a whole text", "heading": "one heading for all of them"}})
    backfill(engine, first)
    alias = temp_indices.alias(first, second)
    other = temp_indices.make({"properties": {"description": {"type": "text"}}})
    engine.call("POST", ["_aliases"], {"actions": [{"add": {"index": other, "alias": alias}}]})
    advice = "give --text-field body, or --force to use heading"
    own = f"the fingerprints of the index were computed from body, not heading; {advice}"
    beside = own.replace("the index", "the other indices behind the alias")

    def command(name: str, *options: str, text_field: str = "heading") -> Any:
        return run("backfill", f"{temp_indices.engine}/{name}", "--text-field", text_field, *options)

    for options in ([], ["--dry-run"]):
        assert [own, beside] == [command(name, *options).stderr.split(": ", 2)[2].strip() for name in (first, second)]
    notes = [command(second, "--force"), command(first, "--force"), command(first, "--force", "--stale")]
    assert [
        f"note: {second}: fingerprints are computed from heading, but in the other indices from body\n",
        f"note: {first}: new fingerprints are computed from heading, but existing ones were "
        "computed from body; add --stale to replace the existing ones\n",
        "",
    ] == [result.stderr for result in notes]
    assert fingerprint_field("one heading for all of them") == stored(engine, first)["a"]["simdoc"]
    assert "" == command(other, text_field="description").stderr  # it lacks the fields of the others


def test_the_text_fields_of_the_other_indices_are_the_default(temp_indices: TempIndices, engine: Engine) -> None:
    """Their settings are the default too, if the alias is named."""
    settings = Settings(Analysis("lowercase"))
    first, second, third = (filled(temp_indices, engine, {"a": OTHER}) for _ in range(3))
    temp_indices.alias(first, second)
    alias = temp_indices.alias(first, third)
    backfill(engine, first, change_settings=lambda _: settings)

    assert 1 == answer("backfill", f"{temp_indices.engine}/{second}")["updated_count"]
    assert 1 == answer("backfill", f"{temp_indices.engine}/{alias}")["updated_count"]
    assert fingerprint_field(OTHER) == stored(engine, second)["a"]["simdoc"]
    assert fingerprint_field(OTHER, settings) == stored(engine, third)["a"]["simdoc"]


# --- dry run ---


def test_a_dry_run_writes_nothing_and_is_about_right(temp_indices: TempIndices, engine: Engine) -> None:
    """The bytes after a merge are right within a third. A throttle increases the time."""
    name = filled(temp_indices, engine, number_of_replicas=0)
    before = engine.call("GET", [name])
    found = answer("backfill", f"{temp_indices.engine}/{name}", "--text-field", "body", "--dry-run")

    assert before == engine.call("GET", [name])
    assert bodies() == stored(engine, name)
    assert (len(TEXTS), len(TEXTS), len(TEXTS)) == (
        found["document_count"],
        found["write_count"],
        found["sampled_count"],
    )
    assert 25 < found["tokens_per_document"] < 30
    assert 250 < found["bytes_added"] / len(TEXTS) < 400
    assert found["bytes_added"] < found["max_bytes_added"]
    assert 0 < found["seconds"] < 60
    shown = output(
        "backfill", f"{temp_indices.engine}/{name}", "--text-field", "body", "--dry-run", "--throttle", "0.1/s"
    )
    assert ["documents", "disk", "time"] == [line.split()[0] for line in shown.splitlines()[:3]]
    assert f"about {len(TEXTS) / 0.1 / 60:.0f} min" in shown
    assert shown.endswith("nothing was written\n")


@one_engine
def test_replicas_that_are_not_allocated_need_no_space(temp_indices: TempIndices, engine: Engine) -> None:
    """The engine has one node, so no replica can be allocated."""
    names = [filled(temp_indices, engine, number_of_replicas=replicas) for replicas in (0, 2)]
    alone, replicated = (estimate_cost(engine, name, BackfillOptions("body")).bytes_added for name in names)

    assert 0 < alone == replicated


@one_engine
def test_a_dry_run_with_nothing_to_do_names_no_cost(temp_indices: TempIndices, engine: Engine) -> None:
    name = temp_indices.make({"properties": {"body": {"type": "text"}}})

    assert "documents  0 to read, of which 0 would be written\nnothing was written\n" == output(
        "backfill", f"{engine.name}/{name}", "--text-field", "body", "--dry-run"
    )


@one_engine
def test_indices_that_are_skipped_for_one_reason_share_a_line(temp_indices: TempIndices) -> None:
    names = sorted(temp_indices.make({"properties": {"body": {"type": "text"}}}) for _ in range(2))
    for name in names:
        temp_indices.put(name, "a", {"body": "some words"})
    command = ["backfill", f"{temp_indices.engine}/{temp_indices.alias(*names)}", "--text-field", "text"]
    shown, dry_run = run(*command), run(*command, "--dry-run")

    for result in (shown, dry_run):
        reasons = [line.split(" the ")[0] for line in result.stderr.splitlines()]
        assert [f"skipped: {', '.join(names)}: neither"] == reasons
    assert "nothing was written\n" == dry_run.stdout


@one_engine
def test_a_keyword_field_may_not_contain_the_text(temp_indices: TempIndices) -> None:
    """A nested field, too. The commands that read the field for the first time note it."""
    labels = {"type": "nested", "properties": {"value": {"type": "keyword"}}}
    name = temp_indices.make({"properties": {"labels": labels}})
    temp_indices.put(name, "a", {"labels": [{"value": "some words"}, {"value": "and others"}]})
    url, text_field = f"{temp_indices.engine}/{name}", ["--text-field", "labels.value"]
    install = run("template", "install", temp_indices.engine, "--pipeline", *text_field, "--index", name, "--dry-run")
    results = [run("backfill", url, *text_field, *options) for options in (["--dry-run"], [], [])]

    note = f"note: {name}: labels.value is a keyword field; check that it contains the text of a document\n"
    assert [note, note, note, ""] == [result.stderr for result in (install, *results)]


@one_engine
def test_a_dry_run_of_stale_documents_gives_an_upper_bound(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Missing fingerprints are counted, and stale ones estimated from a sample. A full sample is exact."""
    name = filled(temp_indices, engine)
    backfill(engine, name)
    exact = estimate_cost(engine, name, BackfillOptions("body", stale=True))
    monkeypatch.setattr(cost_estimate, "SAMPLE_SIZE", 40)
    load(engine, name, {"new": {"body": OTHER}})
    engine.call("POST", [name, "_update", "doc7"], {"doc": {"body": OTHER}}, refresh=True)
    found = estimate_cost(engine, name, BackfillOptions("body", stale=True))
    shown = output("backfill", f"{temp_indices.engine}/{name}", "--text-field", "body", "--stale", "--dry-run")
    updated = backfill(engine, name, stale=True).updated_count

    assert (len(TEXTS), 0, 0, 0) == (exact.document_count, exact.write_count, exact.max_write_count, exact.bytes_added)
    assert 1 <= found.write_count <= updated + 8
    assert 2 == updated <= found.max_write_count
    assert " (at most " in shown.splitlines()[0]
