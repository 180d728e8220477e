"""Tests of questions skip stores in folders: the tests of stores show that these answer as stores in memory do."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests of this folder over stores in folders."""
    here = Path(__file__).parent
    items[:] = [item for item in items if here not in item.path.parents or not _is_in_folder(item)]


def _is_in_folder(item: pytest.Item) -> bool:
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return "folder" in (parameters.get("new_store"), parameters.get("shared_store"))
