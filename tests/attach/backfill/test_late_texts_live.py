"""Later texts get a fingerprint, and the fingerprints of removed texts are removed."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_field
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.texts import find_text_query
from tests.support.backfill import OTHER, TEXTS, backfill, load, one_engine, stored
from tests.support.engines import each_engine
from tests.support.http_server import TempIndices

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
SEARCHABLE = {"text", "object"}
"""Mappings with which a query can tell which documents have a text."""


def document(path: str, text: Any) -> dict[str, Any]:
    """A document with this text at a path."""
    return {"page": {"body": text}} if "." in path else {"body": text}


engine_url = each_engine("opensearch", "elasticsearch_7")


@pytest.mark.parametrize("kind", MAPPINGS)
def test_a_plain_run_finds_later_and_removed_texts(temp_indices: TempIndices, engine: Engine, kind: str) -> None:
    """If no query can tell which documents have a text, each run reads those without one, and does not write them.

    In this case only `--stale` finds removed texts.
    """
    mappings = {"dynamic": False, "properties": {**MAPPINGS[kind], "n": {"type": "integer"}}}
    name = temp_indices.make(mappings, {"number_of_shards": 2})
    path = "page.body" if "page" in MAPPINGS[kind] else "body"
    empty: dict[str, Any] = {"null": document(path, None), "list": document(path, []), "absent": {"n": 1}}
    load(engine, name, {**empty, "text": document(path, WORDS), **{f"more{n}": {"n": n} for n in range(9)}})
    first, second = backfill(engine, name, path), backfill(engine, name, path)
    bare = stored(engine, name)
    for id, text in (dict.fromkeys(empty, OTHER) | {"text": None}).items():
        engine.call("POST", [name, "_update", id], {"doc": document(path, text)}, refresh=True)
    third, fourth = backfill(engine, name, path), backfill(engine, name, path)
    stale = backfill(engine, name, path, stale=True)

    assert (1, 0 if kind in SEARCHABLE else 12) == (first.updated_count, first.textless_count)
    assert [0, 0] == [second.write_count, fourth.write_count]
    assert (second.document_count == 0) == (kind in SEARCHABLE)
    assert ["text"] == [id for id, source in bare.items() if "simdoc" in source]
    assert (3, int(kind in SEARCHABLE)) == (third.updated_count, third.removed_count)
    assert 1 == third.removed_count + stale.removed_count
    found = stored(engine, name)
    assert [fingerprint_field(OTHER)] * 3 == [found[id]["simdoc"] for id in empty]
    assert document(path, None) == found["text"]


@one_engine
def test_texts_older_than_their_mapping_are_found(temp_indices: TempIndices, engine: Engine) -> None:
    """An `exists` query does not find these texts, so a sample is read before the query is used."""
    name = temp_indices.make({"dynamic": False, "properties": {"n": {"type": "integer"}}})
    load(engine, name, {id: {"body": text} for id, text in TEXTS.items()})
    engine.call("PUT", [name, "_mapping"], {"properties": {"body": {"type": "text"}}})
    mappings = engine.call("GET", [name])[name]["mappings"]
    exists = {"exists": {"field": "body"}}

    assert find_text_query(engine, name, mappings, ["body"]) is None
    assert len(TEXTS) == backfill(engine, name).updated_count
    assert exists == find_text_query(engine, name, mappings, ["body"])
