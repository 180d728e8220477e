"""Each engine in turn, which is not waited for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.attach.backfill import rounds
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import to
from tests.support.http_server import Indices, indices


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """The address of each engine."""
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(scope="module")
def engine(engine_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(engine_url) as opened:
        yield opened


@pytest.fixture
def made(engine_url: str) -> Iterator[Indices]:
    """Indices of an application's own."""
    with indices(engine_url) as them:
        yield them


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """An engine that is made to be busy is asked again at once."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)


@pytest.fixture
def one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """No page is read while one is written."""
    monkeypatch.setattr(rounds, "READERS", 1)
    monkeypatch.setattr(rounds, "WRITERS", 1)
