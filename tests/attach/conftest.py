"""The engine of a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import to


@pytest.fixture(scope="module")
def engine(engine_url: str) -> Iterator[Engine]:
    """The engine."""
    with to(engine_url) as opened:
        yield opened
