"""Writes that arrive late, twice, or from several writers at once: an older write does not undo a newer one."""

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
from simdoc_search.stores.remote.bulk import IndexGoneError
from tests.support.engines import call, each_engine
from tests.support.http_server import Answer, Request, TempIndices, forward, serving
from tests.support.remote import in_index
from tests.support.stores import ids, put, record

Write = Callable[[Store], None]

pytestmark = pytest.mark.usefixtures("short_pauses")
engine_url = each_engine("opensearch", "elasticsearch")


@contextmanager
def held_back(temp_indices: TempIndices, name: str) -> Iterator[tuple[Any, list[Request]]]:
    """Open a store whose first write is held back, so that the store repeats it. Yield the store and the held write."""
    engine, held = forward(temp_indices.engine), list[Request]()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk") and not held:
            held.append(request)
            return None
        return engine(request)

    with serving(handle) as server, closing(open_store(f"{server.url}/{name}", create=True)) as store:
        yield store, held


def numbers(store: Store) -> dict[str, object]:
    """Return the number in the metadata of each document."""
    return {document.id: document.metadata.get("n") for document in store.scan()}


def delete(store: Any, *ids: str) -> None:
    """Delete documents."""
    with store.writer() as writer:
        writer.delete(ids)


@pytest.mark.parametrize(
    ("before", "write", "after", "expected"),
    [
        ([], lambda store: put(store, record("a", n=1)), lambda _: None, {"a": 1}),
        ([], lambda store: put(store, record("a", n=1)), lambda store: delete(store, "a"), {}),
        ([0], lambda store: put(store, record("a", n=1)), lambda store: put(store, record("a", n=2)), {"a": 2}),
        ([0], lambda store: delete(store, "a"), lambda store: put(store, record("a", n=2)), {"a": 2}),
    ],
    ids=["alone", "then deleted", "then replaced", "a deletion, then written"],
)
def test_a_write_that_arrives_late_changes_nothing(
    temp_indices: TempIndices, before: list[int], write: Write, after: Write, expected: dict[str, int]
) -> None:
    name = temp_indices.name()
    with closing(in_index(temp_indices, name, create=True)) as direct:
        put(direct, *(record("a", n=n) for n in before))
    with held_back(temp_indices, name) as (store, held):
        write(store)
        after(store)
        assert forward(temp_indices.engine)(held[0])
        call(temp_indices.engine, "POST", f"/{name}/_refresh")

        assert expected == numbers(store)


