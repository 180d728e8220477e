"""Documents leave a store at their places, and only with the text that they were seen with."""

from __future__ import annotations

from simdoc_search.documents import Place
from simdoc_search.stores.base import Store
from tests.support.stores import ids, put, record


def test_documents_with_the_text_that_is_known_are_removed(store: Store) -> None:
    """Another text, another place and what is not there are left, each with its reason."""
    put(store, record("a"), record("b"), record("c"))
    places = {each.id: each.place for each in store.scan()}
    elsewhere = Place("c", "another", None)
    hashes = {places["a"]: "hash of a", places["b"]: "hash of what b was", elsewhere: "hash of c", Place("d"): ""}

    left = store.remove(hashes)

    assert ["b", "c"] == ids(store)
    assert {
        places["b"]: "its text has changed since the plan was written",
        elsewhere: "it is not in the store",
        Place("d"): "it is not in the store",
    } == left
    assert {} == store.remove({places["b"]: "hash of b"})
    assert ["c"] == ids(store)
