"""An OpenSearch index with derived source, which does not store `_source`, gets fingerprints like any other."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.attach.check import check_index
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import backfill_in_engine, load, stored, to
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.http_server import TempIndices
from tests.support.pipeline import TRICKY, expected
from tests.support.pipeline_installation import install_pipeline, use_pipeline

PROPERTIES: dict[str, Any] = {
    "body": {"type": "text", "fields": {"raw": {"type": "keyword", "ignore_above": 256}}},
    "tags": {"type": "keyword"},
    "day": {"type": "date", "format": "yyyy-MM-dd"},
    "number": {"type": "integer"},
    "price": {"type": "scaled_float", "scaling_factor": 100},
    "done": {"type": "boolean"},
    "address": {"type": "ip"},
    "author": {"properties": {"name": {"type": "text"}}},
}
COMMON = "a long enough sentence that many of these documents have in common with each other, word for word "
TEXTS = {name: text for name, text in TRICKY.items() if name != "surrogates"}
TEXTS |= {f"copy{number}": f"{COMMON * 3} and number {number}" for number in range(6)}


def document(text: Any) -> dict[str, Any]:
    """Return a document with a field of each type. The engine returns most values in a different form."""
    tags = {"tags": ["z", "a", "a"], "day": "2026-01-02", "number": "7", "price": 1.239, "done": "true"}
    return {"body": text, **tags, "address": "127.0.0.1", "author": [{"name": "Ann"}, {"name": "Ben"}]}


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """An OpenSearch engine that supports derived source."""
    version = call(opensearch_url, "GET", "/")["version"]["number"]
    with to(opensearch_url) as opened:
        if tuple(map(int, version.split(".")[:2])) < (3, 3):
            pytest.skip(f"OpenSearch {version} has no derived source")
        yield opened


def make_index(temp_indices: TempIndices, *, ours: bool = False) -> str:
    """Create an index, with or without the fingerprint field."""
    fields = component_template()["template"]["mappings"]["properties"] if ours else {}
    settings = {"index.derived_source.enabled": True, "index.query.default_field": ["body"]}
    return temp_indices.make({"properties": {**PROPERTIES, **fields}}, settings)


def on_disk(engine: Engine, index: str) -> dict[str, Any]:
    """Flush the transaction log and return the documents. Their sources are derived only after a flush."""
    engine.call("POST", [index, "_flush"], force=True)
    return stored(engine, index)


def check_complete(engine: Engine, index: str) -> None:
    """Check that another backfill has nothing to do."""
    on_disk(engine, index)
    again = Backfill(engine, index, BackfillOptions("body")).run()
    stale = Backfill(engine, index, BackfillOptions("body", stale=True)).run()

    assert (0, 0, len(TEXTS)) == (again.document_count, stale.updated_count, stale.unchanged_count)


def test_a_backfill_writes_only_our_field(temp_indices: TempIndices, engine: Engine) -> None:
    """Texts and all other fields are returned as before the backfill."""
    name = make_index(temp_indices)
    others = {"list": ["one two three four five six", "seven eight"], "none": None}
    load(engine, name, {id: document(text) for id, text in (TEXTS | others).items()})
    before = on_disk(engine, name)
    report = Backfill(engine, name, BackfillOptions("body")).run()
    after = on_disk(engine, name)

    assert ([], []) == (report.refused, report.skipped_indices)
    assert TEXTS == {id: before[id]["body"] for id in TEXTS}
    for id, text in (TEXTS | {"list": "\n".join(others["list"] or [])}).items():
        values = {key: value for key, value in expected(text).items() if value is not None}
        assert values == after[id].pop("simdoc"), id
        assert before[id] == after[id]


def test_queries_check_and_status_read_the_fingerprints(temp_indices: TempIndices, engine: Engine) -> None:
    name = make_index(temp_indices)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    Backfill(engine, name, BackfillOptions("body")).run()
    check_complete(engine, name)
    hits = answer("similar", "copy0_50", "--store", f"{temp_indices.engine}/{name}")["hits"]
    staleness = answer("status", f"{temp_indices.engine}/{name}", "--sample", "10")["staleness"]

    assert {f"copy{number}" for number in range(1, 6)} == {hit["id"] for hit in hits}
    assert [] == [finding.message for finding in check_index(engine, name) if finding.is_problem]
    assert 0 == staleness["stale_count"]


def test_the_pipeline_makes_the_same_fingerprints(temp_indices: TempIndices, engine: Engine) -> None:
    """The pipeline reads the text before the source is derived."""
    name = make_index(temp_indices, ours=True)
    install_pipeline(engine, force=True)
    use_pipeline(engine, name)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    on_disk(engine, name)
    call(temp_indices.engine, "POST", f"/{name}/_update/copy1?refresh=true", {"doc": {"number": 8}})

    check_complete(engine, name)


def test_a_backfill_in_the_engine_fills_it(temp_indices: TempIndices, engine: Engine) -> None:
    name = make_index(temp_indices)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    install_pipeline(engine, force=True)

    assert [] == backfill_in_engine(engine, name, BackfillOptions("body")).skipped_indices
    check_complete(engine, name)
