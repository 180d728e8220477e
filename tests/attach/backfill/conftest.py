"""Each engine in turn, with short pauses between retries."""

from __future__ import annotations

import pytest

from simdoc_search.attach.backfill import pages
from simdoc_search.stores.remote import retry
from tests.support.engines import each_engine

engine_url = each_engine("opensearch", "elasticsearch")


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry requests to a busy engine at once."""
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(retry, "MAX_PAUSE_SECONDS", 0.01)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not read a page while another one is written."""
    monkeypatch.setattr(pages, "MAX_WRITERS", 1)
