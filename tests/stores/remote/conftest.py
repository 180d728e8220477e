"""Indices in an engine, for the tests that make their own; and a server that has none."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.http_server import Indices, Server, indices, serving
from tests.support.sentences import NO_INDEX


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own, in OpenSearch."""
    with indices(opensearch_url) as them:
        yield them


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """None but those that a test sets; and no patience, so that each error is said at once."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    for name in ("SIMDOC_USERNAME", "SIMDOC_PASSWORD", "SIMDOC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    """An engine without any index, until it is told otherwise."""
    with serving(lambda _: NO_INDEX) as running:
        yield running
