"""Fixtures of indices in a real engine, and of a server that plays one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.http_server import Indices, Server, indices, serving
from tests.support.sentences import NO_INDEX


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application in OpenSearch."""
    with indices(opensearch_url) as made:
        yield made


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Use no credentials of the environment, and no retries."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    for name in ("SIMDOC_USERNAME", "SIMDOC_PASSWORD", "SIMDOC_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> Iterator[Server]:
    """A server that answers that there is no index, unless a test replaces its handler."""
    with serving(lambda _: NO_INDEX) as running:
        yield running
