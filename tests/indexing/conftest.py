"""Runs with several workers start them after the first chunk, so that small collections test them."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _workers_start_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_MIN_SECONDS_BEFORE_WORKERS", "_MIN_SHARE_FOR_WORKERS"):
        monkeypatch.setattr(f"simdoc_search.indexing.jobs.{name}", 0.0)
