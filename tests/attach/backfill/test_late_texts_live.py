"""Texts that come later, and texts that go: where there is no text there is no fingerprint, in real engines."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template, format_label
from simdoc_search.stores.remote.texts import text_query
from tests.support.backfill import OTHER, TEXTS, backfill, load, one_engine, stored
from tests.support.http_server import Indices

WORDS = TEXTS["doc0"]

OLD_MARK = {
    **dict.fromkeys(["tokens", "passages", "words_hash"]),
    "shingles": 0,
    "buckets": 0,
    "text_hash": text_hash(""),
    "format": format_label(Settings()),
}
"""What older versions gave a document without a text."""

MAPPINGS: dict[str, Any] = {
    "text": {"body": {"type": "text"}},
    "without norms": {"body": {"type": "text", "norms": False}},
    "not indexed": {"body": {"type": "text", "index": False}},
    "keyword": {"body": {"type": "keyword", "ignore_above": 20}},
    "disabled": {"page": {"type": "object", "enabled": False}},
    "nested": {"page": {"type": "nested", "properties": {"body": {"type": "text"}}}},
    "object": {"page": {"properties": {"body": {"type": "text"}}}},
    "not mapped": {"title": {"type": "text"}},
}
TOLD = {"text", "without norms", "object"}
"""Mappings of which a query tells which documents have a text."""

kinds = pytest.mark.parametrize("kind", MAPPINGS)


def make(made: Indices, kind: str, shards: int = 1) -> tuple[str, str]:
    """An empty index with such a mapping, and its field of text."""
    properties = {**MAPPINGS[kind], "n": {"type": "integer"}}
    name = made.make({"dynamic": False, "properties": properties}, {"number_of_shards": shards})
    return name, "page.body" if "page" in properties else "body"


def holding(path: str, text: Any) -> dict[str, Any]:
    """A document with this text."""
    return {"page": {"body": text}} if "." in path else {"body": text}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine; Elasticsearch 7.10 has no points in time, or has them, as it is built."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@kinds
def test_a_text_that_comes_later_gets_its_fingerprint(made: Indices, engine: Engine, kind: str) -> None:
    """By a plain run, after one that found no text. Documents without a text are read once, and get no field."""
    name, path = make(made, kind, shards=2)
    empty: dict[str, Any] = {"null": holding(path, None), "list": holding(path, []), "absent": {"n": 1}}
    load(engine, name, {**empty, "text": holding(path, WORDS), **{f"more{n}": {"n": n} for n in range(20)}})
    first, second = backfill(engine, name, path), backfill(engine, name, path)
    bare = stored(engine, name)
    for id in empty:
        engine.call("POST", [name, "_update", id], {"doc": holding(path, OTHER)}, refresh=True)
    third, fourth = backfill(engine, name, path), backfill(engine, name, path)

    assert (1, 0 if kind in TOLD else 23) == (first.updated, first.without_text)
    assert [0, 0] == [second.documents, fourth.documents]
    assert ["text"] == [id for id, source in bare.items() if "simdoc" in source]
    assert (3, 0) == (third.updated, third.without_text)
    assert all(fingerprint_field(OTHER) == stored(engine, name)[id]["simdoc"] for id in empty)


@kinds
def test_marks_of_older_versions_are_looked_at_once(made: Indices, engine: Engine, kind: str) -> None:
    """A document that has a text since gets its fingerprint, one without loses the mark, an empty text keeps it."""
    properties = component_template()["template"]["mappings"]["properties"]
    name = made.make({"dynamic": False, "properties": {**MAPPINGS[kind], **properties}})
    path = "page.body" if "page" in MAPPINGS[kind] else "body"
    documents: dict[str, Any] = {"text": holding(path, WORDS), "none": {}, "empty": holding(path, "")}
    load(engine, name, {id: {**each, "simdoc": OLD_MARK} for id, each in documents.items()})
    report, again = backfill(engine, name, path), backfill(engine, name, path)
    found = {id: each.get("simdoc") for id, each in stored(engine, name).items()}

    assert {"text": fingerprint_field(WORDS), "none": None, "empty": OLD_MARK} == found
    assert (1, 1, 1) == (report.updated, report.removed, report.unchanged)
    assert 0 == again.documents


@kinds
@pytest.mark.parametrize("stale", [False, True])
def test_a_text_that_goes_takes_its_fingerprint_with_it(made: Indices, engine: Engine, kind: str, stale: bool) -> None:
    """By a plain run, where a query tells which documents have a text; by `--stale` in any case."""
    name, path = make(made, kind)
    load(engine, name, {id: holding(path, text) for id, text in {"kept": WORDS, "gone": OTHER}.items()})
    backfill(engine, name, path)
    engine.call("POST", [name, "_update", "gone"], {"doc": holding(path, None)}, refresh=True)
    report = backfill(engine, name, path, stale=stale)
    found = stored(engine, name)

    assert (1 if stale or kind in TOLD else 0) == report.removed
    assert fingerprint_field(WORDS) == found["kept"]["simdoc"]
    assert (found["gone"]["simdoc"] is None) == bool(report.removed)
    assert 0 == backfill(engine, name, path, stale=stale).removed


@one_engine
def test_texts_that_are_older_than_their_mapping_are_found(made: Indices, engine: Engine) -> None:
    """An engine does not find them by `exists`, so some documents are looked at before it is relied on."""
    name = made.make({"dynamic": False, "properties": {"n": {"type": "integer"}}})
    load(engine, name, {id: {"body": text} for id, text in TEXTS.items()})
    engine.call("PUT", [name, "_mapping"], {"properties": {"body": {"type": "text"}}})
    mappings = engine.call("GET", [name])[name]["mappings"]
    exists = {"exists": {"field": "body"}}

    assert text_query(engine, name, mappings, ["body"]) is None
    assert len(TEXTS) == backfill(engine, name).updated
    assert {"bool": {"should": [exists], "minimum_should_match": 1}} == text_query(engine, name, mappings, ["body"])


def test_several_fields_of_which_one_has_a_text(made: Indices, engine: Engine) -> None:
    """It is a text; what comes in another field later is stale."""
    name = made.make({"properties": {"title": {"type": "text"}, "body": {"type": "text"}}})
    load(engine, name, {"title": {"title": OTHER}, "body": {"body": OTHER, "title": None}, "none": {"title": []}})
    fields = ("title", "body")
    report = backfill(engine, name, fields)
    engine.call("POST", [name, "_update", "title"], {"doc": {"body": WORDS}}, refresh=True)
    stale = backfill(engine, name, fields, stale=True)

    assert (2, 0) == (report.updated, report.without_text)
    assert (1, 1) == (stale.updated, stale.unchanged)
    assert "simdoc" not in stored(engine, name)["none"]
