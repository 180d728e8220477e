"""Aliases, wildcards and lists of indices are one store. A document is replaced in the index that has it."""

from __future__ import annotations

import pytest

from simdoc_search import SimilaritySearch
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.settings import Settings
from tests.support.http_server import TempIndices
from tests.support.remote import ANY, in_index
from tests.support.stores import ids, put, ranked_candidates, record


def test_an_alias_is_one_store_that_replaces_documents_in_their_indices(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    first, second = (in_index(temp_indices, name, create=True) for name in names)
    put(first, record("a", n=1), record("b/doc.txt", n=1))
    put(second, record("c", n=1), record("d", n=1))
    both = in_index(temp_indices, temp_indices.alias(*names, write=names[1]))

    assert ["a", "b/doc.txt", "c", "d"] == ids(both) == [id for _, id in ranked_candidates(both, ANY)]
    assert (["b/doc.txt"], 4) == (both.ids_with_name("doc"), both.info().document_count)
    assert ["a", "b/doc.txt", "d"] == [hit.id for hit in SimilaritySearch(both).similar("c_50").hits]
    assert [1, 1] == [document.metadata["n"] for document in both.records(["a", "d", "unknown"])]
    with both.writer() as writer:
        writer.put([record("a", n=2), record("c", n=2), record("new", n=2)])
        writer.delete(["b/doc.txt", "unknown"])
        writer.delete(["d"])

    assert [("a", 2)] == [(document.id, document.metadata["n"]) for document in first.scan()]
    assert [("c", 2), ("new", 2)] == sorted((document.id, document.metadata["n"]) for document in second.scan())


def test_an_alias_without_a_write_index_refuses_new_documents(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    for name in names:
        put(in_index(temp_indices, name, create=True), record(name, n=1))
    store = in_index(temp_indices, temp_indices.alias(*names))
    with store.writer() as writer:
        writer.put([record(names[0], n=2), record("new")])

    assert "no write index is defined for alias" in writer.refused["new"]
    assert {names[0]: 2, names[1]: 1} == {document.id: document.metadata["n"] for document in store.scan()}


def test_an_alias_with_a_filter_shows_only_the_matching_documents(temp_indices: TempIndices) -> None:
    name = temp_indices.name()
    put(
        in_index(temp_indices, name, create=True),
        *(record(id, team=team) for id, team in (("mine", "a"), ("yours", "b"))),
    )
    store = in_index(temp_indices, temp_indices.alias(name, filter={"term": {"simdoc.facts": "team\0a"}}))

    assert ["mine"] == ids(store) == [id for _, id in ranked_candidates(store, ANY)]
    assert store.get("yours") is None


def test_wildcards_and_lists_name_several_indices(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    for number, name in enumerate(names):
        put(in_index(temp_indices, name, create=True), record(str(number)))

    assert ["0", "1"] == ids(in_index(temp_indices, ",".join(names)))
    assert ["0"] == ids(in_index(temp_indices, names[0][:-4] + "*"))
    with pytest.raises(StoreNotFoundError, match="there is no index"):
        in_index(temp_indices, names[0] + "-none*")
    with pytest.raises(StoreError, match="Invalid index name"):
        in_index(temp_indices, names[0] + "-none*", create=True)


def test_indices_with_different_settings_cannot_be_opened_together(temp_indices: TempIndices) -> None:
    names = [temp_indices.name(), temp_indices.name()]
    both = [Settings(sketch=MinHash(bucket_count=count), indexes_word_pairs=False) for count in (512, 256)]
    for name, settings in zip(names, both, strict=True):
        in_index(temp_indices, name, settings=settings, create=True)
    with pytest.raises(FormatMismatchError, match="different settings; query each index separately") as caught:
        in_index(temp_indices, temp_indices.alias(*names))

    stored = [settings.to_dict() for settings in both]
    assert [caught.value.found, caught.value.expected] in (stored, stored[::-1])
