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

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from tests.stores import NewStore

settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=150, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(params=["memory", "folder", "opensearch"])
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
def new_opensearch_store() -> Iterator[NewStore]:
    """Makes indices in a running OpenSearch."""
    with ExitStack() as opened:

        def make(asked: Settings | None = None, **options: Any) -> Store:
            url = f"{os.environ['SIMDOC_TEST_OPENSEARCH']}/test-{uuid4()}"
            store = open_store(url, asked, create=True, **options)
            opened.callback(delete_index, url)
            opened.callback(store.close)
            return store

        yield make


def delete_index(url: str) -> None:
    """Remove an index."""
    urlopen(Request(url, method="DELETE")).close()
