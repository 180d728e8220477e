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

SHARDS = {"total": 1, "successful": 1, "failed": 0}
HIT = {"_index": "index", "_id": "a", "_source": {}}


@pytest.fixture
def engine(server: Server, monkeypatch: pytest.MonkeyPatch) -> Iterator[Engine]:
    """The way to that server."""
    monkeypatch.setenv("SIMDOC_RETRY_SECONDS", "0")
    way, _ = connect(f"{server.url}/index", engine="opensearch")
    with closing(way):
        yield way


def found(count: int | None, *hits: dict[str, Any]) -> dict[str, Any]:
    """What a search finds; None: it does not count."""
    total = {} if count is None else {"total": {"value": count}}
    return {"hits": {"hits": [*hits], **total}, "_shards": SHARDS}


ALL = {"track_total_hits": True}
READS: dict[str, tuple[Callable[[Engine], Any], list[Any]]] = {
    "a search": (lambda engine: engine.search("index", {}), [{}, [], {"error": "a proxy says no"}]),
    "hits that are counted": (
        lambda engine: engine.search("index", ALL),
        [found(None, HIT), found(2, HIT), found(0, HIT)],
    ),
    "several searches": (lambda engine: engine.search_many("index", [{}, {}]), [{}, {"responses": [found(0)]}]),
    "a count": (lambda engine: engine.count("index"), [{}, 7]),
}


@pytest.mark.parametrize(
    ("read", "given"),
    [
        pytest.param(read, each, id=f"{name} {at}")
        for name, (read, some) in READS.items()
        for at, each in enumerate(some)
    ],
)
def test_what_an_answer_lacks_is_said(
    server: Server, engine: Engine, read: Callable[[Engine], Any], given: Any
) -> None:
    """Nothing of it is believed."""
    server.handle = lambda _: answer(given)
    with pytest.raises(StoreError, match="is no OpenSearch or Elasticsearch") as caught:
        read(engine)

    assert one_sentence(caught.value)
