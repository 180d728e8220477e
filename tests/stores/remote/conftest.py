"""Fixtures: indices in a real engine, and a server that simulates an engine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.stores.remote import retry
from tests.support.error_sentences import NO_INDEX
from tests.support.http_server import Server, serving


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove credentials from the environment, and turn retries off."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    for name in ("SIMDOC_USERNAME", "SIMDOC_PASSWORD", "SIMDOC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat requests at once."""
    monkeypatch.setattr(retry, "FIRST_PAUSE_SECONDS", 0.001)
    monkeypatch.setattr(retry, "MAX_PAUSE_SECONDS", 0.01)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers each request with a missing index, unless a test replaces its handler."""
    with serving(lambda _: NO_INDEX) as running:
        yield running