def test_our_indices_remember_deletions_for_ten_minutes(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    in_index(temp_indices, name, create=True).close()
    settings = call(temp_indices.engine, "GET", f"/{name}/_settings/index.gc_deletes")

    assert "10m" == settings[name]["settings"]["index"]["gc_deletes"]


def test_documents_with_any_version_are_replaced(temp_indices: TempIndices, monkeypatch: pytest.MonkeyPatch) -> None:
    name = temp_indices.name()
    with closing(in_index(temp_indices, name, create=True)) as store:
        temp_indices.put(name, "other", {"metadata": {"n": 1}})
        with monkeypatch.context() as ahead:
            ahead.setattr("simdoc_search.stores.remote.writer.time.time_ns", lambda: time.monotonic_ns() + 2 * 10**18)
            put(store, record("a", n=1), record("b", n=1), record("c", n=1))
            delete(store, "c")
        put(store, record("other", n=2), record("a", n=2), record("c", n=2))
        delete(store, "b")

        assert {"other": 2, "a": 2, "c": 2} == numbers(store)


def test_the_last_of_several_writers_wins_for_each_document(temp_indices: TempIndices) -> None:
    name, faults = temp_indices.name(), list[object]()
    with closing(in_index(temp_indices, name, create=True)) as store:

        def write(number: int) -> None:
            try:
                with closing(in_index(temp_indices, name)) as own:
                    for turn in range(6):
                        with own.writer() as writer:
                            writer.put(record(f"{id}", n=100 * number + turn) for id in range(40))
                            writer.delete(["39"])
                        faults.extend(writer.refused.items())
            except Exception as error:
                faults.append(error)

        threads = [threading.Thread(target=write, args=(number,)) for number in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = numbers(store)

        assert [] == faults
        assert {f"{id}" for id in range(39)} == left.keys()
        assert {5} == {int(str(number)) % 100 for number in left.values()}


# --- an index that is removed ---


@pytest.mark.parametrize("write", [lambda store: put(store, record("a")), lambda store: delete(store, "a")])
def test_a_write_to_an_index_that_the_engine_recreated_is_an_error(temp_indices: TempIndices, write: Write) -> None:
    name = temp_indices.name()
    engine, removed = forward(temp_indices.engine), list[str]()

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk") and not removed:
            removed.append(name)
            call(temp_indices.engine, "DELETE", f"/{name}")
        return engine(request)

    message = "was removed during a write"
    with (
        serving(handle) as server,
        closing(open_store(f"{server.url}/{name}", create=True)) as store,
        pytest.raises(IndexGoneError, match=message),
    ):
        write(store)


def test_a_removed_index_is_not_recreated(temp_indices: TempIndices) -> None:
    name = temp_indices.name()

    def remove_while_writing(store: Any) -> None:
        with store.writer() as writer:
            writer.put([record("a")])
            call(temp_indices.engine, "DELETE", f"/{name}")

    with (
        serving(forward(temp_indices.engine)) as server,
        closing(open_store(f"{server.url}/{name}", create=True)) as store,
    ):
        with pytest.raises(StoreNotFoundError, match="was removed; run the command again"):
            remove_while_writing(store)
        with pytest.raises(StoreNotFoundError, match="has no such index"):
            store.get("a")
        call(temp_indices.engine, "PUT", f"/{name}")
        with pytest.raises(StoreError, match=r"has no field|was replaced with another index"):
            put(store, record("a"))

        assert [] == [request.path for request in server.requests if request.path.startswith("/_bulk")]


def test_a_removed_alias_is_not_replaced_by_an_index(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    for name in names:
        in_index(temp_indices, name, create=True).close()
    alias, engine = temp_indices.alias(*names, write=names[0]), forward(temp_indices.engine)

    def handle(request: Request) -> Answer | None:
        if request.path.startswith("/_bulk"):
            actions = [{"remove": {"index": name, "alias": alias}} for name in names]
            call(temp_indices.engine, "POST", "/_aliases", {"actions": actions})
        return engine(request)

    with (
        serving(handle) as server,
        closing(open_store(f"{server.url}/{alias}")) as store,
        pytest.raises(IndexGoneError, match=f"{alias} was removed"),
    ):
        put(store, record("a"))

    assert alias not in call(temp_indices.engine, "GET", "/_all/_settings/index.uuid")


# --- behind an alias ---


def test_one_search_per_chunk_finds_the_indices_of_the_documents(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    for number, name in enumerate(names):
        with closing(in_index(temp_indices, name, create=True)) as store:
            put(store, record("twice", n=0), *(record(f"{number}-{n}", n=0) for n in range(50)))
    temp_indices.put(names[1], "routed", {"metadata": {"n": 0}}, routing="elsewhere")
    alias = temp_indices.alias(*names, write=names[0])
    with serving(forward(temp_indices.engine)) as server, closing(open_store(f"{server.url}/{alias}")) as store:
        with store.writer() as writer:
            for id in dict.fromkeys(ids(store)):
                writer.put([record(id, n=1)])
            server.requests.clear()
        searches = [request for request in server.requests if f"/{alias}/_search" in request.path]
        bulk = next(request for request in server.requests if request.path.startswith("/_bulk"))
        places = [line["index"] for line in bulk.lines()[::2]]

        assert {
            "twice": f"the document is in the indices {' and '.join(sorted(names))}; write to one of these indices"
        } == dict(writer.refused)
        assert 1 == len(searches)
        assert 103 == len(ids(store))
        assert {**dict.fromkeys(ids(store), 1), "twice": 0} == numbers(store)
        assert ["elsewhere"] == [place["routing"] for place in places if "routing" in place]
        assert set(names) == {place["_index"] for place in places}
