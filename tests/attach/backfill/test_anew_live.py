"""Fingerprints that are made anew, in real engines: of changed texts, malformed ones, and those of other settings."""

from __future__ import annotations

import itertools
import json
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import Analysis, SimilaritySearch, open_store
from simdoc_search.attach.actions import fingerprint_actions, fingerprint_field
from simdoc_search.attach.backfill import Backfill, Task, rounds, run
from simdoc_search.attach.check import check_index
from simdoc_search.errors import StoreError
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
from tests.support.http_server import Answer, Indices, Request, forward, serving


@pytest.mark.parametrize("renewed_after", [7, 50_000])
def test_a_changed_text_is_found_by_its_hash(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch, renewed_after: int
) -> None:
    """`stale` reads all documents; one whose text became another gets another fingerprint, or loses it."""
    monkeypatch.setattr(run, "RENEWED_AFTER", renewed_after)
    monkeypatch.setattr(rounds, "FIRST_PAGE", 5)
    name = filled(made, engine, number_of_shards=3)
    backfill(engine, name)
    texts = dict(TEXTS)
    for id, text in (("doc7", OTHER), ("doc8", "")):
        engine.call("POST", [name, "_update", id], {"doc": {"body": text}}, refresh=True)
        texts[id] = text
    report = backfill(engine, name, stale=True)
    found = stored(engine, name)

    assert (1, 1, len(TEXTS) - 2) == (report.updated, report.without_words, report.unchanged)
    assert {**done(texts), "doc8": found["doc8"]} == found
    assert (None, 0) == (found["doc8"]["simdoc"]["tokens"], found["doc8"]["simdoc"]["buckets"])


GOOD = fingerprint_field(OTHER) or {}


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
def test_a_malformed_fingerprint_is_mended(made: Indices, engine: Engine, form: dict[str, Any]) -> None:
    """Whatever form it has, `--stale` writes it anew, and then nothing is left to mend; other parts stay."""
    name = made.make(component_template()["template"]["mappings"])
    load(engine, name, {"a": {"body": OTHER, **form, "mine": 1}, "b": {"body": OTHER, "simdoc": GOOD}})
    report = backfill(engine, name, stale=True)
    again = backfill(engine, name, stale=True, full=True)
    found = stored(engine, name)["a"]
    total = engine.call("POST", [name, "_count"], {"query": {"match": {"simdoc.tokens": "some"}}})["count"]

    assert (1, 1, 0, 2) == (report.updated, report.unchanged, again.updated, again.unchanged)
    assert GOOD == {key: value for key, value in found.pop("simdoc").items() if key in GOOD}
    assert {"body": OTHER, "mine": 1} == {key: value for key, value in found.items() if value is not None}
    assert 0 == total
    assert [] == [each for each in check_index(engine, name) if "malformed" in each.problem]


