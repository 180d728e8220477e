"""The index of an application: queries use its fields, and we never write documents to it."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest
from opensearchpy import OpenSearch, helpers

from simdoc_search import Document, SimilaritySearch, any_of, none_of, open_store
from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.errors import (
    NoFingerprintError,
    QuerySyntaxError,
    SimdocError,
    StoreError,
    UnknownDocumentError,
    UnknownFieldError,
)
from simdoc_search.search.filter_check import find_unknown_column
from simdoc_search.stores.upgrade import upgrade_store
from tests.support.http_server import TempIndices, indices
from tests.support.remote import in_index, mapping, ours
from tests.support.stores import ids
from tests.support.texts import text


@pytest.fixture(scope="module")
def search(opensearch_url: str) -> Iterator[SimilaritySearch]:
    """A search in an index that an application has filled with texts, keywords, numbers and dates."""
    multi_fields = {"words": {"type": "text"}, "raw": {"type": "keyword"}}
    fields: dict[str, Any] = {"title": {"type": "text", "fields": multi_fields}, "note": {"type": "text"}}
    fields |= {"team": {"type": "keyword"}, "year": {"type": "integer"}, "day": {"type": "date"}}
    body, other = text(random.Random(1), 100), text(random.Random(2), 100)
    common = {"title": "Two Words", "note": "red green", "team": "legal", "year": 2020, "day": "2020-02-02"}
    written = [
        {"_id": "source_1", "text": body, **common, "origin": {"site": "north"}},
        {"_id": "near", "text": body + " and more", **common, "origin": {"site": "south"}, "labels": [{"key": "new"}]},
        {"_id": "far", "text": body[: len(body) // 2] + other, **common, "team": "sales", "title": "Two", "year": 2021},
        {"_id": "empty", "text": "...", **common},
        {"_id": "unread", **common},
    ]
    with indices(opensearch_url) as temp_indices, closing(OpenSearch([opensearch_url])) as client:
        fields["labels"] = {"type": "nested", "properties": {"key": {"type": "keyword"}}}
        site = {"type": "keyword", "ignore_above": 10}
        name = temp_indices.make(mapping(**fields, origin={"properties": {"site": site}}))
        helpers.bulk(
            client, fingerprint_actions([{"_index": name, **document} for document in written], "text"), refresh=True
        )
        yield SimilaritySearch(in_index(temp_indices, name))


@pytest.mark.parametrize(
    ("filters", "hits"),
    [
        (None, ["near", "far"]),
        ({"team": "legal"}, ["near"]),
        ({"title": "Two Words"}, ["near"]),
        ({"title.raw": "Two Words"}, ["near"]),
        ({"year": "2021"}, ["far"]),
        ({"year": 2020, "team": ["legal"]}, ["near"]),
        ({"team": any_of("sales", "none"), "year": [2020, 2021]}, ["far"]),
        ([{"title": ["Two", "Two Words"]}, {"title": "Two"}], ["far"]),
        ([{"term": {"team": "legal"}}, {"year": [2020, 2021]}], ["near"]),
        ({"team": []}, []),
        ({"title": none_of("Two", "Three")}, ["near"]),
        ({"day": "2020-02-02", "origin.site": "south"}, ["near"]),
        ({"labels.key": "new"}, ["near"]),
        ({"labels.key": ["old", "none"]}, []),
        ({"labels.key": none_of("new")}, ["far"]),
        ([{"term": {"unknown": "x"}}], []),
        ([{"range": {"year": {"gte": 2021}}}], ["far"]),
        ([{"match": {"title": "words"}}, {"bool": {"must_not": {"term": {"team": "sales"}}}}], ["near"]),
    ],
)
def test_filters_compare_the_fields_of_an_application(search: SimilaritySearch, filters: Any, hits: list[str]) -> None:
    for query in ("source_1", '"source_1"_20_80'):
        assert hits == [hit.id for hit in search.similar(query, filters=filters).hits]


@pytest.mark.parametrize("field", ["note", "title.words"])
@pytest.mark.parametrize("value", ["red green", "red", ["red"], none_of("red green")])
def test_a_filter_by_an_analysed_text_is_refused(search: SimilaritySearch, field: str, value: Any) -> None:
    """It would find nothing, or exclude nothing. A clause of the engine can search for words."""
    fields = re.escape("(day, labels.key, origin.site, team, text, ...)")  # not `note`
    with pytest.raises(QuerySyntaxError, match=f"'{field}' has the type text and no keyword sub-field; .* {fields}"):
        search.similar("source_1", filters={field: value})

    assert ["near", "far"] == [
        hit.id for hit in search.similar("source_1", filters=[{"match_phrase": {"note": "red green"}}]).hits
    ]


@pytest.mark.parametrize("make_filter", [any_of, none_of])
def test_a_value_that_is_too_long_for_its_field_is_refused(search: SimilaritySearch, make_filter: Any) -> None:
    """It would find nothing, or exclude nothing."""
    search.similar("source_1", filters={"origin.site": make_filter("a" * 10)})
    with pytest.raises(QuerySyntaxError, match=r"the field origin\.site indexes only values of at most 10 characters"):
        search.similar("source_1", filters={"origin.site": make_filter("south", "a" * 11)})


def test_an_unknown_id_names_the_longest_id_that_is_found(search: SimilaritySearch) -> None:
    with closing(open_store(search.store.location, id_field="origin.site")) as store:
        assert store.get("south") is not None
        with pytest.raises(
            UnknownDocumentError, match=r"field origin\.site, which indexes only ids of at most 10 char"
        ):
            SimilaritySearch(store).similar("a" * 11)


def test_an_unknown_field_is_an_error_that_lists_the_others(search: SimilaritySearch) -> None:
    with pytest.raises(
        UnknownFieldError, match="no document has the field 'tem'; choose from: team, note, t"
    ) as caught:
        search.similar("source_1", filters={"tem": "legal"})

    assert {"team", "title", "year", "origin.site"} <= set(caught.value.known_names)
    assert not [name for name in caught.value.known_names if name.startswith("simdoc")]


def test_a_column_can_be_an_object(search: SimilaritySearch) -> None:
    assert all(find_unknown_column(search.store, name) is None for name in ("labels", "origin", "labels.key", "title"))
    assert isinstance(find_unknown_column(search.store, "label"), UnknownFieldError)


def test_documents_cannot_be_written_to_the_index_of_an_application(search: SimilaritySearch) -> None:
    with pytest.raises(
        StoreError, match=r"run `simdoc-search backfill http.*`, or call `fingerprint_actions` in the application$"
    ):
        search.index([Document("a", "some words")])
    with pytest.raises(StoreError, match="was not created with `simdoc-search index`"):
        search.delete(["near"])

    with pytest.raises(StoreError, match="`simdoc-search backfill --with versions`"):
        upgrade_store(search.store.location, ["sentences"])

    assert ["empty", "far", "near", "source_1", "unread"] == ids(search.store)


def test_an_id_must_be_given_exactly(search: SimilaritySearch) -> None:
    for query, expected in {"empty": "no words", "unread": "no fingerprint", "nothing": "no document 'noth"}.items():
        with pytest.raises(SimdocError, match=expected):
            search.similar(query)
    store = search.store

    assert ([], [], None) == (store.ids_with_name("near"), store.suggest_ids("nea"), store.info().text_bytes)


def test_an_index_that_requires_routing_is_read(temp_indices: TempIndices) -> None:
    name = temp_indices.make({**mapping(), "_routing": {"required": True}}, {"number_of_shards": 3})
    for number, routing in enumerate("abcdef"):
        temp_indices.put(name, f"doc{number}", {"simdoc": ours()}, routing=routing)
    store = in_index(temp_indices, name)

    assert [f"doc{number}" for number in (1, 2, 3, 4, 5)] == [
        hit.id for hit in SimilaritySearch(store).similar("doc0").hits
    ]
    assert ["doc3", "doc5"] == sorted(document.id for document in store.records(["doc5", "doc3", "doc9"]))


def test_tokens_of_other_settings_are_reported(temp_indices: TempIndices) -> None:
    name = temp_indices.make(mapping())
    temp_indices.put(name, "good", {"simdoc": ours([0])})
    temp_indices.put(name, "bad", {"simdoc": {**ours([0]), "tokens": "!!! abcde"}})
    search = SimilaritySearch(in_index(temp_indices, name))
    with pytest.raises(NoFingerprintError, match="'bad' has invalid tokens"):
        search.similar("bad")

    assert ["bad"] == [document.id for document in search.similar("good").left_out]
