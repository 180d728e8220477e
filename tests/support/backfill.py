"""TempIndices of an application before and after a backfill."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from threading import Lock
from typing import Any

import pytest

from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill import Backfill, BackfillOptions, BackfillReport, CostEstimate, ProgressCallback
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.pipelines import DEFAULT_PIPELINE
from tests.support.http_server import Answer, Request, Server, TempIndices, forward, serving
from tests.support.texts import documents

__all__ = [
    "OTHER",
    "TEXTS",
    "backfill",
    "backfill_in_engine",
    "bodies",
    "done",
    "filled",
    "interposed",
    "load",
    "one_engine",
    "reasons",
    "stored",
    "to",
]

TEXTS = {document.id: document.text for document in documents("backfill", 160, words=30)}
OTHER = "quite another text that somebody wrote while we were busy with the first one"


one_engine = pytest.mark.parametrize("engine_url", ["opensearch"], indirect=True)
"""For tests that do not depend on the kind of engine."""


@contextmanager
def to(url: str) -> Iterator[Engine]:
    """Open an engine."""
    opened, _ = connect(url, expects_index=False)
    with closing(opened):
        yield opened


def load(engine: Engine, index: str, sources: Mapping[str, Mapping[str, Any]], **place: Any) -> None:
    """Write documents in a bulk."""
    lines = (
        json.dumps(line)
        for id, source in sources.items()
        for line in ({"index": {"_index": index, "_id": id, **place}}, source)
    )
    assert not engine.call("POST", ["_bulk"], "".join(f"{line}\n" for line in lines).encode(), refresh=True)["errors"]


def bodies(texts: Mapping[str, Any] = TEXTS) -> dict[str, dict[str, Any]]:
    """Return the sources of documents with a text and a number."""
    return {id: {"body": text, "number": number} for number, (id, text) in enumerate(texts.items())}


def filled(temp_indices: TempIndices, engine: Engine, texts: Mapping[str, Any] = TEXTS, **settings: Any) -> str:
    """Create an index with documents."""
    name = temp_indices.make({"properties": {"body": {"type": "text"}, "number": {"type": "integer"}}}, settings)
    load(engine, name, bodies(texts))
    return name


def stored(engine: Engine, index: str) -> dict[str, Any]:
    """Return the sources of all documents, by id."""
    engine.call("POST", [index, "_refresh"])
    hits = engine.call("POST", [index, "_search"], {"size": 1000})["hits"]["hits"]
    assert len(hits) == len({hit["_id"] for hit in hits})
    return {hit["_id"]: hit["_source"] for hit in hits}


def done(texts: Mapping[str, str] = TEXTS) -> dict[str, dict[str, Any]]:
    """Return the sources after a backfill."""
    values = fingerprint_fields(list(texts.values()), Settings())
    return {id: {**source, "simdoc": ours} for (id, source), ours in zip(bodies(texts).items(), values, strict=True)}


def backfill(engine: Engine, index: str, text_field: str | tuple[str, ...] = "body", **options: Any) -> BackfillReport:
    """Run a backfill, and return its report."""
    return Backfill(engine, index, BackfillOptions(text_field, **options)).run()


def backfill_in_engine(
    engine: Engine, index: str, options: BackfillOptions, progress: ProgressCallback | None = None
) -> BackfillReport:
    """Run a backfill in the engine, and return its report."""
    return Backfill(engine, index, options, progress, pipeline=DEFAULT_PIPELINE).run()


def reasons(report: BackfillReport | CostEstimate) -> dict[str, str]:
    """Return the reasons why indices were skipped."""
    return {skipped.index: skipped.reason for skipped in report.skipped_indices}


@contextmanager
def interposed(
    temp_indices: TempIndices, before_bulk: Callable[[int], Answer | None]
) -> Iterator[tuple[Engine, Server]]:
    """Call a function with a number before each bulk request. It may answer instead of the engine.

    Bulk requests are sent in parallel. They wait while the function runs.
    """
    passing, number, turn = forward(temp_indices.engine), itertools.count(), Lock()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk"):
            with turn:
                instead = before_bulk(next(number))
            if instead:
                return instead
        return passing(request)

    with serving(handle) as server, to(server.url) as engine:
        yield engine, server
