"""Tests of the options that all kinds of query have, and of the options of `similar`."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, any_of, none_of, open_store
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import QuerySyntaxError, UnknownFieldError
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.stores.filters import Filters
from tests.support.cli import words

TEXT = words(0, 20)


@pytest.fixture(scope="module")
def documents() -> SimilaritySearch:
    """A search over documents with the same text and different fields."""
    fields: dict[str, dict[str, MetadataValue]] = {
        "a/1": {"language": "de", "year": 2020, "authors": ["Ada", "Bob"]},
        "a/2": {"language": "en", "year": 2020, "draft": True},
        "b/1": {"language": "de", "year": 2021, "share": 0.5, "draft": False},
        "bb": {"authors": ["Ada"]},
        "source": {"path": "elsewhere"},
    }
    search = SimilaritySearch(open_store(":memory:"))
    search.index(Document(id, TEXT, metadata) for id, metadata in fields.items())
    return search


def ids(search: SimilaritySearch, query: str, **options: Any) -> list[str]:
    return [hit.id for hit in search.similar(query, **options)]


def test_the_query_document_is_a_hit_only_with_include_self(search: SimilaritySearch) -> None:
    search.index(Document(id, TEXT) for id in "ab")
    default, with_self = search.similar("b_20"), search.similar("b_20", include_self=True)

    assert [("a", 1.0)] == [(hit.id, hit.overlap) for hit in default]
    assert [("a", 1.0), ("b", 1.0)] == [(hit.id, hit.overlap) for hit in with_self]
    assert (1, 2) == (default.candidate_count, with_self.candidate_count)


@pytest.mark.parametrize("measure", ["jaccard", "containment"])
def test_the_stored_version_of_a_text_can_be_excluded(measure: Any, search: SimilaritySearch) -> None:
    search.index(Document(id, TEXT) for id in "ab")
    (first, second) = search.similar(text=TEXT, measure=measure)

    assert [second] == search.similar(text=TEXT, measure=measure, exclude=first.key).hits


def test_size_limits_hits_and_not_candidates(search: SimilaritySearch) -> None:
    search.index(Document(f"doc{number:02}", TEXT) for number in range(15))
    results = [search.similar("doc00"), search.similar("doc00", size=3), search.similar("doc00", size=99)]

    assert [10, 3, 14] == [len(result) for result in results]
    assert [14, 14, 14] == [result.candidate_count for result in results]
    assert ["doc01", "doc02", "doc03"] == [hit.id for hit in results[1]]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "a/1 a/2 b/1 bb"),
        ({"language": "de"}, "a/1 b/1"),
        ({"path": "a/", "year": any_of(2020, "2021")}, "a/1 a/2"),
        ({"authors": none_of("Ada")}, "a/2 b/1"),
        ([{"authors": "Bob"}, {"authors": "Ada"}], "a/1"),
        ({"language": []}, ""),
    ],
)
def test_filters_select_documents_by_their_fields(filters: Filters, expected: str, documents: SimilaritySearch) -> None:
    for query in ("source", "source_50", "source_50_80"):
        result = documents.similar(query, filters=filters)

        assert expected.split() == [hit.id for hit in result]
        assert len(result) == result.candidate_count


@pytest.mark.parametrize(
    ("filters", "message"),
    [
        ("language=de", "a filter has type str; use a dictionary, such as {'language': 'de'}, or a list"),
        (["language"], "a filter has type str; use a dictionary"),
        (
            {"term": {"language": "de"}},
            r"the filter 'term' looks like a query clause .*filters=\[clause\]",
        ),
        ({"language": None}, "the filter 'language' has a value of type NoneType; use a string, a number"),
        ({"language": ["de", ["en"]]}, "the filter 'language' has a value of type list; use a string, a number"),
        ([{"match_all": {}}], "does not support query clauses"),
    ],
)
def test_a_malformed_filter_is_refused(documents: SimilaritySearch, filters: Any, message: str) -> None:
    with pytest.raises(QuerySyntaxError, match=message):
        documents.similar("source", filters=filters)
    with pytest.raises(QuerySyntaxError, match=message):
        documents.similar(text=TEXT, filters=filters)


def test_an_unknown_field_is_refused_with_the_known_fields(search: SimilaritySearch) -> None:
    fields: dict[str, dict[str, MetadataValue]] = {"a": {"year": 2020, "team": "x"}, "b": {"language": "de"}}
    search.index(Document(id, TEXT, metadata) for id, metadata in fields.items())

    with pytest.raises(UnknownFieldError, match="no document has the field 'tem'; choose from: team, ") as caught:
        search.similar("a", filters={"tem": "x"})
    assert ("tem", {"team", "year", "language"}) == (caught.value.field, set(caught.value.known_names))
    with pytest.raises(UnknownFieldError, match="the field 'tem'"):
        search.similar(text=TEXT, filters=[{"language": "de"}, {"tem": ["x"]}])
    (result,) = search.similar_many(["a"], filters={"tem": "x"})
    assert isinstance(result, UnknownFieldError)
    for field in ("team", "year", "language"):
        assert [] == ids(search, "a", filters={field: "none"}) == ids(search, "a", filters={field: []})


def test_an_unknown_path_is_refused_with_the_known_folders(search: SimilaritySearch) -> None:
    search.index(Document(id, TEXT) for id in ("reports/1", "reports/2", "notes/1", "top"))

    with pytest.raises(UnknownFieldError, match="begins with 'reprots/'; choose from: reports/, notes/"):
        search.similar("top", filters={"path": "reprots/"})
    assert [] == ids(search, "top", filters={"path": ["nowhere/", "top"]})


def test_a_wildcard_is_refused_unless_a_document_has_this_value(search: SimilaritySearch) -> None:
    fields: dict[str, dict[str, MetadataValue]] = {"a": {"author": "bot*"}, "b": {"author": "bot-1"}}
    search.index(Document(id, TEXT, metadata) for id, metadata in fields.items())

    assert ["a"] == ids(search, "b", filters={"author": "bot*"})
    assert [] == ids(search, "a", filters={"author": "bot*"}) == ids(search, "a", filters={"author": "who?"})
    with pytest.raises(QuerySyntaxError, match=r"value 'b\*' in the field 'author', and filters have no wildcards"):
        search.similar("a", filters={"author": ["b*"]})


def test_a_message_names_at_most_ten_fields(search: SimilaritySearch) -> None:
    search.index([Document("a", TEXT, {f"field{n}": n for n in range(100)}), Document("b", TEXT)])
    with pytest.raises(UnknownFieldError, match=r"choose from: field99, .* and 90 more") as caught:
        search.similar("a", filters={"field999": 1})

    assert 100 == len(caught.value.known_names)
    assert len(str(caught.value)) < 300
    assert str(UnknownFieldError("b", [f"a{number}" for number in range(11)])).endswith("a9, a10")  # not: and 1 more


def test_a_result_prints_as_a_few_lines(search: SimilaritySearch) -> None:
    search.index(Document(f"doc\x1b{n:02}", words(1, 201 + n)) for n in range(30))
    result = search.similar("doc\x1b00_20", size=20)
    lines = str(result).splitlines()

    assert r'"doc\x1b00"_20: showing 20 of 29 hits, 29 documents compared' == lines[0]
    assert re.fullmatch(r" *99\.5 %  doc\\x1b0\d", lines[1])
    assert (12, "and 10 more") == (len(lines), lines[-1].strip())
    assert len(repr(result)) < 3_000
    assert str(search.similar(text=words(1, 201))).startswith("the text: showing 10 of 30 hits, 30 ")
    assert 196 == result.shingle_count


QUERIES = ("similar", "passages", "versions", "related")


MALFORMED: dict[str, list[Any]] = {
    "size": [0, -1],
    "offset": [-1, 1.5, True],
    "fields": ["year"],
    "filters": ["x"],
    "query_document_filters": ["x"],
}


@pytest.mark.parametrize("method", QUERIES)
def test_every_query_refuses_malformed_page_options(documents: SimilaritySearch, method: str) -> None:
    for name, value in ((name, value) for name, values in MALFORMED.items() for value in values):
        message = "a filter has type" if "filters" in name else f"{name} must be"
        with pytest.raises(QuerySyntaxError, match=message):
            getattr(documents, method)("source", **{name: value})


@pytest.mark.parametrize("method", QUERIES[1:])
def test_a_query_takes_either_a_document_or_a_text(documents: SimilaritySearch, method: str) -> None:
    for options in ({}, {"query": "source", "text": "x"}):
        with pytest.raises(QuerySyntaxError, match="give exactly one of a document id and a text"):
            getattr(documents, method)(**options)


@pytest.mark.parametrize(
    "options",
    [
        {"overlap": 1.01},
        {"overlap": -0.1},
        {"overlap": float("nan")},
        {"overlap": 0.2, "probability": 0},
        {"overlap": 0.2, "probability": 1.5},
        {"probability": 0.8},
        {"overlap": 0, "probability": 0.8},
        {"planner": "unknown"},
        {"measure": "overlap"},
        {"measure": "reverse_containment", "overlap": 0.5, "probability": 0.8},
    ],
)
def test_similar_refuses_options_out_of_range(documents: SimilaritySearch, options: dict[str, Any]) -> None:
    with pytest.raises(QuerySyntaxError):
        documents.similar("source", **options)
    with pytest.raises(QuerySyntaxError):
        documents.similar(text=TEXT, **options)


def test_options_of_many_queries_are_checked_at_the_call(documents: SimilaritySearch) -> None:
    malformed: list[dict[str, Any]] = [{"size": 0}, {"planner": "best"}, {"overlap": 2}, {"filters": "x"}]
    for options in malformed:
        with pytest.raises(QuerySyntaxError):
            documents.similar_many(["source"], **options)


def test_a_query_with_a_probability_needs_an_overlap(documents: SimilaritySearch) -> None:
    with pytest.raises(QuerySyntaxError, match="probability"):
        documents.similar(FingerprintQuery("source", None, Fraction(4, 5)))
