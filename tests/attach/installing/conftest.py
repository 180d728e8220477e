"""An application in each engine that has pipelines. The component template is not installed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.applications import Application, application
from tests.support.engines import call, each_engine

engine_url = each_engine("opensearch", "elasticsearch_7")


@pytest.fixture
def app(engine_url: str) -> Iterator[Application]:
    """An application."""
    call(engine_url, "DELETE", "/_component_template/simdoc", allowed_statuses=(404,))
    with application(engine_url) as made:
        yield made
