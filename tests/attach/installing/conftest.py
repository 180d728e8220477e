"""An application in each engine that has pipelines, and a component template of its own name."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import uuid4

import pytest

from simdoc_search.attach import templates
from tests.support.applications import Application, application
from tests.support.engines import call


@pytest.fixture(scope="module", params=["opensearch", "elasticsearch_7"])
def engine_url(request: pytest.FixtureRequest) -> str:
    """Each engine that has pipelines."""
    return str(request.getfixturevalue(f"{request.param}_url"))


@pytest.fixture
def component(engine_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A name for the component template, which is gone when all that uses it is."""
    name = f"app-{uuid4()}"
    monkeypatch.setattr(templates, "COMPONENT", name)
    yield name
    call(engine_url, "DELETE", f"/_component_template/{name}", allow=(404,))


@pytest.fixture
def app(engine_url: str, component: str) -> Iterator[Application]:
    """An application."""
    with application(engine_url) as made:
        yield made
