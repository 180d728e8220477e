"""Fingerprints for indices that exist, in real engines: what is written, and what is left as it was."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import BackfillReport
from simdoc_search.attach.check import check_index
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import OTHER, TEXTS, backfill, done, filled, load, one_engine, reasons, stored
from tests.support.cli import answer
from tests.support.http_server import Indices


def test_every_document_gets_the_fingerprint_of_its_text(made: Indices, engine: Engine) -> None:
    """The same that a loader with `fingerprint_actions` writes; nothing else in the documents is another."""
    name = filled(made, engine)
    report = backfill(engine, name)

    assert replace(BackfillReport(updated=len(TEXTS)), seconds=report.seconds) == report
    assert done() == stored(engine, name)
    assert [] == [each for each in check_index(engine, name) if each.wrong or "no fingerprint" in each.problem]


def test_the_mapping_gets_our_field_and_nothing_else(made: Indices, engine: Engine) -> None:
    """The other fields, and what their owner says of them, stay."""
    own = {"dynamic": "strict", "_meta": {"owner": "a team"}, "properties": {"body": {"type": "text"}}}
    name = made.make(own)
    load(engine, name, {"a": {"body": TEXTS["doc0"]}})
    before = engine.call("GET", [name])[name]["mappings"]
    backfill(engine, name)
    after = engine.call("GET", [name])[name]["mappings"]

    ours = component_template()["template"]["mappings"]["properties"]["simdoc"]
    ours["properties"]["text_hash"]["meta"] = {"simdoc_text_1": "body"}
    note = after["properties"]["simdoc"]["properties"]["shingles"].pop("meta")

    assert {"simdoc_filled": note["simdoc_filled"], "simdoc_filled_1": "1"} == note
    assert ours == after["properties"].pop("simdoc")
    assert before == after


def test_the_mapping_notes_the_fields_of_the_text(made: Indices, engine: Engine) -> None:
    """Whoever opens the index reads texts there; a run that makes all anew notes its fields, if they have room."""
    long = "x" * 51
    name = made.make({"properties": {each: {"type": "text"} for each in ("title", "body", long)}})
    load(engine, name, {"a": {"title": "A title", "body": TEXTS["doc0"], long: "long"}})

    runs: dict[str | tuple[str, ...], str | None] = {
        "body": TEXTS["doc0"],
        ("title", "body"): f"A title\n{TEXTS['doc0']}",
        long: None,
    }
    for text_field, expected in runs.items():
        backfill(engine, name, text_field=text_field, stale=True, force=True)
        read = open_store(f"{made.engine}/{name}").get("a", text=True)

        assert read
        assert expected == read.text
        assert "A title" == open_store(f"{made.engine}/{name}", text_field="title").get("a", text=True).text  # type: ignore[union-attr]


def test_fingerprints_are_not_mixed_with_those_of_other_fields(made: Indices, engine: Engine) -> None:
    """A run with other fields than those before it, in another order too, changes nothing and says what to give."""
    name = made.make({"properties": {each: {"type": "text"} for each in ("title", "body")}})
    load(engine, name, {"a": {"title": "A title", "body": TEXTS["doc0"]}})
    backfill(engine, name, text_field=("title", "body"))
    before = engine.call("GET", [name])[name]["mappings"]
    load(engine, name, {"b": {"title": "Another", "body": TEXTS["doc1"]}})
    reports = [backfill(engine, name, text_field=each) for each in ("body", ("body", "title"))]

    assert before == engine.call("GET", [name])[name]["mappings"]
    assert [0, 0] == [each.updated for each in reports]
    for each in reports:
        assert "give --text-field title --text-field body, or --force --stale" in reasons(each)[name]
    assert 1 == backfill(engine, name, text_field=("title", "body")).updated


def test_a_second_run_has_nothing_to_do(made: Indices, engine: Engine) -> None:
    """Only documents without a fingerprint are asked for; new ones are done then."""
    name = filled(made, engine)
    backfill(engine, name)
    again = backfill(engine, name)
    load(engine, name, {"new": {"body": OTHER}})

    assert (0, 0) == (again.updated, again.unchanged)
    assert 1 == backfill(engine, name).updated


@one_engine
@pytest.mark.parametrize("text", [" ... ", "", " \n", [""]])
def test_a_text_without_words_is_read_once(made: Indices, engine: Engine, text: object) -> None:
    """It gets a mark in the place of a fingerprint, so that it is not read for ever; `check` counts it as done."""
    name = filled(made, engine, {"a": text, "b": OTHER})
    report = backfill(engine, name)
    again, stale = backfill(engine, name), backfill(engine, name, stale=True)

    assert (1, 1) == (report.updated, report.without_words)
    assert (0, 0, 0) == (again.documents, stale.without_words, backfill(engine, name, stale=True).documents)
    assert {"tokens": None, "buckets": 0, "shingles": 0}.items() <= stored(engine, name)["a"]["simdoc"].items()
    assert [] == [each for each in check_index(engine, name) if "no fingerprint" in each.problem]


@one_engine
@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("content.body", {"content": {"body": OTHER}}),
        ("content.body", {"content.body": OTHER}),
        ("pages", {"pages": OTHER.split(" that ")}),
        ("pages.text", {"pages": [{"text": each} for each in OTHER.split(" that ")]}),
    ],
    ids=["object", "dotted", "list", "objects"],
)
def test_the_text_may_be_deep_and_in_parts(made: Indices, engine: Engine, path: str, source: Any) -> None:
    """Dots lead into objects, a list is one text; the document stays as it was written."""
    name = made.make({})
    load(engine, name, {"a": source})
    backfill(engine, name, path)
    found = stored(engine, name)["a"]
    text = "\n".join(OTHER.split(" that ")) if "pages" in source else OTHER

    assert fingerprint_field(text) == found.pop("simdoc")
    assert source == found


def test_a_document_whose_text_is_none_is_listed(made: Indices, engine: Engine) -> None:
    """The others are done."""
    name = made.make({"dynamic": False})
    load(engine, name, {"a": {"body": 7}, "b": {"body": OTHER}})
    report = backfill(engine, name)

    assert (1, [("a", name)]) == (report.updated, [(each.id, each.index) for each in report.refused])
    assert "holds int, not text" in report.refused[0].reason


def test_a_document_that_the_engine_takes_no_more_is_listed(made: Indices, engine: Engine) -> None:
    """An update indexes the whole document anew, by the mapping of today; it is refused once, not in every round."""
    name = made.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {"a": {"body": OTHER, "unknown": 1}, "b": {"body": OTHER}})
    engine.call("PUT", [name, "_mapping"], {"dynamic": "strict"})
    report = backfill(engine, name)

    assert (1, ["a"]) == (report.updated, [each.id for each in report.refused])
    assert "strict" in report.refused[0].reason
    assert {"body": OTHER, "unknown": 1} == stored(engine, name)["a"]


def test_a_query_chooses(made: Indices, engine: Engine) -> None:
    """In Lucene's syntax, or as JSON."""
    name = filled(made, engine)
    some = answer("backfill", f"{made.engine}/{name}", "--text-field", "body", "--query", "number:[0 TO 9]")
    more = answer(
        "backfill", f"{made.engine}/{name}", "--text-field", "body", "--query", '{"range": {"number": {"lt": 15}}}'
    )

    assert (10, 5) == (some["updated"], more["updated"])
    assert 15 == sum("simdoc" in each for each in stored(engine, name).values())


def test_documents_keep_their_routing(made: Indices, engine: Engine) -> None:
    """An update without it would look for the document on another shard."""
    name = made.make({"_routing": {"required": True}}, {"number_of_shards": 3})
    for number in range(6):
        load(engine, name, {f"{number}": {"body": OTHER}}, routing=f"r{number}")

    assert 6 == backfill(engine, name).updated
    assert 6 == sum("simdoc" in each for each in stored(engine, name).values())


def test_the_found_documents_are_what_a_query_finds(made: Indices, engine: Engine) -> None:
    """The whole way: an application's index, backfilled, asked by our search."""
    name = filled(made, engine, {"a": TEXTS["doc0"], "copy": TEXTS["doc0"], "other": OTHER, "empty": ""})
    backfill(engine, name)
    with closing(open_store(f"{made.engine}/{name}")) as store:
        search = SimilaritySearch(store)

        assert ["copy"] == [hit.id for hit in search.similar("a_80_90").hits]
