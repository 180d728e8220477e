"""Each engine in turn, with short pauses between retries."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.attach.backfill import pages
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import to
from tests.support.http_server import TempIndices, indices


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="module")
def engine(engine_url: str) -> Iterator[Engine]:
    """The engine."""
    with to(engine_url) as opened:
        yield opened


@pytest.fixture
def temp_indices(engine_url: str) -> Iterator[TempIndices]:
    """The indices of the test."""
    with indices(engine_url) as owned:
        yield owned


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Retry requests to a busy engine at once."""
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(retry, "MAX_PAUSE_SECONDS", 0.01)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not read a page while another one is written."""
    monkeypatch.setattr(pages, "MAX_WRITERS", 1)
