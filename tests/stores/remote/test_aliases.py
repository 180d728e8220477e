"""Aliases, wildcards and lists of indices are read as one store, and a document is replaced where it lies."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search import SimilaritySearch
from simdoc_search.errors import FormatMismatchError, SimdocError, StoreError, StoreNotFoundError
from simdoc_search.sketch.settings import Settings
from tests.support.http_server import Indices
from tests.support.remote import ANY, in_index
from tests.support.stores import found, ids, put, record


@pytest.fixture
def two(made: Indices) -> tuple[Any, Any, Any]:
    """Stores in two indices, each with two documents, and in an alias of both that writes into the second."""
    names = [made.name(), made.name()]
    first, second = (in_index(made, name, create=True) for name in names)
    put(first, record("a", n=1), record("b/doc.txt", n=1))
    put(second, record("c", n=1), record("d", n=1))
    return first, second, in_index(made, made.alias(*names, write=names[1]))


def test_an_alias_is_read_as_one_store(two: tuple[Any, Any, Any]) -> None:
    both = two[2]

    assert ["a", "b/doc.txt", "c", "d"] == ids(both) == [id for _, id in found(both, ANY)]
    assert (["b/doc.txt"], 4) == (both.named("doc"), both.info().documents)
    assert ["a", "b/doc.txt", "d"] == [hit.id for hit in SimilaritySearch(both).similar("c_50").hits]
    assert [1, 1] == [each.metadata["n"] for each in both.records(["a", "d", "unknown"])]


def test_a_replaced_document_stays_in_its_index(two: tuple[Any, Any, Any]) -> None:
    first, second, both = two
    with both.writer() as writer:
        writer.put([record("a", n=2), record("c", n=2), record("new", n=2)])
        writer.delete(["b/doc.txt", "unknown"])
        writer.delete(["d"])

    assert [("a", 2)] == [(each.id, each.metadata["n"]) for each in first.scan()]
    assert [("c", 2), ("new", 2)] == sorted((each.id, each.metadata["n"]) for each in second.scan())


def test_an_alias_that_nothing_can_be_written_into_says_so(made: Indices) -> None:
    names = [made.name(), made.name()]
    put(in_index(made, names[0], create=True), record("a", n=1))
    in_index(made, names[1], create=True)
    store = in_index(made, made.alias(*names))
    with store.writer() as writer:
        writer.put([record("a", n=2), record("new")])
    assert "no write index is defined for alias" in writer.failed["new"]

    assert [("a", 2)] == [(each.id, each.metadata["n"]) for each in store.scan()]


def test_an_id_in_two_indices_is_refused(two: tuple[Any, Any, Any]) -> None:
    first, second, both = two
    put(second, record("a", n=2))
    for use in (lambda: both.get("a"), lambda: SimilaritySearch(both).similar("a")):
        with pytest.raises(SimdocError, match=r"'a' is in both \S+ and \S+; name one of the indices") as caught:
            use()
        assert [True, True] == [store.index in str(caught.value) for store in (first, second)]

    assert "c" == both.get("c").id
    assert (5, ["a", "a"]) == (both.candidates(ANY).total, [id for _, id in found(both, ANY)][:2])


def test_an_alias_with_a_filter_shows_what_it_lets_through(made: Indices) -> None:
    name = made.name()
    put(
        in_index(made, name, create=True), record("mine", team="a"), record("yours", team="b"), record("more", team="a")
    )
    team = made.alias(name, filter={"term": {"simdoc.facts": "team\0a"}})
    store = in_index(made, team)

    assert ["mine", "more"] == ids(store) == [id for _, id in found(store, ANY)]
    assert store.get("yours") is None


def test_names_with_wildcards_and_lists(made: Indices) -> None:
    names = [made.name(), made.name()]
    for number, name in enumerate(names):
        put(in_index(made, name, create=True), record(str(number)))
    assert ["0", "1"] == ids(in_index(made, ",".join(names)))
    assert ["0"] == ids(in_index(made, names[0][:-4] + "*"))
    with pytest.raises(StoreNotFoundError, match="there is no index"):
        in_index(made, names[0] + "-none*")

    with pytest.raises(StoreError, match="Invalid index name"):
        in_index(made, names[0] + "-none*", create=True)


def test_indices_of_different_settings_are_asked_apart(made: Indices) -> None:
    names = [made.name(), made.name()]
    for name, length in zip(names, (4, 5), strict=True):
        in_index(made, name, settings=Settings(token_length=length), create=True)
    with pytest.raises(FormatMismatchError, match="different settings; ask them apart") as caught:
        in_index(made, made.alias(*names))

    both = [Settings(token_length=length, words=False).to_dict() for length in (4, 5)]
    assert [caught.value.found, caught.value.expected] in (both, both[::-1])
