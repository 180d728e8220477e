"""`--stale` replaces fingerprints that do not match the text or the settings, or are malformed."""

from __future__ import annotations

import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import Analysis, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.attach.backfill import pages, run
from simdoc_search.attach.check import check_index
from simdoc_search.sketch.minhash import MinHash
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
from tests.support.cli import answer
from tests.support.cli import run as run_command
from tests.support.http_server import Answer, Request, TempIndices, forward, serving


@pytest.mark.parametrize("documents_at_once", [40, 50_000])
def test_a_changed_text_is_found_by_its_hash(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch, documents_at_once: int
) -> None:
    """It gets a new fingerprint, or a mark if it no longer has words."""
    monkeypatch.setattr(run, "POINT_IN_TIME_DOCUMENTS", documents_at_once)
    name = filled(temp_indices, engine, number_of_shards=3)
    backfill(engine, name)
    texts = dict(TEXTS)
    for id, text in (("doc7", OTHER), ("doc8", "")):
        engine.call("POST", [name, "_update", id], {"doc": {"body": text}}, refresh=True)
        texts[id] = text
    report = backfill(engine, name, stale=True)
    found = stored(engine, name)

    assert (1, 1, len(TEXTS) - 2) == (report.updated_count, report.wordless_count, report.unchanged_count)
    assert {**done(texts), "doc8": found["doc8"]} == found
    assert (None, 0) == (found["doc8"]["simdoc"]["tokens"], found["doc8"]["simdoc"]["buckets"])


@one_engine
def test_a_changed_text_loses_its_marks(temp_indices: TempIndices, engine: Engine) -> None:
    """A document whose text is the same keeps them."""
    name = filled(temp_indices, engine)
    backfill(engine, name)
    marks = {"duplicate_of": "doc1", "cluster": "doc1"}
    for id, text in (("doc7", OTHER), ("doc8", TEXTS["doc8"])):
        engine.call("POST", [name, "_update", id], {"doc": {"body": text, "simdoc": marks}}, refresh=True)
    backfill(engine, name, stale=True)
    found = stored(engine, name)

    assert [(None, None), ("doc1", "doc1")] == [
        tuple(found[id]["simdoc"][mark] for mark in marks) for id in ("doc7", "doc8")
    ]


@one_engine
def test_a_query_by_a_document_whose_text_has_changed_says_so(temp_indices: TempIndices, engine: Engine) -> None:
    name = filled(temp_indices, engine)
    backfill(engine, name)
    url = f"{engine.name}/{name}"
    query = ("similar", "doc7", "--store", url)
    note = f"note: the query document changed after indexing; run `simdoc-search backfill {url} --stale`"
    results = []
    for text in (TEXTS["doc7"], OTHER):
        engine.call("POST", [name, "_update", "doc7"], {"doc": {"body": text}}, refresh=True)
        results.append((note in run_command(*query).stderr, answer(*query)["changed"]))

    assert [(False, False), (True, True)] == results
    assert answer(*query, "--measure", "containment")["changed"]


GOOD = fingerprint_field(OTHER)


@one_engine
@pytest.mark.parametrize(
    "form",
    [
        {"simdoc": {**GOOD, "tokens": str(GOOD["tokens"]).split()}},
        {"simdoc": {**GOOD, "tokens": f"{GOOD['tokens']} {GOOD['tokens']}"}},
        {"simdoc": {**GOOD, "tokens": "some words"}},
        {"simdoc": {**GOOD, "shingles": None}},
        {"simdoc": [GOOD]},
        {f"simdoc.{name}": value for name, value in GOOD.items()},
        {"simdoc": {"format": GOOD["format"]}, "simdoc.tokens": "some words"},
    ],
    ids=["list", "repeated", "foreign", "null", "array", "dots", "both"],
)
def test_a_malformed_fingerprint_is_replaced(temp_indices: TempIndices, engine: Engine, form: dict[str, Any]) -> None:
    """The other fields of the document are kept."""
    name = temp_indices.make(component_template()["template"]["mappings"])
    load(engine, name, {"a": {"body": OTHER, **form, "mine": 1}, "b": {"body": OTHER, "simdoc": GOOD}})
    report = backfill(engine, name, stale=True)
    again = backfill(engine, name, stale=True, full=True)
    found = stored(engine, name)["a"]

    assert (1, 1, 0, 2) == (report.updated_count, report.unchanged_count, again.updated_count, again.unchanged_count)
    assert GOOD == {key: value for key, value in found.pop("simdoc").items() if key in GOOD}
    assert {"body": OTHER, "mine": 1} == {key: value for key, value in found.items() if value is not None}
    assert 0 == engine.count(name, {"match": {"simdoc.tokens": "some"}})
    assert [] == [finding for finding in check_index(engine, name) if "malformed" in finding.message]


