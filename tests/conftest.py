"""Fixtures of every store, and hypothesis profiles: `dev` looks further each time, `ci` is the same everywhere."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from simdoc_search.sketch.settings import Settings
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from tests.stores import NewStore

settings.register_profile("dev", deadline=None, max_examples=100)
settings.register_profile("ci", deadline=None, max_examples=150, derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")


@pytest.fixture(params=["memory", "folder"])
def new_store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[NewStore]:
    """Makes empty stores of one kind; another kind of store joins here."""
    opened: list[Store] = []

    def make(asked: Settings | None = None, **options: Any) -> Store:
        place = ":memory:" if request.param == "memory" else tmp_path / f"store{len(opened)}"
        opened.append(open_store(place, asked, create=True, **options))
        return opened[-1]

    yield make
    for each in opened:
        each.close()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """An empty store."""
    return new_store()
