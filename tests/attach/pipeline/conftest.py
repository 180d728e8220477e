"""An engine with the pipeline, and an index that uses it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.attach.pipeline import install_pipeline
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.engines import call, discard, own_name
from tests.support.installing import use_pipeline


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Engine:
    """An engine that has the pipeline, of the field `body`."""
    found, _ = connect(opensearch_url, index=False)
    install_pipeline(found, force=True)
    return found


@pytest.fixture
def index(engine: Engine, opensearch_url: str) -> Iterator[str]:
    """An empty index that uses it."""
    name = own_name()
    call(opensearch_url, "PUT", f"/{name}", {"mappings": {"properties": {"body": {"type": "text"}}}})
    assert [name] == use_pipeline(engine, name)
    yield name
    discard(opensearch_url, name)
