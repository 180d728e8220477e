"""An index of OpenSearch that keeps no `_source` and derives it from the fields has fingerprints as any other has."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.backfill.engine_side import backfill_in_engine
from simdoc_search.attach.check import check_index
from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template
from tests.support.backfill import load, stored, to
from tests.support.cli import answer
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.installing import use_pipeline
from tests.support.pipeline import TRICKY, expected

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

TEXTS = {name: each for name, each in TRICKY.items() if name != "surrogates"} | {
    f"copy {number}": f"{COMMON * 3} and number {number}" for number in range(6)
}


def document(text: Any) -> dict[str, Any]:
    """One with a field of each type, most of them not as the engine gives them back."""
    tags = {"tags": ["z", "a", "a"], "day": "2026-01-02", "number": "7", "price": 1.239, "done": "true"}
    return {"body": text, **tags, "address": "127.0.0.1", "author": [{"name": "Ann"}, {"name": "Ben"}]}


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """OpenSearch, of a version that derives sources."""
    version = call(opensearch_url, "GET", "/")["version"]["number"]
    with to(opensearch_url) as opened:
        if tuple(map(int, version.split(".")[:2])) < (3, 3):
            pytest.skip(f"OpenSearch {version} derives no source")
        yield opened


@pytest.fixture
def made(opensearch_url: str, engine: Engine) -> Iterator[Indices]:
    """Indices of a test's own."""
    with indices(opensearch_url) as them:
        yield them


def derived(made: Indices, *, ours: bool = False, **properties: Any) -> str:
    """An index of an application, with our field or without."""
    fields = component_template()["template"]["mappings"]["properties"] if ours else {}
    mappings = {"properties": {**PROPERTIES, **fields, **properties}}
    return made.make(mappings, {"index.derived_source.enabled": True, "index.query.default_field": ["body"]})


def on_disk(engine: Engine, index: str) -> dict[str, Any]:
    """What it has when nothing of it is only in the log."""
    engine.call("POST", [index, "_flush"], force=True)
    return stored(engine, index)


def test_an_index_takes_our_mapping_from_the_start(made: Indices) -> None:
    """OpenSearch refuses an index with a field that it cannot derive, as ours once had one."""
    assert derived(made, ours=True)


def test_a_backfill_writes_our_field_and_nothing_else(made: Indices, engine: Engine) -> None:
    """The texts come back letter for letter; all else as the engine gave it before."""
    name = derived(made)
    several = {"list": ["one two three four five six", "seven eight"], "none": None}
    load(engine, name, {id: document(text) for id, text in (TEXTS | several).items()})
    before = on_disk(engine, name)
    report = Backfill(engine, name, Task("body")).run()
    after = on_disk(engine, name)

    assert ([], []) == (report.refused, report.skipped_indices)
    assert TEXTS == {id: before[id]["body"] for id in TEXTS}
    for id, text in (TEXTS | {"list": "\n".join(several["list"] or [])}).items():
        there = {key: value for key, value in expected(text).items() if value is not None}
        assert there == after[id].pop("simdoc"), id
        assert before[id] == {key: each for key, each in after[id].items() if key != "simdoc"}


def test_a_second_backfill_has_nothing_to_do(made: Indices, engine: Engine) -> None:
    """Neither one that looks for documents without a fingerprint, nor one that compares all texts."""
    name = derived(made)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    Backfill(engine, name, Task("body")).run()
    on_disk(engine, name)
    again = Backfill(engine, name, Task("body")).run()
    stale = Backfill(engine, name, Task("body", stale=True)).run()

    assert 0 == again.documents
    assert (0, len(TEXTS)) == (stale.updated, stale.unchanged)


def test_the_pipeline_makes_what_backfill_makes(made: Indices, engine: Engine) -> None:
    """It sees the text as it was sent; what is derived later has the same fingerprint."""
    name = derived(made, ours=True)
    install_pipeline(engine, force=True)
    use_pipeline(engine, name)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    on_disk(engine, name)
    call(made.engine, "POST", f"/{name}/_update/copy 1?refresh=true".replace(" ", "%20"), {"doc": {"number": 8}})
    stale = Backfill(engine, name, Task("body", stale=True)).run()

    assert (0, len(TEXTS)) == (stale.updated, stale.unchanged)


def test_the_engine_fills_it_too(made: Indices, engine: Engine) -> None:
    """Its update by query reads what is derived, as others do."""
    name = derived(made)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    install_pipeline(engine, force=True)
    report = backfill_in_engine(engine, name, Task("body"))
    on_disk(engine, name)
    stale = Backfill(engine, name, Task("body", stale=True)).run()

    assert [] == report.skipped_indices
    assert (0, len(TEXTS)) == (stale.updated, stale.unchanged)


def test_queries_and_surveys_read_it(made: Indices, engine: Engine) -> None:
    """Hits, aligned passages, duplicates, and what `check` and `status` say."""
    name = derived(made)
    load(engine, name, {id: document(text) for id, text in TEXTS.items()})
    Backfill(engine, name, Task("body")).run()
    on_disk(engine, name)
    copies = {f"copy {number}" for number in range(6)}
    with closing(open_store(f"{made.engine}/{name}")) as store:
        search = SimilaritySearch(store)
        hits = search.similar('"copy 0"_50').hits
        groups = [
            {each.kept.place.id, *(other.id for other in each.duplicates)} for each in search.duplicates().groups()
        ]
    survey = answer("status", f"{made.engine}/{name}")

    assert copies - {"copy 0"} == {hit.id for hit in hits}
    assert copies in groups
    assert [] == [each.problem for each in check_index(engine, name) if each.wrong]
    assert 0 == survey["staleness"]["stale"] < survey["staleness"]["sampled"]
