"""Upgrading a store on disk with sentences."""

from __future__ import annotations

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.stores.upgrade import upgrade_store
from tests.support.families import library
from tests.support.stores import NewStore


def test_an_upgraded_store_finds_the_same_versions_by_sentences(new_store: NewStore) -> None:
    """A second upgrade does nothing."""
    with new_store() as store:
        if (location := store.info().location) == ":memory:":
            return
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in library().items())
        before = search.versions("2/first.txt")
    done: list[int] = []
    upgrade_store(location, ["sentences"], progress=done.append)
    upgrade_store(location, ["sentences"], progress=done.append)
    with open_store(location) as store:
        after = SimilaritySearch(store).versions("2/first.txt")

    assert len(library()) == sum(done)
    assert ("passages", "sentences") == (before.candidate_source, after.candidate_source)
    assert [(hit.id, hit.score) for hit in before.hits] == [(hit.id, hit.score) for hit in after.hits]
