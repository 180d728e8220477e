"""Fixtures of the tests of queries.

These tests skip stores in folders. The tests of stores show that they return the same results as stores in memory.
"""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip the tests of this folder that use a store in a folder."""
    here = str(Path(__file__).parent)
    items[:] = [item for item in items if not _uses_folder_store(item) or not str(item.path).startswith(here)]


def _uses_folder_store(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return "folder" in (parameters.get("new_store"), parameters.get("shared_store"))
