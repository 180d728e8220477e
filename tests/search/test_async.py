"""Tests that `AsyncSimilaritySearch` has the methods and the results of `SimilaritySearch`."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import (
    AsyncSimilaritySearch,
    Document,
    SimdocError,
    SimilaritySearch,
    any_of,
    open_store,
    open_store_async,
)
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.stores.base import StoreInfo
from tests.support.asynchronous import StoreLocation, engines, indexed
from tests.support.cli import words
from tests.support.engines import discard, own_name
from tests.versions.paper import DOCUMENTS

__all__ = ["indexed"]

DOCS_PAGE = Path(__file__).parents[2] / "docs" / "async.md"
CALLS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("similar", ("whole",), {}),
    ("similar", ("whole_20",), {"include_self": True, "size": 2}),
    ("similar", ("whole_20_80",), {"fields": ["size", "kind"]}),
    ("similar", ("whole",), {"overlap": 0.3, "probability": 0.9, "planner": "all"}),
    ("similar", ("whole_20",), {"verify": False}),
    ("similar", ("half",), {"overlap": 0.9, "measure": "reverse_containment"}),
    ("similar", ("whole",), {"filters": {"kind": any_of("near", "half")}}),
    ("similar", ("nothing",), {}),
    ("similar", ("name",), {}),
    ("similar", ("empty",), {}),
    ("similar", ("whole",), {"overlap": 2.0}),
    ("similar", ("whole",), {"filters": {"unknown": 1}}),
    ("similar", (), {"text": words(0, 200), "overlap": 0.4}),
    ("similar", (), {"text": ""}),
    ("passages", ("half",), {}),
    ("passages", (), {"text": words(500, 560), "preset": "verbatim", "min_words": 10}),
    ("passages", (), {}),
    ("versions", ("paper/1",), {}),
    ("versions", (), {"text": DOCUMENTS[0]}),
    ("related", ("paper/3",), {}),
    ("related", (), {"text": DOCUMENTS[2], "name": "a text"}),
    ("nearest_duplicate", (words(0, 299),), {}),
    ("nearest_duplicate", (words(7000, 7100),), {}),
    ("resolve", ("far/name",), {"overlap": 0.5}),
    ("languages", (), {}),
    ("info", (), {}),
    ("delete", (["nothing"],), {}),
    ("read_kept_ids", (), {}),
]


def comparable(value: Any) -> Any:
    """Return a value without the name of the engine, which depends on the client."""
    if isinstance(value, SimdocError):
        return type(value), re.sub(r"http://[^/]*", "the engine", str(value))
    return replace(value, location="") if isinstance(value, StoreInfo) else value


def outcome(method: Callable[[], Any]) -> Any:
    """Return the result of a method, or its error."""
    try:
        return comparable(method())
    except SimdocError as error:
        return comparable(error)


async def outcome_async(coroutine: Awaitable[Any]) -> Any:
    """Return the result of an asynchronous method, or its error."""
    try:
        return comparable(await coroutine)
    except SimdocError as error:
        return comparable(error)


def public_methods(kind: type) -> dict[str, Any]:
    return {name: method for name, method in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def test_every_method_has_an_asynchronous_twin_with_the_same_signature() -> None:
    """A method that returns an iterator has an asynchronous iterator as its twin. Others are awaited."""
    methods, twins = public_methods(SimilaritySearch), public_methods(AsyncSimilaritySearch)

    assert {"aclose", "iterate"} == twins.keys() - methods.keys()
    assert {"close"} == methods.keys() - twins.keys()
    assert inspect.signature(open_store) == inspect.signature(open_store_async)
    del methods["close"]
    for name, method in methods.items():
        result = str(inspect.signature(method).return_annotation)
        iterates = inspect.isgeneratorfunction(method) or result.startswith("Iterator[")
        assert inspect.signature(method) == inspect.signature(twins[name])
        assert iterates != inspect.iscoroutinefunction(twins[name]), name
        assert twins[name].__doc__ == method.__doc__


def test_results_and_errors_are_the_same(indexed: StoreLocation) -> None:
    """All queries run concurrently."""
    with open_store(indexed.location) as store:
        search = SimilaritySearch(store)
        expected = [outcome(lambda: getattr(search, name)(*args, **kwargs)) for name, args, kwargs in CALLS]  # noqa: B023

    async def run() -> list[Any]:
        async with indexed.search() as search:
            coroutines = [getattr(search, name)(*args, **kwargs) for name, args, kwargs in CALLS]
            return list(await asyncio.gather(*map(outcome_async, coroutines)))

    for call, result, twin in zip(CALLS, expected, asyncio.run(run()), strict=True):
        assert repr(result) == repr(twin), call


def test_iterators_yield_the_same(indexed: StoreLocation) -> None:
    queries = ["whole", "nothing", "half_50", "name", *["copy"] * 4]
    with open_store(indexed.location) as store:
        search = SimilaritySearch(store)
        expected = [comparable(result) for result in search.similar_many(queries, size=3)]
        duplicates = search.duplicates(overlap=0.9)
        groups, pairs = list(duplicates.groups()), list(duplicates.pairs())

    async def run() -> None:
        async with indexed.search() as search:
            similar = [comparable(result) async for result in search.similar_many(queries, size=3)]
            duplicates = await search.duplicates(overlap=0.9)

            assert expected == similar
            assert groups == [group async for group in search.iterate(duplicates.groups())] != []
            assert pairs == [pair async for pair in search.iterate(duplicates.pairs())] != []

    asyncio.run(run())


def test_an_iterator_reads_only_the_queries_it_needs(indexed: StoreLocation) -> None:
    read: list[str] = []

    def queries() -> Iterator[str]:
        for _ in range(1000):
            read.append("whole")
            yield "whole"

    async def run() -> None:
        async with indexed.search(threads=1) as search:
            iterators = [search.similar_many(queries()) for _ in range(3)]
            for iterator in iterators:  # none of them occupies the only thread
                assert not isinstance(await iterator.__anext__(), SimdocError)
            assert len(read) < 200
            for iterator in iterators:
                await iterator.aclose()
            with pytest.raises(QuerySyntaxError, match="overlap"):
                search.similar_many(queries(), overlap=3.0)

    asyncio.run(run())


def test_documents_are_indexed_and_deleted(indexed: StoreLocation) -> None:
    """A callback runs in a thread, with the context variables of the caller."""
    user, calls = ContextVar("user", default="nobody"), []

    async def write() -> None:
        async with indexed.search() as search:
            user.set("ann")
            documents = (Document(f"new/{number}", words(0, 300 - number)) for number in range(30))
            report = await search.index(
                documents, on_written=lambda _: calls.append((user.get(), threading.current_thread()))
            )

            assert (30, False) == (report.added_count, report.has_failed)
            assert {"ann"} == {name for name, _ in calls}
            assert threading.main_thread() not in {thread for _, thread in calls}
            assert 33 == len(await search.similar("whole", size=50))
            assert 30 == await search.delete([f"new/{number}" for number in range(30)])
            assert 3 == len(await search.similar("whole", size=50))

    asyncio.run(write())


@engines
def test_duplicates_are_marked(indexed: StoreLocation) -> None:
    async def mark() -> None:
        async with indexed.search() as search:
            report = await search.mark_duplicates(await search.duplicates(overlap=0.9))

            assert report.marked_count > 0
            assert await search.read_kept_ids()

    asyncio.run(mark())


@pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"])
def test_the_code_in_the_docs_prints_what_its_comments_say(
    engine_url: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    url = request.getfixturevalue(f"{engine_url}_url")
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCS_PAGE.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    name = own_name()
    code = code.replace("http://localhost:9200", url).replace('"notes"', repr(name))
    if engine_url == "elasticsearch":
        code = code.replace("opensearchpy", "elasticsearch").replace("AsyncOpenSearch", "AsyncElasticsearch")
    exec(compile(code, DOCS_PAGE.name, "exec"), {})
    discard(url, name)

    assert ["['b']", "1", "1"] == capsys.readouterr().out.splitlines()
