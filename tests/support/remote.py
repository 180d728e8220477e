"""Opens stores in indices, and makes the mapping and the field of an application's index."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from simdoc_search import open_store
from simdoc_search.query.dsl import MAX_CLAUSES
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.records import build_field_values
from simdoc_search.stores.remote.schema import component_template
from tests.support.http_server import TempIndices
from tests.support.stores import record, tokens

ANY = ThresholdPlan(tokens(range(8)), 1)


def need_usual_clauses(url: str) -> None:
    """Skip a test that needs the usual clause limit. Elasticsearch 8 chooses its own limit."""
    with closing(connect(url, expects_index=False)[0]) as engine:
        limit = engine.max_clauses()
    if limit != MAX_CLAUSES:
        pytest.skip(f"this engine takes {limit} clauses in a query, not {MAX_CLAUSES}")


def in_index(temp_indices: TempIndices, name: str, **options: Any) -> Any:
    """Open the store in an index."""
    return open_store(f"{temp_indices.engine}/{name}", **options)


def mapping(**properties: object) -> dict[str, Any]:
    """Return the mapping of an application that has added our field to its own fields."""
    ours: dict[str, Any] = component_template()["template"]["mappings"]["properties"]
    return {"properties": {**ours, **properties}}


def ours(slots: Any = range(8), settings: Settings | None = None) -> dict[str, Any]:
    """Return the value of our field."""
    written = replace(record("", slots), text_hash="hash", words_hash="words")
    return build_field_values([written], settings or Settings())[0]
