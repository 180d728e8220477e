"""Texts that come later get a fingerprint, and texts that are removed lose it."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.texts import text_query
from tests.support.backfill import OTHER, TEXTS, backfill, load, one_engine, stored
from tests.support.http_server import Indices

WORDS = TEXTS["doc0"]

MAPPINGS: dict[str, Any] = {
    "text": {"body": {"type": "text"}},
    "object": {"page": {"properties": {"body": {"type": "text"}}}},
    "not indexed": {"body": {"type": "text", "index": False}},
    "keyword": {"body": {"type": "keyword", "ignore_above": 20}},
    "disabled": {"page": {"type": "object", "enabled": False}},
    "nested": {"page": {"type": "nested", "properties": {"body": {"type": "text"}}}},
    "not mapped": {"title": {"type": "text"}},
}
TOLD = {"text", "object"}
"""Mappings with which a query can tell which documents have a text."""


def holding(path: str, text: Any) -> dict[str, Any]:
    """A document with this text."""
    return {"page": {"body": text}} if "." in path else {"body": text}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Engines with and without points in time."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.mark.parametrize("kind", MAPPINGS)
def test_a_plain_run_finds_later_and_removed_texts(made: Indices, engine: Engine, kind: str) -> None:
    """If no query can tell which documents have a text, those without are read each time, and not written.

    Then only `--stale` finds a removed text.
    """
    mappings = {"dynamic": False, "properties": {**MAPPINGS[kind], "n": {"type": "integer"}}}
    name = made.make(mappings, {"number_of_shards": 2})
    path = "page.body" if "page" in MAPPINGS[kind] else "body"
    empty: dict[str, Any] = {"null": holding(path, None), "list": holding(path, []), "absent": {"n": 1}}
    load(engine, name, {**empty, "text": holding(path, WORDS), **{f"more{n}": {"n": n} for n in range(9)}})
    first, second = backfill(engine, name, path), backfill(engine, name, path)
    bare = stored(engine, name)
    for id, text in (dict.fromkeys(empty, OTHER) | {"text": None}).items():
        engine.call("POST", [name, "_update", id], {"doc": holding(path, text)}, refresh=True)
    third, fourth = backfill(engine, name, path), backfill(engine, name, path)
    stale = backfill(engine, name, path, stale=True)

    assert (1, 0 if kind in TOLD else 12) == (first.updated, first.without_text)
    assert [0, 0] == [second.writes, fourth.writes]
    assert (second.documents == 0) == (kind in TOLD)
    assert ["text"] == [id for id, source in bare.items() if "simdoc" in source]
    assert (3, int(kind in TOLD)) == (third.updated, third.removed)
    assert 1 == third.removed + stale.removed
    found = stored(engine, name)
    assert [fingerprint_field(OTHER)] * 3 == [found[id]["simdoc"] for id in empty]
    assert found["text"]["simdoc"] is None


@one_engine
def test_texts_older_than_their_mapping_are_found(made: Indices, engine: Engine) -> None:
    """An `exists` query does not find them, so some documents are read before it is used."""
    name = made.make({"dynamic": False, "properties": {"n": {"type": "integer"}}})
    load(engine, name, {id: {"body": text} for id, text in TEXTS.items()})
    engine.call("PUT", [name, "_mapping"], {"properties": {"body": {"type": "text"}}})
    mappings = engine.call("GET", [name])[name]["mappings"]
    exists = {"bool": {"should": [{"exists": {"field": "body"}}], "minimum_should_match": 1}}

    assert text_query(engine, name, mappings, ["body"]) is None
    assert len(TEXTS) == backfill(engine, name).updated
    assert exists == text_query(engine, name, mappings, ["body"])
