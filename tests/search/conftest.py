"""Fixtures of the tests of questions.

These tests skip stores in folders: the tests of stores show that such stores answer like stores in memory.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store


@pytest.fixture
def search() -> SimilaritySearch:
    """A search over an empty store in memory."""
    return SimilaritySearch(open_store(":memory:"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests of this folder over stores in folders."""
    here = Path(__file__).parent
    items[:] = [item for item in items if here not in item.path.parents or not _is_in_folder(item)]


def _is_in_folder(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return "folder" in (parameters.get("new_store"), parameters.get("shared_store"))
