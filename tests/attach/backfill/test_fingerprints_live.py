"""A backfill adds fingerprints to an existing index, and changes nothing else."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import Analysis, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import BackfillReport
from simdoc_search.attach.check import check_index
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import OTHER, TEXTS, backfill, done, filled, load, one_engine, reasons, stored
from tests.support.cli import answer, run
from tests.support.http_server import TempIndices


def test_every_document_gets_the_fingerprint_of_its_text(temp_indices: TempIndices, engine: Engine) -> None:
    """A loader with `fingerprint_actions` makes the same ones. A second run reads only new documents."""
    name = filled(temp_indices, engine)
    report, again = backfill(engine, name), backfill(engine, name)

    assert replace(BackfillReport(updated_count=len(TEXTS)), seconds=report.seconds) == report
    assert (0, len(TEXTS)) == (again.document_count, again.unread_count)
    assert done() == stored(engine, name)
    assert [] == [
        finding for finding in check_index(engine, name) if finding.is_problem or "no fingerprint" in finding.message
    ]
    load(engine, name, {"new": {"body": TEXTS["doc0"]}})
    assert 1 == backfill(engine, name).updated_count
    with closing(open_store(f"{temp_indices.engine}/{name}")) as store:
        assert ["doc0"] == [hit.id for hit in SimilaritySearch(store).similar("new_80_90").hits]


def test_the_mapping_gets_our_field_and_nothing_else(temp_indices: TempIndices, engine: Engine) -> None:
    own = {"dynamic": "strict", "_meta": {"owner": "a team"}, "properties": {"body": {"type": "text"}}}
    name = temp_indices.make(own)
    load(engine, name, {"a": {"body": TEXTS["doc0"]}})
    before = engine.call("GET", [name])[name]["mappings"]
    backfill(engine, name)
    after = engine.call("GET", [name])[name]["mappings"]

    ours = component_template()["template"]["mappings"]["properties"]["simdoc"]
    ours["properties"]["text_hash"]["meta"] = {"simdoc_text_1": "body"}
    assert ours == after["properties"].pop("simdoc")
    assert before == after


def test_the_mapping_records_the_text_fields(temp_indices: TempIndices, engine: Engine) -> None:
    """A store reads the texts from these fields. Names that are too long for the mapping are not recorded."""
    long = "x" * 51
    name = temp_indices.make({"properties": {field: {"type": "text"} for field in ("title", "body", long)}})
    load(engine, name, {"a": {"title": "A title", "body": TEXTS["doc0"], long: "long"}})
    expected: dict[Any, str | None] = {
        "body": TEXTS["doc0"],
        ("title", "body"): f"A title\n{TEXTS['doc0']}",
        long: None,
    }
    for text_field, text in expected.items():
        backfill(engine, name, text_field=text_field, stale=True, force=True)
        record = open_store(f"{temp_indices.engine}/{name}").get("a", load={"text"})

        assert record is not None
        assert text == record.text


@one_engine
@pytest.mark.parametrize("text", [" ... ", "", [""]])
def test_a_text_without_words_gets_a_mark(temp_indices: TempIndices, engine: Engine, text: object) -> None:
    """The mark prevents reading the text again."""
    name = filled(temp_indices, engine, {"a": text, "b": OTHER})
    report = backfill(engine, name)
    again, stale, second_stale = (backfill(engine, name, stale=stale) for stale in (False, True, True))

    assert (1, 1) == (report.updated_count, report.wordless_count)
    assert (0, 0, 0) == (again.document_count, stale.wordless_count, second_stale.document_count)
    assert {"tokens": None, "buckets": 0, "shingles": 0}.items() <= stored(engine, name)["a"]["simdoc"].items()


def test_documents_that_cannot_be_written_are_listed_once(temp_indices: TempIndices, engine: Engine) -> None:
    """One has a value that is not a text, and the mapping no longer accepts the other. The rest is filled."""
    name = temp_indices.make({"dynamic": False, "properties": {"text": {"type": "text"}}})
    load(engine, name, {"a": {"body": 7}, "b": {"body": OTHER}, "c": {"body": OTHER, "unknown": 1}})
    engine.call("PUT", [name, "_mapping"], {"dynamic": "strict", "properties": {"body": {"type": "text"}}})
    report = backfill(engine, name)
    refused = {document.id: document.reason for document in report.refused}

    assert (1, {"a", "c"}) == (report.updated_count, set(refused))
    assert "contains a number, not text" in refused["a"]
    assert "strict" in refused["c"]
    assert {"body": OTHER, "unknown": 1} == stored(engine, name)["c"]


def test_documents_keep_their_routing(temp_indices: TempIndices, engine: Engine) -> None:
    """Without its routing, an update would look for the document in another shard."""
    name = temp_indices.make({"_routing": {"required": True}}, {"number_of_shards": 3})
    for number in range(6):
        load(engine, name, {f"{number}": {"body": OTHER}}, routing=f"r{number}")

    assert 6 == backfill(engine, name).updated_count
    assert 6 == sum("simdoc" in source for source in stored(engine, name).values())


def test_a_second_field_gets_other_settings(temp_indices: TempIndices, engine: Engine) -> None:
    """The first field is kept, and a field with fingerprints keeps its settings."""
    name = filled(temp_indices, engine, {"a": OTHER, "copy": OTHER})
    url, four = f"{temp_indices.engine}/{name}", Settings(Analysis(shingle_size=4))
    backfill(engine, name)
    refused = run("backfill", url, "--shingle-size", 4)
    report = answer("backfill", url, "--field", "simdoc_2", "--shingle-size", 4, "--text-field", "body")
    again = answer("backfill", url, "--field", "simdoc_2")
    document = stored(engine, name)["a"]

    assert 1 == refused.exit_code
    differences = "'nfkc_cf word 5 short_texts', not 'nfkc_cf word 4 short_texts'"
    assert f"the field simdoc has the settings {differences}; choose" in refused.stderr
    assert (2, 0) == (report["updated_count"], again["updated_count"] + again["unchanged_count"])
    assert (fingerprint_field(OTHER), fingerprint_field(OTHER, four)) == (document["simdoc"], document["simdoc_2"])
    assert ["copy"] == [hit["id"] for hit in answer("similar", "a", "--store", url, "--field", "simdoc_2")["hits"]]
    for command in (["similar", "a", "--store", url], ["backfill", url], ["check", url], ["status", url]):
        assert "has the fingerprint fields simdoc, simdoc_2; choose one with --field" in run(*command).stderr


def test_the_text_fields_of_existing_fingerprints_are_the_default(temp_indices: TempIndices, engine: Engine) -> None:
    """Other fields, or another order, are refused. Without fingerprints the text field must be named."""
    name = temp_indices.make({"properties": {field: {"type": "text"} for field in ("title", "body")}})
    load(engine, name, {"a": {"title": "A title", "body": TEXTS["doc0"]}})
    url = f"{engine.name}/{name}"
    assert (
        f"the mapping of {url} does not record which field contains the text; add --text-field"
        in run("backfill", url).stderr
    )
    backfill(engine, name, text_field=("title", "body"))
    load(engine, name, {"b": {"title": "Another", "body": TEXTS["doc1"]}})
    reports = [backfill(engine, name, text_field=fields) for fields in ("body", ("body", "title"))]

    assert [0, 0] == [report.updated_count for report in reports]
    assert all("give --text-field title --text-field body, or --force" in reasons(report)[name] for report in reports)
    assert 1 == answer("backfill", url)["updated_count"]
