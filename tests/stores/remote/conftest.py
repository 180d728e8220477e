"""Indices in an engine, for the tests that make their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.http_server import Indices, indices


@pytest.fixture
def made(opensearch_url: str) -> Iterator[Indices]:
    """Indices of an application's own, in OpenSearch."""
    with indices(opensearch_url) as them:
        yield them
