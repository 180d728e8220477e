"""Fixtures of every store, and hypothesis profiles: `dev` looks further each time, `ci` is the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen
from uuid import uuid4

import pytest
from hypothesis import settings

from simdoc_search.engine import Cluster
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from tests.elasticsearch_engine import elasticsearch_header, elasticsearch_url
from tests.engines import add_engine_options, engine_header, engine_home, opensearch_url, three_nodes
from tests.stores import NewStore

settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=150, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


__all__ = ["elasticsearch_url", "engine_home", "opensearch_url", "three_nodes"]


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--engine` and `--require-engine`."""
    add_engine_options(parser)


def pytest_report_header(config: pytest.Config) -> list[str]:
    """Which engines the tests meet."""
    return [engine_header(config), elasticsearch_header(config)]


@pytest.fixture(params=["memory", "folder", "opensearch", "three_nodes", "elasticsearch"])
def new_store(request: pytest.FixtureRequest) -> NewStore:
    """Makes empty stores of one kind; another kind of store joins here."""
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker


@pytest.fixture(params=["memory", "folder"])
def local_store(request: pytest.FixtureRequest) -> Store:
    """An empty local store, for what no engine promises."""
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store."""
    return new_store()


@pytest.fixture
def new_memory_store() -> NewStore:
    """Makes stores in memory."""
    return partial(open_store, ":memory:", create=True)


@pytest.fixture
def new_folder_store(tmp_path: Path) -> Iterator[NewStore]:
    """Makes stores on disk."""
    with ExitStack() as opened:

        def make(asked: Settings | None = None, **options: Any) -> Store:
            store = open_store(tmp_path / f"store-{uuid4()}", asked, create=True, **options)
            opened.callback(store.close)
            return store

        yield make


@pytest.fixture
def new_opensearch_store(opensearch_url: str) -> Iterator[NewStore]:
    """Makes indices in a running OpenSearch."""
    yield from _indices_in(opensearch_url)


@pytest.fixture
def new_elasticsearch_store(elasticsearch_url: str) -> Iterator[NewStore]:
    """Makes indices in a running Elasticsearch."""
    yield from _indices_in(elasticsearch_url)


@pytest.fixture
def new_three_nodes_store(three_nodes: Cluster) -> Iterator[NewStore]:
    """Makes indices that are spread over three nodes."""
    yield from _indices_in(three_nodes.url)


def _indices_in(url: str) -> Iterator[NewStore]:
    with ExitStack() as opened:

        def make(asked: Settings | None = None, **options: Any) -> Store:
            place = f"{url}/test-{uuid4()}"
            store = open_store(place, asked, create=True, **options)
            opened.callback(delete_index, place)
            opened.callback(store.close)
            return store

        yield make


def delete_index(url: str) -> None:
    """Remove an index."""
    urlopen(Request(url, method="DELETE")).close()
