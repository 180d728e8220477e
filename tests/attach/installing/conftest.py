"""An application in each engine that has pipelines. The component template is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.applications import Application, application
from tests.support.engines import call


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def app(engine_url: str) -> Iterator[Application]:
    """An application."""
    call(engine_url, "DELETE", "/_component_template/simdoc", allowed_statuses=(404,))
    with application(engine_url) as made:
        yield made