@one_engine
def test_fingerprints_with_other_settings_are_replaced(temp_indices: TempIndices, engine: Engine) -> None:
    """The right settings are those of the mapping. Without `--stale` these fingerprints are not replaced."""
    settings = Settings(Analysis("lowercase", 3), MinHash(bucket_count=256))
    name = temp_indices.make(component_template(settings)["template"]["mappings"])
    load(engine, name, {"a": {"body": OTHER, "simdoc": fingerprint_field(OTHER)}, "b": {"body": OTHER}})

    assert [1, 1] == [backfill(engine, name, stale=stale).updated_count for stale in (False, True)]
    assert [fingerprint_field(OTHER, settings)] * 2 == [source["simdoc"] for source in stored(engine, name).values()]


def test_a_fingerprint_that_is_not_indexed_is_written_again(temp_indices: TempIndices, engine: Engine) -> None:
    """Here a loader with `fingerprint_actions` ran before the mapping existed."""
    name = temp_indices.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, done())
    report = backfill(engine, name)
    with closing(open_store(f"{temp_indices.engine}/{name}")) as store:
        (hit, *_) = SimilaritySearch(store).similar(text=TEXTS["doc0"], overlap=0.9).hits

    assert (len(TEXTS), 0) == (report.updated_count, backfill(engine, name).updated_count)
    assert ("doc0", done()) == (hit.id, stored(engine, name))


@one_engine
def test_a_run_ends_if_it_finds_the_same_documents_again(
    temp_indices: TempIndices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine may accept writes and not index them."""
    monkeypatch.setattr(pages, "MAX_PAGE_DOCUMENTS", 20)
    name, passing = filled(temp_indices, engine), forward(temp_indices.engine)

    def forgetful(request: Request) -> Answer | None:
        if request.path == "/_bulk":
            label = json.dumps({"format": GOOD["format"]})[1:-1].replace(": ", ":").encode()
            body = request.body.replace(label, b'"format":null')
            assert body != request.body
            return passing(replace(request, body=body))
        return passing(request)

    with serving(forgetful) as server, to(server.url) as through:
        report = backfill(through, name)

    assert 0 < report.updated_count <= 2 * len(TEXTS)


@one_engine
@pytest.mark.parametrize("mappings", [{"dynamic": False, "properties": {"body": {"type": "text"}}}, {"enabled": False}])
def test_an_index_with_other_values_in_our_field_is_not_touched(
    temp_indices: TempIndices, engine: Engine, mappings: object
) -> None:
    """The mapping does not show these values, but `_source` does."""
    name = temp_indices.make(mappings)
    documents = {id: {"body": text, "notes": {"author": id}} for id, text in TEXTS.items()}
    load(engine, name, documents)
    before = engine.call("GET", [name])
    report = backfill(engine, name, field="notes")

    assert (
        "in some documents, the field notes contains values that are not fingerprints; choose another field with "
        "--field" in reasons(report)[name]
    )
    assert (before, documents) == (engine.call("GET", [name]), stored(engine, name))


@one_engine
def test_a_single_document_with_another_value_is_refused(temp_indices: TempIndices, engine: Engine) -> None:
    """The sample does not contain it. All other documents are filled."""
    name = temp_indices.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {**bodies(), "noted": {"body": OTHER}})

    def note(number: int) -> None:
        if number == 0:
            engine.call("POST", [name, "_update", "noted"], {"doc": {"notes": {"text": "mine"}}})

    with interposed(temp_indices, note) as (through, _):
        report = backfill(through, name, field="notes")

    assert (len(TEXTS), ["noted"]) == (report.updated_count, [document.id for document in report.refused])
    assert {"body": OTHER, "notes": {"text": "mine"}} == stored(engine, name)["noted"]