def test_a_fingerprint_that_is_not_indexed_is_indexed(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A loader with `fingerprint_actions` ran before the mapping was there: each is written once more, and it ends."""
    monkeypatch.setattr(run, "RENEWED_AFTER", 50)
    name = made.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, done())
    report = backfill(engine, name)
    with closing(open_store(f"{made.engine}/{name}")) as store:
        (hit, *_) = SimilaritySearch(store).similar_to_text(TEXTS["doc0"], overlap=0.9).hits

    assert (len(TEXTS), 0) == (report.updated, backfill(engine, name).updated)
    assert ("doc0", done()) == (hit.id, stored(engine, name))


def test_rounds_end_where_documents_are_found_again_and_again(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An engine that writes, and does not index what is written, is not asked for ever."""
    monkeypatch.setattr(run, "RENEWED_AFTER", 50)
    monkeypatch.setattr(rounds, "PAGE_DOCUMENTS", 20)
    name, passing = filled(made, engine), forward(made.engine)

    def forgetful(request: Request) -> Answer | None:
        if request.path == "/_bulk":  # what is written has no format, so that it is found again
            label = json.dumps({"format": GOOD["format"]})[1:-1].replace(": ", ":").encode()
            body = request.body.replace(label, b'"format":null')
            assert body != request.body
            return passing(replace(request, body=body))
        return passing(request)

    with serving(forgetful) as server, to(server.url) as through:
        report = backfill(through, name)

    assert len(TEXTS) > 100
    assert 0 < report.updated <= 3 * len(TEXTS)


@pytest.mark.parametrize("mappings", [{"dynamic": False, "properties": {"body": {"type": "text"}}}, {"enabled": False}])
def test_what_an_application_keeps_unmapped_is_not_overwritten(made: Indices, engine: Engine, mappings: object) -> None:
    """`_source` has it where no mapping does: the index is not touched."""
    name = made.make(mappings)
    documents = {id: {"body": text, "notes": {"author": id}} for id, text in TEXTS.items()}
    load(engine, name, documents)
    before = engine.call("GET", [name])
    report = backfill(engine, name, field="notes")

    assert "have something else in notes; choose another name with --field" in reasons(report)[name]
    assert (before, documents) == (engine.call("GET", [name]), stored(engine, name))


def test_a_single_note_of_an_application_is_not_overwritten(made: Indices, engine: Engine) -> None:
    """One that no sample shows: that document is refused, and the others are done."""
    name = made.make({"dynamic": False, "properties": {"body": {"type": "text"}}})
    load(engine, name, {**bodies(), "noted": {"body": OTHER}})

    def note(number: int) -> None:
        if number == 0:
            engine.call("POST", [name, "_update", "noted"], {"doc": {"notes": {"text": "mine"}}})

    with interposed(made, note) as (through, _):
        report = backfill(through, name, field="notes")

    assert (len(TEXTS), ["noted"]) == (report.updated, [each.id for each in report.refused])
    assert {"body": OTHER, "notes": {"text": "mine"}} == stored(engine, name)["noted"]


def test_several_fields_are_one_text(made: Indices, engine: Engine) -> None:
    """In the order in which they are named, a line each; the same that `fingerprint_actions` writes."""
    name = made.make({"properties": {"title": {"type": "text"}, "body": {"type": "text"}}})
    sources = {"a": {"title": "A title", "body": OTHER}, "b": {"body": OTHER}, "c": {"title": "A title"}}
    load(engine, name, sources)
    done = answer("backfill", f"{made.engine}/{name}", "--text-field", "title", "--text-field", "body")
    actions = [{"_id": id, **source} for id, source in sources.items()]
    wanted = {each.pop("_id"): each for each in fingerprint_actions(actions, ["title", "body"])}

    assert 3 == done["updated"]
    assert wanted == stored(engine, name)
    assert fingerprint_field(f"A title\n{OTHER}") == wanted["a"]["simdoc"]
    assert fingerprint_field(OTHER) == wanted["b"]["simdoc"]
    assert 3 == backfill(engine, name, ["title", "body"], stale=True).unchanged  # type: ignore[arg-type]


def test_fingerprints_of_other_settings_are_made_anew(made: Indices, engine: Engine) -> None:
    """What the mapping's `meta` says counts, for documents without fingerprint too."""
    settings = Settings(Analysis("lowercase", 3), token_length=5)
    name = made.make(component_template(settings)["template"]["mappings"])
    load(engine, name, {"a": {"body": OTHER, "simdoc": fingerprint_field(OTHER)}, "b": {"body": OTHER}})

    assert 1 == backfill(engine, name).updated
    assert 1 == backfill(engine, name, stale=True).updated
    assert [fingerprint_field(OTHER, settings)] * 2 == [each["simdoc"] for each in stored(engine, name).values()]


def test_watching_finds_what_is_new_and_what_changes(
    made: Indices, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A new document without the field, a changed one with a greater value; a change that does not say so stays."""
    name = made.make({"properties": {"body": {"type": "text"}, "changed": {"type": "date"}}})
    load(engine, name, {id: {"body": TEXTS[id], "changed": "2024-01-01T00:00:00Z"} for id in ("doc0", "doc1", "doc2")})
    load(engine, name, {"to come": {"body": TEXTS["doc3"], "changed": "2100-01-01T00:00:00Z"}})
    looks = itertools.count()

    def meanwhile(_: float) -> None:
        look = next(looks)
        if look == 0:
            load(engine, name, {"new": {"body": OTHER}})
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"body": "", "changed": "2024-01-02"}}, refresh=True)
            engine.call("POST", [name, "_update", "doc2"], {"doc": {"body": "silent"}}, refresh=True)
            monkeypatch.setattr(run, "LAG", 0.0)
        elif look == 1:
            engine.call("POST", [name, "_update", "doc1"], {"doc": {"body": OTHER, "changed": "2025"}}, refresh=True)
        elif look == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr("simdoc_search.attach.backfill.run.time.sleep", meanwhile)
    watching = Backfill(engine, name, Task("body"))
    with pytest.raises(KeyboardInterrupt):
        watching.watch("changed")
    found = stored(engine, name)

    assert fingerprint_field(OTHER) == found["new"]["simdoc"] == found["doc1"]["simdoc"]
    assert fingerprint_field(TEXTS["doc2"]) == found["doc2"]["simdoc"]
    assert (6, 1) == (watching.report.updated, watching.report.without_words)


@one_engine
@pytest.mark.parametrize(("field", "said"), [("chnaged", "no document has the field chnaged"), ("body", "body")])
def test_watching_needs_a_field_that_grows(made: Indices, engine: Engine, field: str, said: str) -> None:
    """A misspelt one would never show a change."""
    name = filled(made, engine)

    with pytest.raises(StoreError, match=said):
        Backfill(engine, name, Task("body")).watch(field)
