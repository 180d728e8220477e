"""Answers that are none of an engine: one sentence, and nothing of them is believed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import pytest

from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from tests.support.http_server import Server, answer
from tests.support.sentences import one_sentence


@pytest.fixture
def engine(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The way to that server."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    way, _ = connect(f"{server.url}/index", engine="opensearch")
    with closing(way):
        yield way


READS: dict[str, Callable[[Engine], Any]] = {
    "a search": lambda engine: engine.search("index", {}),
    "several searches": lambda engine: engine.search_many("index", [{}, {}]),
    "a count": lambda engine: engine.count("index"),
    "mappings": lambda engine: engine.call("GET", ["index", "_mapping"]),
}


@pytest.mark.parametrize("given", [[], {"error": "a proxy says no"}])
@pytest.mark.parametrize("read", READS.values(), ids=READS)
def test_an_answer_that_no_engine_gives_is_an_error(
    server: Server, engine: Engine, read: Callable[[Engine], Any], given: Any
) -> None:
    """Such as that of a proxy."""
    server.handle = lambda _: answer(given)
    with pytest.raises(StoreError, match="is not an OpenSearch or Elasticsearch") as caught:
        read(engine)

    assert one_sentence(caught.value)
