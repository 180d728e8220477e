"""What an engine writes anew by itself, followed as a task: all of it, slowly if asked, and not after we have ended."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.engine import Engine
from tests.support.backfill import load, to
from tests.support.http_server import indices

LESS = {"bool": {"must_not": [{"term": {"done": True}}]}}
SCRIPT = "ctx._source.done = true"
MAPPING = {"properties": {"done": {"type": "boolean"}, "number": {"type": "integer"}}}


@pytest.fixture(scope="module")
def engine(opensearch_url: str) -> Iterator[Engine]:
    """The way to it."""
    with to(opensearch_url) as opened:
        yield opened


@pytest.fixture
def name(opensearch_url: str, engine: Engine) -> Iterator[str]:
    """An index of 300 documents in two shards."""
    with indices(opensearch_url) as made:
        index = made.make(MAPPING, {"number_of_shards": 2})
        load(engine, index, {f"d{number}": {"number": number} for number in range(300)})
        yield index


def test_all_that_a_query_finds_is_written(engine: Engine, name: str) -> None:
    """Once: what it no longer finds is left alone."""
    seen: list[int] = []

    assert (300, 0, {}) == _values(engine, name, progress=seen.append)
    assert (0, 0, {}) == _values(engine, name)
    assert 300 == engine.count(name, {"term": {"done": True}})
    assert seen == sorted(seen)


def test_it_is_as_slow_as_asked(engine: Engine, name: str) -> None:
    """By documents a second, over all slices; meanwhile it is said how far it is."""
    seen: list[int] = []
    began = time.monotonic()
    _values(engine, name, throttle=200.0, progress=seen.append)

    assert time.monotonic() - began > 0.5
    assert any(0 < each < 300 for each in seen)


def test_it_ends_with_us(engine: Engine, name: str) -> None:
    """Ctrl-C ends the task; another run goes on with what is left."""

    def interrupt(written: int) -> None:
        if written:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _values(engine, name, throttle=50.0, progress=interrupt)
    until = time.monotonic() + 20
    while engine.call("GET", ["_tasks"], actions="*byquery")["nodes"] and time.monotonic() < until:
        time.sleep(0.05)
    engine.refresh(name)
    written = engine.count(name, {"term": {"done": True}})

    assert 0 < written < 300
    assert (300 - written, 0, {}) == _values(engine, name)


def test_what_fails_is_named(engine: Engine, name: str) -> None:
    """A document that the index does not take, a script that is none."""
    updated, _, failures = _values(engine, name, script="ctx._source.number = 'no number'")

    assert 0 == updated
    assert "failed to parse field [number]" in next(iter(failures.values()))
    with pytest.raises(StoreError, match="compile error"):
        _values(engine, name, script="ctx.")


def test_an_engine_without_it_says_so(elasticsearch_url: str) -> None:
    """Such as one of the packages alone."""
    with to(elasticsearch_url) as engine, indices(elasticsearch_url) as made:
        index = made.make(MAPPING)
        with pytest.raises(StoreError, match="cannot update documents by a query of its own"):
            update_by_query(engine, index, LESS, script=SCRIPT)


def _values(engine: Engine, name: str, script: str = SCRIPT, **how: object) -> tuple[int, int, dict[str, str]]:
    found = update_by_query(engine, name, LESS, script=script, **how)  # type: ignore[arg-type]
    return found.updated, found.conflicts, found.failures
