"""Answers that lack something, or have another kind of value there: one sentence, whoever reads them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search.attach.backfill import Backfill, Task
from simdoc_search.attach.backfill.targets import maximum
from simdoc_search.attach.min_hash import check_min_hash
from simdoc_search.attach.pipeline.install import read_pipeline
from simdoc_search.attach.search_templates import ask_field
from simdoc_search.attach.status.counting import count_documents
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.bulk import uuids_of
from simdoc_search.stores.remote.connecting import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.moments import open_moment
from simdoc_search.stores.remote.updates import documents_at
from tests.support.http_server import Server, answer
from tests.support.installing import install_component
from tests.support.sentences import one_sentence

SHARDS = {"total": 1, "successful": 1, "failed": 0}
HIT = {"_index": "index", "_id": "a", "_source": {}}
DEEP: Any = {"level": None}
for _ in range(300):
    DEEP = {"level": DEEP}

Read = Callable[[Engine], Any]


@pytest.fixture
def engine(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The way to that server."""
    monkeypatch.setenv("SIMDOC_PATIENCE", "0")
    way, _ = connect(f"{server.url}/index", engine="opensearch")
    with closing(way):
        yield way


def found(*hits: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a search finds."""
    return {"hits": {"hits": [*hits], "total": {"value": len(hits)}}, "_shards": SHARDS, **more}


def counts(engine: Engine) -> Any:
    """Counts of the documents of an index that has a field for errors."""
    return count_documents(engine, "index", {"error": {"type": "keyword"}}, None, field="simdoc")


def index(**settings: Any) -> dict[str, Any]:
    """What an engine says of an index with these settings."""
    return {"index": {"mappings": {}, "settings": settings}}


def filtered(**numbers: Any) -> dict[str, Any]:
    """Counts by filters."""
    return {"of": {"buckets": {name: {"doc_count": number} for name, number in numbers.items()}}}


ALL = dict.fromkeys(["documents", "fingerprinted", "wordless", "errors"], 1)
COUNTS: list[dict[str, Any]] = [
    {"reasons": {"buckets": []}},
    {"reasons": {"buckets": []}, **filtered(documents=1)},
    {"reasons": {"buckets": []}, **filtered(**{**ALL, "errors": float("inf")})},
    {"reasons": {"buckets": [{"key": "a"}]}, **filtered(**ALL)},
    {"reasons": {}, **filtered(**ALL)},
    filtered(**ALL),
]
STATES: list[dict[str, Any]] = [{}, {"found": "yes"}, {"found": True}, {"found": True, "_seq_no": 1}]
READS: dict[str, tuple[Read, list[Any]]] = {
    "unique ids": (
        lambda engine: uuids_of(engine, "index"),
        [{"index": {"settings": {}}}, {"index": {"settings": {"index": {}}}}, {"index": {}}],
    ),
    "numbers of shards": (
        lambda engine: open_moment(engine, "index", {"sort": ["_doc"]}),
        [{"index": {"settings": {}}}, {"index": {"settings": {"index": {}}}}],
    ),
    "indices of a backfill": (
        lambda engine: Backfill(engine, "index", Task("body")).run(),
        [index(), index(index={}), index(index={"uuid": "u"}), index(index={"number_of_shards": "1"})],
    ),
    "scores": (
        lambda engine: engine.search("index", {"sort": ["_score"]}),
        [found(HIT), found({**HIT, "_score": None})],
    ),
    "states of hits": (
        lambda engine: engine.search("index", {"seq_no_primary_term": True}),
        [found({**HIT, "_seq_no": 1}), found({**HIT, "_primary_term": 1})],
    ),
    "states of documents": (
        lambda engine: documents_at(engine, [{"_id": "a"}]),
        [{"docs": [HIT | more]} for more in STATES],
    ),
    "a greatest value": (
        lambda engine: maximum(engine, "index", "n"),
        [found(), found(aggregations={}), found(aggregations={"greatest": {}})],
    ),
    "counts": (counts, [found(aggregations=each) for each in COUNTS]),
    "a pipeline": (
        lambda engine: read_pipeline(engine, "name"),
        [
            {"name": []},
            {"name": {"processors": 7}},
            {"name": {"processors": ["x"]}},
            {"name": {"processors": [{"script": {"params": 7}}]}},
            {"name": {"processors": [{"pipeline": {"name": 7}}]}},
            {"name": {"processors": [{"script": {"params": DEEP}}]}},
        ],
    ),
    "a template": (
        install_component,
        [{"component_templates": [{"name": "simdoc", "component_template": {"template": DEEP}}]}],
    ),
    "a search template": (lambda engine: ask_field(engine, "simdoc"), [{"script": {"lang": "mustache"}}]),
    "terms": (lambda engine: check_min_hash(engine, "index"), [{}, {"tokens": [{}]}, {"tokens": [{"token": 7}]}]),
}


@pytest.mark.parametrize(
    ("read", "given"),
    [
        pytest.param(read, each, id=f"{name} {at}")
        for name, (read, some) in READS.items()
        for at, each in enumerate(some)
    ],
)
def test_what_an_answer_lacks_is_said(server: Server, engine: Engine, read: Read, given: Any) -> None:
    """Nothing of it is believed."""
    server.handle = lambda request: answer({"pit_id": "x"} if "point_in_time" in request.path else given)
    with pytest.raises(StoreError, match="is no OpenSearch or Elasticsearch") as caught:
        read(engine)

    assert one_sentence(caught.value)
