"""Questions from an event loop have the answers of `SimilaritySearch`, and are asked in the same words."""

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
from tests.support.asynchronous import Place, place_of
from tests.support.cli import words
from tests.support.engines import discard, own_name
from tests.versions.paper import DOCUMENTS


@pytest.fixture(params=["folder", "opensearch", "elasticsearch"])
def indexed(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    """An index of the documents in each kind of store."""
    with place_of(request.param, request, tmp_path) as place:
        yield place


engines = pytest.mark.parametrize("indexed", ["opensearch", "elasticsearch"], indirect=True)
DOCUMENT = Path(__file__).parents[2] / "docs" / "async.md"
QUESTIONS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("similar", ("whole",), {}),
    ("similar", ("whole_20",), {"include_self": True, "size": 2}),
    ("similar", ("whole_20_80",), {"fields": ["size", "kind"]}),
    ("similar", ("whole",), {"overlap": 0.3, "probability": 0.9, "planner": "all"}),
    ("similar", ("whole_20",), {"verify": False}),
    ("similar", ("whole",), {"overlap": 0.3, "measure": "containment"}),
    ("similar", ("half",), {"overlap": 0.9, "measure": "contained"}),
    ("similar", ("whole",), {"filters": {"kind": any_of("near", "half")}}),
    ("similar", ("nothing",), {}),
    ("similar", ("name",), {}),
    ("similar", ("empty",), {}),
    ("similar", ("whole",), {"overlap": 2.0}),
    ("similar", ("whole",), {"filters": {"unknown": 1}}),
    ("similar", ("whole",), {"measure": "cosine"}),
    ("similar_to_text", (words(0, 200),), {"overlap": 0.4}),
    ("similar_to_text", ("",), {}),
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
    ("tokens", ("whole",), {}),
    ("tokens", ("nothing",), {}),
    ("languages", (), {}),
    ("info", (), {}),
    ("delete", (["nothing"],), {}),
    ("kept_by_marks", (), {}),
]


def comparable(value: Any) -> Any:
    """A value that can be compared with what another client gave: the engine has another name there."""
    if isinstance(value, SimdocError):
        return type(value), re.sub(r"http://[^/]*", "the engine", str(value))
    return replace(value, location="") if isinstance(value, StoreInfo) else value


def outcome(ask: Callable[[], Any]) -> Any:
    """What a method gives, or its error."""
    try:
        return comparable(ask())
    except SimdocError as raised:
        return comparable(raised)


async def outcome_async(asked: Awaitable[Any]) -> Any:
    """The same for an asynchronous one."""
    try:
        return comparable(await asked)
    except SimdocError as raised:
        return comparable(raised)


def public_methods(kind: type) -> dict[str, Any]:
    """The methods of a class that have a name without an underscore."""
    return {name: each for name, each in inspect.getmembers(kind, inspect.isfunction) if name[0] != "_"}


def test_each_method_has_its_twin() -> None:
    """Of the same name and signature; what gives an iterator gives an asynchronous one, all else is awaited."""
    theirs, ours = public_methods(SimilaritySearch), public_methods(AsyncSimilaritySearch)

    assert {"aclose", "each"} == ours.keys() - theirs.keys()
    assert {"close"} == theirs.keys() - ours.keys()
    del theirs["close"]
    for name, method in theirs.items():
        iterates = (
            inspect.isgeneratorfunction(method) or str(inspect.signature(method).return_annotation)[:9] == "Iterator["
        )
        assert inspect.signature(method) == inspect.signature(ours[name])
        assert iterates != inspect.iscoroutinefunction(ours[name]), name
        assert ours[name].__doc__ == method.__doc__


def test_the_store_is_opened_by_the_same_arguments() -> None:
    """`open_store_async` has the signature of `open_store`."""
    assert inspect.signature(open_store) == inspect.signature(open_store_async)


def test_answers_are_the_same(indexed: Place) -> None:
    """All questions to a store, and the errors among them, asked at once by an asynchronous client."""
    with open_store(indexed.place) as store:
        search = SimilaritySearch(store)
        expected = [outcome(lambda: getattr(search, name)(*args, **kwargs)) for name, args, kwargs in QUESTIONS]  # noqa: B023

    async def ask() -> list[Any]:
        async with indexed.search() as search:
            asked = [getattr(search, name)(*args, **kwargs) for name, args, kwargs in QUESTIONS]
            return list(await asyncio.gather(*map(outcome_async, asked)))

    for (name, _, options), theirs, ours in zip(QUESTIONS, expected, asyncio.run(ask()), strict=True):
        assert repr(theirs) == repr(ours), (name, options)


