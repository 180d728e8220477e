"""Fixtures with the application of the examples and its index."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch
from opensearchpy.exceptions import NotFoundError

from tests.support.examples import EXAMPLES


@pytest.fixture(autouse=True)
def _examples_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))


@pytest.fixture
def client(opensearch_url: str) -> Iterator[OpenSearch]:
    with OpenSearch(opensearch_url) as opened:
        yield opened


@pytest.fixture
def index(client: OpenSearch) -> Iterator[str]:
    """A name. Its index and template are removed at the end."""
    name = f"manuals-{uuid4()}"
    yield name
    client.indices.delete(index=name, ignore_unavailable=True)
    with suppress(NotFoundError):
        client.indices.delete_index_template(name=name)


@pytest.fixture
def app(client: OpenSearch, index: str) -> Any:
    """The application of search_app.py with its documents."""
    manuals = import_module("search_app").Manuals(client, index)
    manuals.create()
    lines = (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines()
    assert 6 == manuals.load(map(json.loads, lines))
    return manuals
