"""Documents are removed only if conditions hold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import StoreLockedError
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import REMOVED_AND_RESTORED, RemovalCondition
from simdoc_search.stores.remote import updates
from tests.support.stores import NewStore, comparable_values, ids, put, record


def test_only_documents_with_the_expected_text_are_removed(store: Store) -> None:
    """The other documents are returned with the reasons."""
    put(store, record("a"), record("b"), record("c"))
    keys = {document.id: document.key for document in store.scan()}
    elsewhere = DocumentKey("c", "another", None)
    hashes = {keys["a"]: "hash of a", keys["b"]: "hash of what b was", elsewhere: "hash of c", DocumentKey("d"): ""}

    left = store.remove({key: RemovalCondition(text_hash=text_hash) for key, text_hash in hashes.items()})

    assert ["b", "c"] == ids(store)
    assert {
        keys["b"]: "the document has changed since the plan was written",
        elsewhere: "the document is not in the index",
        DocumentKey("d"): "the document is not in the index",
    } == left
    assert {} == store.remove({keys["b"]: RemovalCondition(text_hash="hash of b")})
    assert ["c"] == ids(store)


def test_a_document_is_removed_only_if_the_kept_one_is_unchanged(store: Store) -> None:
    """One kept document may be the condition for several removals."""
    put(store, *map(record, "abcd"))
    keys = {document.id: document.key for document in store.scan()}
    hashes = {key.id: current.content for key, current in store.current_hashes(keys.values()).items()}
    removals = {
        keys["a"]: RemovalCondition(hashes["a"], kept_key_and_hash=(keys["c"], hashes["c"])),
        keys["b"]: RemovalCondition(hashes["b"], kept_key_and_hash=(keys["c"], "hash of what c was")),
        keys["d"]: RemovalCondition(hashes["d"], kept_key_and_hash=(DocumentKey("e"), hashes["d"])),
    }
    left = store.remove(removals)

    reason = "the document that is kept instead has changed or no longer exists"
    assert {keys["b"]: reason, keys["d"]: reason} == left
    assert ["b", "c", "d"] == ids(store)


def test_two_removals_at_once_never_remove_both_documents(new_store: NewStore) -> None:
    """Each removal keeps the documents that the other one removes."""
    store = new_store()
    pairs = [(f"a{number}", f"b{number}") for number in range(150)]
    put(store, *(record(id) for pair in pairs for id in pair))
    keys = {document.id: document.key for document in store.scan()}
    hashes = {key.id: current.content for key, current in store.current_hashes(keys.values()).items()}
    ready = Barrier(2)

    def remove(run: int) -> None:
        wanted = {
            keys[pair[run]]: RemovalCondition(
                hashes[pair[run]], kept_key_and_hash=(keys[pair[1 - run]], hashes[pair[1 - run]])
            )
            for pair in pairs
        }
        ready.wait()
        try:
            store.remove(wanted)
        except StoreLockedError:
            return

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(remove, range(2)))

    there = set(ids(store))
    assert [] == [pair for pair in pairs if there.isdisjoint(pair)]


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine_store(request: pytest.FixtureRequest) -> Store:
    """An empty index."""
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker()


def test_a_removed_document_is_restored_if_the_kept_one_vanishes(
    engine_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(engine_store, record("a", text="its text", author="me"), record("b"))
    keys = {document.id: document.key for document in engine_store.scan()}
    before = comparable_values(engine_store.get("a", load={"text"}))
    remove = updates._remove

    def remove_and_delete_the_kept(*arguments: Any) -> Any:
        removed = remove(*arguments)
        with engine_store.writer() as writer:
            writer.delete(["b"])
        return removed

    monkeypatch.setattr(updates, "_remove", remove_and_delete_the_kept)
    hashes = engine_store.current_hashes(keys.values())
    kept = (keys["b"], hashes[keys["b"]].content)
    left = engine_store.remove({keys["a"]: RemovalCondition(hashes[keys["a"]].content, kept_key_and_hash=kept)})

    assert {keys["a"]: REMOVED_AND_RESTORED} == left
    assert before == comparable_values(engine_store.get("a", load={"text"}))
