"""Writes that come late, twice, or from several writers at once: nothing that is older undoes what is newer."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from simdoc_search import open_store
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote import retry
from simdoc_search.stores.remote.bulk import IndexGoneError
from tests.support.engines import call
from tests.support.http_server import Answer, Indices, Request, Server, forward, indices, serving
from tests.support.stores import ids, put, record

Write = Callable[[Store], None]


@pytest.fixture(params=["opensearch", "elasticsearch"])
def made(request: pytest.FixtureRequest) -> Iterator[Indices]:
    """Indices of a test's own in each engine."""
    with indices(request.getfixturevalue(f"{request.param}_url")) as them:
        yield them


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is lost is sent again at once."""
    monkeypatch.setattr(retry, "FIRST_PAUSE", 0.001)
    monkeypatch.setattr(retry, "LONGEST_PAUSE", 0.01)


@contextmanager
def held_back(made: Indices, name: str) -> Iterator[tuple[Any, list[Request]]]:
    """A store of which the first write is held back on its way, so that it is sent again; and what is held."""
    passing, held = forward(made.engine), list[Request]()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk") and not held:
            held.append(request)
            return None
        return passing(request)

    with serving(handle) as server, closing(open_store(f"{server.url}/{name}", create=True)) as store:
        yield store, held


def numbers(store: Store) -> dict[str, object]:
    """What is in the store: id to the number in its metadata."""
    return {each.id: each.metadata.get("n") for each in store.scan()}


def delete(store: Any, *ids: str) -> None:
    """Delete documents."""
    with store.writer() as writing:
        writing.delete(ids)


@pytest.mark.parametrize(
    ("before", "then", "left"),
    [
        (None, lambda _: None, {"a": 1}),
        (None, lambda store: put(store, record("a", n=2)), {"a": 2}),
        (None, lambda store: delete(store, "a"), {}),
        (0, lambda store: put(store, record("a", n=2)), {"a": 2}),
        (0, lambda store: delete(store, "a"), {}),
    ],
    ids=["nothing", "replaced", "deleted", "replaced again", "an old one deleted"],
)
def test_a_write_that_arrives_late_undoes_nothing(
    made: Indices, before: int | None, then: Write, left: dict[str, int]
) -> None:
    name = made.name()
    if before is not None:
        with closing(open_store(f"{made.engine}/{name}", create=True)) as direct:
            put(direct, record("a", n=before))
    with held_back(made, name) as (store, held):
        put(store, record("a", n=1))
        then(store)
        (late,) = held
        assert forward(made.engine)(late)
        call(made.engine, "POST", f"/{name}/_refresh")

        assert left == numbers(store)


def test_a_deletion_that_arrives_late_deletes_nothing_new(made: Indices) -> None:
    name = made.name()
    with closing(open_store(f"{made.engine}/{name}", create=True)) as direct:
        put(direct, record("a", n=1), record("b", n=1))
    with held_back(made, name) as (store, held):
        delete(store, "a", "b")
        put(store, record("a", n=2))
        assert forward(made.engine)(held[0])
        call(made.engine, "POST", f"/{name}/_refresh")

        assert {"a": 2} == numbers(store)


def test_a_deletion_is_remembered_for_ten_minutes(made: Indices) -> None:
    name = made.name()
    with closing(open_store(f"{made.engine}/{name}", create=True)):
        settings = call(made.engine, "GET", f"/{name}/_settings/index.gc_deletes")

    assert "10m" == settings[name]["settings"]["index"]["gc_deletes"]


def test_documents_of_any_version_are_replaced(made: Indices, monkeypatch: pytest.MonkeyPatch) -> None:
    name = made.name()
    with closing(open_store(f"{made.engine}/{name}", create=True)) as store:
        made.put(name, "other", {"metadata": {"n": 1}})
        with monkeypatch.context() as ahead:
            ahead.setattr("simdoc_search.stores.remote.writer.time.time_ns", lambda: time.monotonic_ns() + 2 * 10**18)
            put(store, record("a", n=1), record("b", n=1), record("c", n=1))
            delete(store, "c")
        put(store, record("other", n=2), record("a", n=2), record("c", n=2))
        delete(store, "b")

        assert {"other": 2, "a": 2, "c": 2} == numbers(store)


def test_several_writers_leave_the_last_write_of_each_document(made: Indices) -> None:
    name, faults = made.name(), list[object]()
    with closing(open_store(f"{made.engine}/{name}", create=True)) as store:

        def write(number: int) -> None:
            try:
                with closing(open_store(f"{made.engine}/{name}")) as own:
                    for turn in range(6):
                        with own.writer() as writing:
                            writing.put(record(f"{each}", n=100 * number + turn) for each in range(40))
                            writing.delete(["39"])
                        faults.extend(writing.failed.items())
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        left = numbers(store)

        assert [] == faults
        assert {f"{each}" for each in range(39)} == left.keys()
        assert {5} == {int(str(number)) % 100 for number in left.values()}


# --- an index that is removed ---


@contextmanager
def removed_before_bulk(made: Indices, name: str, **options: Any) -> Iterator[tuple[Any, Server]]:
    """A store whose index is removed after it was looked for, just before the first write reaches the engine."""
    passing, removed = forward(made.engine), list[str]()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk") and not removed:
            removed.append(name)
            call(made.engine, "DELETE", f"/{name}")
        return passing(request)

    with serving(handle) as server, closing(open_store(f"{server.url}/{name}", create=True, **options)) as store:
        yield store, server


@pytest.mark.parametrize("write", [lambda store: put(store, record("a")), lambda store: delete(store, "a")])
def test_what_was_written_into_an_index_made_anew_is_an_error(made: Indices, write: Write) -> None:
    name = made.name()
    with removed_before_bulk(made, name) as (store, _), pytest.raises(IndexGoneError) as caught:
        write(store)

    assert "was removed while it was written; if the engine has made it anew, remove that" in str(caught.value)


def test_an_index_that_is_gone_is_not_made_anew(made: Indices) -> None:
    name = made.name()

    def remove_while_writing(store: Any) -> None:
        with store.writer() as writing:
            writing.put([record("a")])
            call(made.engine, "DELETE", f"/{name}")

    with serving(forward(made.engine)) as server, closing(open_store(f"{server.url}/{name}", create=True)) as store:
        with pytest.raises(StoreNotFoundError, match="was removed meanwhile; run it again"):
            remove_while_writing(store)
        call(made.engine, "PUT", f"/{name}")
        with pytest.raises(StoreError, match=r"has no field|is another one than was opened"):
            put(store, record("a"))

        assert [] == [each.path for each in server.requests if each.path.startswith("/_bulk")]


def test_an_alias_that_vanishes_is_not_made_an_index(made: Indices) -> None:
    names = [made.name(), made.name()]
    for each in names:
        with closing(open_store(f"{made.engine}/{each}", create=True)):
            pass
    alias, passing = made.alias(*names, write=names[0]), forward(made.engine)

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk"):
            actions = [{"remove": {"index": each, "alias": alias}} for each in names]
            call(made.engine, "POST", "/_aliases", {"actions": actions})
        return passing(request)

    with (
        serving(handle) as server,
        closing(open_store(f"{server.url}/{alias}")) as store,
        pytest.raises(IndexGoneError, match=f"{alias} was removed meanwhile"),
    ):
        put(store, record("a"))

    assert alias not in call(made.engine, "GET", "/_all/_settings/index.uuid")


# --- behind an alias ---


def test_places_are_looked_for_once_for_each_chunk(made: Indices) -> None:
    names = [made.name(), made.name()]
    for number, each in enumerate(names):
        with closing(open_store(f"{made.engine}/{each}", create=True)) as store:
            put(store, *(record(f"{number}-{n}", n=0) for n in range(50)))
    made.put(names[1], "routed", {"metadata": {"n": 0}}, routing="elsewhere")
    alias = made.alias(*names, write=names[0])
    with serving(forward(made.engine)) as server, closing(open_store(f"{server.url}/{alias}")) as store:
        with store.writer() as writing:
            for each in ids(store):
                writing.put([record(each, n=1)])
            server.requests.clear()
        searches = [each for each in server.requests if f"/{alias}/_search" in each.path]
        bulk = next(each for each in server.requests if each.path.startswith("/_bulk"))
        places = [line["index"] for line in bulk.lines()[::2]]

        assert (1, {1}) == (len(searches), set(numbers(store).values()))
        assert 101 == len(ids(store))
        assert ["elsewhere"] == [each["routing"] for each in places if "routing" in each]
        assert set(names) == {each["_index"] for each in places}


def test_a_document_in_two_indices_is_refused_alone(made: Indices) -> None:
    names = [made.name(), made.name()]
    for each in names:
        with closing(open_store(f"{made.engine}/{each}", create=True)) as store:
            put(store, record("twice", n=0), record(each, n=0))
    with closing(open_store(f"{made.engine}/{made.alias(*names, write=names[0])}")) as store:
        with store.writer() as writing:
            writing.put([record("twice", n=1), *(record(each, n=1) for each in names)])
        found = [(each.id, each.metadata["n"]) for each in store.scan()]

    assert {"twice": f"it is in {' and '.join(sorted(names))}; name one of them"} == dict(writing.failed)
    assert sorted([("twice", 0), ("twice", 0), *((each, 1) for each in names)]) == sorted(found)