def test_iterators_give_the_same(indexed: Place) -> None:
    """Many queries, one of them unknown; and the pairs of duplicates, which are verified as they are read."""
    queries = ["whole", "nothing", "half_50", "name", *["copy"] * 10]
    with open_store(indexed.place) as store:
        search = SimilaritySearch(store)
        expected = [
            [comparable(each) for each in found]
            for found in (search.similar_many(queries, size=3), search.passages_of_many(queries))
        ]
        duplicates = list(search.duplicates(overlap=0.9).groups())
        pairs = list(search.duplicates(overlap=0.9).pairs())

    async def ask() -> None:
        async with indexed.search() as search:
            similar = [comparable(each) async for each in search.similar_many(queries, size=3)]
            passages = [comparable(each) async for each in search.passages_of_many(queries)]
            found = await search.duplicates(overlap=0.9)

            assert expected == [similar, passages]
            assert duplicates == list(found.groups()) != []
            assert pairs == [each async for each in search.each(found.pairs())] != []

    asyncio.run(ask())


def test_an_iterator_reads_no_more_queries_than_it_needs(indexed: Place) -> None:
    """Answers that nobody asks for are not made; one that is left early leaves nothing behind."""
    read: list[str] = []

    def queries() -> Iterator[str]:
        for _ in range(1000):
            read.append("whole")
            yield "whole"

    async def ask() -> None:
        async with indexed.search(threads=1) as search:
            iterators = [search.similar_many(queries()) for _ in range(3)]
            for each in iterators:  # none holds the only thread
                assert not isinstance(await each.__anext__(), SimdocError)
            assert len(read) < 200
            for each in iterators:
                await each.aclose()
            with pytest.raises(QuerySyntaxError, match="overlap"):
                search.similar_many(queries(), overlap=3.0)

    asyncio.run(ask())


def test_documents_are_written(request: pytest.FixtureRequest, indexed: Place) -> None:
    """Indexed, found and deleted; what is handed in is called in a thread, with the caller's context variables."""
    user, seen = ContextVar("user", default="nobody"), []

    async def write() -> None:
        async with indexed.search() as search:
            user.set("ann")
            more = (Document(f"new/{number}", words(0, 300 - number)) for number in range(30))
            report = await search.index(more, written=lambda _: seen.append((user.get(), threading.current_thread())))

            assert (30, False) == (report.indexed, report.failed)
            assert {"ann"} == {name for name, _ in seen}
            assert threading.main_thread() not in {thread for _, thread in seen}
            assert 33 == len((await search.similar("whole", size=50)).hits)
            assert 30 == await search.delete([f"new/{number}" for number in range(30)])
            assert 3 == len((await search.similar("whole", size=50)).hits)

    asyncio.run(write())


@engines
def test_marks_are_written(indexed: Place) -> None:
    """Of duplicates that were found by the same search."""

    async def mark() -> None:
        async with indexed.search() as search:
            report = await search.mark_duplicates(await search.duplicates(overlap=0.9))

            assert report.set > 0
            assert await search.kept_by_marks()

    asyncio.run(mark())


@pytest.mark.slow
def test_a_hundred_ask_at_once(indexed: Place) -> None:
    """With few threads each waits for its turn, and all have their answers."""

    async def ask() -> None:
        async with indexed.search(threads=4) as search:
            results = await asyncio.gather(*(search.similar("whole_20", size=1 + number % 3) for number in range(100)))

            assert [1 + number % 3 for number in range(100)] == [len(each.hits) for each in results]

    asyncio.run(ask())


@pytest.mark.parametrize("engine_url", ["opensearch", "elasticsearch"])
def test_the_code_of_the_document_runs(
    engine_url: str, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints what its comments say, with the client of either engine."""
    url = request.getfixturevalue(f"{engine_url}_url")
    (code,) = re.findall(r"^```python\n(.*?)^```$", DOCUMENT.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    name = own_name()
    code = code.replace("http://localhost:9200", url).replace('"notes"', repr(name))
    if engine_url == "elasticsearch":
        code = code.replace("opensearchpy", "elasticsearch").replace("AsyncOpenSearch", "AsyncElasticsearch")
    exec(compile(code, DOCUMENT.name, "exec"), {})
    discard(url, name)

    assert ["['b']", "1", "1"] == capsys.readouterr().out.splitlines()
