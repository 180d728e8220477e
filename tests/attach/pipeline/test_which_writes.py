"""Which writes pass a final pipeline, and which do not: as docs/pipeline.md has it, on each engine with pipelines."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.inspection import inspect_indices
from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.engines import call
from tests.support.http_server import Indices, indices
from tests.support.installing import use_pipeline
from tests.support.pipeline import expected

OLD, NEW = "the old text of a document", "and the new text which it has now"
SCRIPT = {"script": {"source": "ctx._source.body = params.text", "params": {"text": NEW}}}
NEW_PART = {"doc": {"body": NEW}}

SEEN: dict[str, dict[str, Any]] = {
    "_update with a part": {"update": NEW_PART},
    "_update with a script": {"update": SCRIPT},
    "_update with a part and an upsert": {"update": {**NEW_PART, "upsert": {"body": OLD}}},
    "_update with doc_as_upsert": {"update": {**NEW_PART, "doc_as_upsert": True}},
    "_update with a scripted upsert": {"update": {**SCRIPT, "scripted_upsert": True, "upsert": {}}},
    "_update_by_query with a script": {"by query": SCRIPT},
    "index in a bulk": {"index": {"body": NEW}},
    "doc_as_upsert in a bulk, of the whole text": {"bulk": {**NEW_PART, "doc_as_upsert": True}},
}
PASSED_BY: dict[str, dict[str, Any]] = {
    "update in a bulk, with a part": {"bulk": NEW_PART},
    "update in a bulk, with a script": {"bulk": SCRIPT},
    "update in a bulk, with a part and an upsert": {"bulk": {**NEW_PART, "upsert": {"body": OLD}}},
    "update in a bulk, with a scripted upsert": {"bulk": {**SCRIPT, "scripted_upsert": True, "upsert": {}}},
}


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch_7"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """Each engine with pipelines."""
    found, _ = connect(request.getfixturevalue(f"{request.param}_url"), index=False)
    with closing(found):
        install_pipeline(found, force=True)
        yield found


@pytest.fixture
def index(engine: Engine) -> Iterator[str]:
    """An index that uses the pipeline."""
    with indices(engine.name) as made:
        yield prepared(made, engine)


def prepared(made: Indices, engine: Engine) -> str:
    """The index, with two documents."""
    name = made.make({"properties": {"body": {"type": "text"}}})
    use_pipeline(engine, name)
    for id in "12":
        engine.call("PUT", [name, "_doc", id], {"body": OLD}, refresh=True)
    return name


def write(engine: Engine, index: str, id: str, how: dict[str, Any]) -> None:
    """One write."""
    ((kind, body),) = how.items()
    if kind == "update":
        engine.call("POST", [index, "_update", id], body, refresh=True)
    elif kind == "by query":
        call(engine.name, "POST", f"/{index}/_update_by_query?refresh", {**body, "query": {"ids": {"values": [id]}}})
    else:
        lines = [{"update" if kind == "bulk" else kind: {"_index": index, "_id": id}}, body]
        sent = "".join(f"{json.dumps(line)}\n" for line in lines).encode()
        assert not engine.call("POST", ["_bulk"], sent, refresh=True)["errors"]


def ours(engine: Engine, index: str, id: str) -> Any:
    """What a document has in our field."""
    return engine.call("GET", [index, "_doc", id])["_source"].get("simdoc")


@pytest.mark.parametrize("how", SEEN.values(), ids=SEEN)
def test_a_write_that_the_pipeline_sees(engine: Engine, index: str, how: dict[str, Any]) -> None:
    """The fingerprint is that of the new text."""
    write(engine, index, "1", how)

    assert [expected(NEW), expected(OLD)] == [ours(engine, index, id) for id in "12"]


@pytest.mark.parametrize("how", [each for name, each in SEEN.items() if "upsert" in name])
def test_a_document_that_is_not_there(engine: Engine, index: str, how: dict[str, Any]) -> None:
    """It gets the fingerprint of what it begins with."""
    write(engine, index, "new", how)
    made = engine.call("GET", [index, "_doc", "new"])["_source"]

    assert expected(made["body"]) == made["simdoc"]


@pytest.mark.parametrize("how", PASSED_BY.values(), ids=PASSED_BY)
def test_a_write_that_passes_no_pipeline(engine: Engine, index: str, how: dict[str, Any]) -> None:
    """The fingerprint is that of the old text. `status` finds it among what was written, `--stale` mends it."""
    task = Task("body", stale=True)
    Backfill(engine, index, task).run()
    write(engine, index, "1", how)
    before = ours(engine, index, "1")
    sample = inspect_indices(engine, index).sample
    report = Backfill(engine, index, task).run()

    assert expected(OLD) == before
    assert (1, 1, ("1",), 1) == (sample.stale, sample.sampled, sample.examples, sample.compared)
    assert (1, 1) == (report.updated, report.documents)
    assert expected(NEW) == ours(engine, index, "1")


def test_an_upsert_in_a_bulk_of_a_document_that_is_not_there(engine: Engine, index: str) -> None:
    """The pipeline sees the document that an update begins with, and not what a script makes of it."""
    write(engine, index, "new", {"bulk": {**NEW_PART, "upsert": {"body": OLD}}})
    write(engine, index, "scripted", {"bulk": {**SCRIPT, "scripted_upsert": True, "upsert": {"body": OLD}}})

    assert expected(OLD) == ours(engine, index, "new")
    assert (NEW, expected(OLD)) == (
        engine.call("GET", [index, "_doc", "scripted"])["_source"]["body"],
        ours(engine, index, "scripted"),
    )
