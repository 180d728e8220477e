"""What the options of a search do: overlaps, sizes, filters; and what is refused."""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, any_of, none_of, open_store
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import QuerySyntaxError, UnknownDocumentError, UnknownFieldError
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.stores.filters import Filters


@pytest.fixture(params=["memory", "folder"])
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SimilaritySearch]:
    """A search over an empty store."""
    store = open_store(":memory:" if request.param == "memory" else tmp_path / "store", create=True)
    yield SimilaritySearch(store)
    store.close()


@pytest.fixture(scope="module", params=["memory", "folder"])
def with_fields(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimilaritySearch]:
    """A search over documents with one text and several fields, which no test changes."""
    fields: dict[str, dict[str, MetadataValue]] = {
        "a/1": {"language": "de", "year": 2020, "authors": ["Ada", "Bob"]},
        "a/2": {"language": "en", "year": 2020, "draft": True},
        "b/1": {"language": "de", "year": 2021, "share": 0.5, "draft": False},
        "bb": {"authors": ["Ada"]},
        "source": {"path": "elsewhere"},
    }
    place = ":memory:" if request.param == "memory" else tmp_path_factory.mktemp("fields") / "store"
    with open_store(place, create=True) as store:
        made = SimilaritySearch(store)
        made.index(Document(id, words(1, 20), each) for id, each in fields.items())
        yield made


def words(first: int, last: int) -> str:
    """A text of the words wFIRST to wLAST; two such texts share the shingles of the words they share."""
    return " ".join(f"w{number}" for number in range(first, last + 1))


def index(search: SimilaritySearch, *ids: str) -> None:
    """Store documents with these ids and one text."""
    search.index(Document(id, words(1, 20)) for id in ids)


def found(search: SimilaritySearch, query: str, **options: object) -> list[str]:
    return [hit.id for hit in search.similar(query, **options).hits]  # type: ignore[arg-type] # given on


def test_with_an_option_the_string_is_an_id_alone(search: SimilaritySearch) -> None:
    """overlap and probability as options leave no doubt: numbers in the string belong to the id."""
    index(search, "invoice", "invoice_10", "a/letter.txt")

    assert FingerprintQuery("invoice_10", Fraction(1, 2)) == search.similar("invoice_10", overlap=0.5).query
    assert FingerprintQuery("a/letter.txt", Fraction(0)) == search.similar("letter", overlap=0).query
    with pytest.raises(QuerySyntaxError, match=r"no document has the id 'invoice_20'; .* give the id 'invoice' alone"):
        search.similar("invoice_20", overlap=0.5)
    with pytest.raises(UnknownDocumentError):
        search.similar("nothing_20", overlap=0.5)


def test_an_option_is_exactly_what_was_written(search: SimilaritySearch) -> None:
    """0.07 is 7 in 100, not the nearest binary number."""
    index(search, "doc")
    result = search.similar("doc", overlap=0.07, probability=0.57)

    assert FingerprintQuery("doc", Fraction(7, 100), Fraction(57, 100)) == result.query


@pytest.mark.parametrize("overlap", [Fraction(1, 3), Fraction(1, 200), Fraction(123456789, 10**9)])
def test_a_query_value_is_taken_as_it_is(overlap: Fraction, search: SimilaritySearch) -> None:
    """A FingerprintQuery in place of a string loses nothing, though its string might."""
    index(search, "doc_10", "doc")
    asked = FingerprintQuery("doc_10", overlap)

    assert asked == search.similar(asked).query


def test_a_query_value_without_overlap_has_no_probability(search: SimilaritySearch) -> None:
    """The probability of a FingerprintQuery is never taken for an overlap."""
    index(search, "doc")
    with pytest.raises(QuerySyntaxError, match="probability"):
        search.similar(FingerprintQuery("doc", None, Fraction(4, 5)))


def test_the_source_is_a_hit_only_if_asked_for(search: SimilaritySearch) -> None:
    """include_self lets the source be among the hits and the candidates; it overlaps itself wholly."""
    index(search, "a", "b")
    without, with_it = search.similar("b_20"), search.similar("b_20", include_self=True)

    assert [("a", 1.0)] == [(hit.id, hit.overlap) for hit in without.hits]
    assert [("a", 1.0), ("b", 1.0)] == [(hit.id, hit.overlap) for hit in with_it.hits]
    assert (1, 2) == (without.candidates, with_it.candidates)


def test_size_limits_the_hits_not_the_candidates(search: SimilaritySearch) -> None:
    """At most `size` hits come, 10 if nothing is said; all candidates are counted."""
    index(search, *(f"doc{number:02}" for number in range(15)))
    results = [search.similar("doc00"), search.similar("doc00", size=3), search.similar("doc00", size=99)]

    assert [10, 3, 14] == [len(each.hits) for each in results]
    assert [14, 14, 14] == [each.candidates for each in results]
    assert ["doc01", "doc02", "doc03"] == [hit.id for hit in results[1].hits]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, "a/1 a/2 b/1 bb"),
        ({"language": "de"}, "a/1 b/1"),
        ({"language": "d"}, ""),
        ({"path": "a/"}, "a/1 a/2"),
        ({"path": "b"}, "b/1 bb"),
        ({"path": "a/1"}, "a/1"),
        ({"year": 2020}, "a/1 a/2"),
        ({"year": "2020"}, "a/1 a/2"),
        ({"share": 0.5}, "b/1"),
        ({"draft": True}, "a/2"),
        ({"draft": "true"}, "a/2"),
        ({"authors": "Ada"}, "a/1 bb"),
        ({"authors": "Ada Bob"}, ""),
        ({"authors": ["Bob", "Ada"]}, "a/1 bb"),
        ([{"authors": "Bob"}, {"authors": "Ada"}], "a/1"),
        ({"language": ["de", "en"]}, "a/1 a/2 b/1"),
        ({"language": {"de", "en"}, "year": 2020}, "a/1 a/2"),
        ({"language": any_of("en", "fr")}, "a/2"),
        ({"year": any_of(2021, "2020")}, "a/1 a/2 b/1"),
        ({"path": ["a/2", "bb"]}, "a/2 bb"),
        ({"path": ["a/2", ""]}, "a/1 a/2 b/1 bb"),
        ([{"path": "a/"}, {"language": ["en", "fr"]}], "a/2"),
        ({"language": []}, ""),
        ({"language": any_of(), "year": 2020}, ""),
        ([], "a/1 a/2 b/1 bb"),
        ({"language": none_of("de")}, "a/2 bb"),
        ({"path": none_of("a/", "bb")}, "b/1"),
        ([{"year": 2020}, {"authors": none_of("Ada")}], "a/2"),
        ({"authors": none_of(), "unknown": none_of("x")}, "a/1 a/2 b/1 bb"),
        ({"language": "de", "path": "b", "share": 0.5}, "b/1"),
        ({"language": "de", "draft": True}, ""),
    ],
)
@pytest.mark.parametrize("query", ["source", "source_50", "source_50_80"])
def test_filters_keep_what_has_the_fields(
    query: str, filters: Filters, expected: str, with_fields: SimilaritySearch
) -> None:
    """Filters keep documents by fields of any type, in a list, by the beginning of the path, and all at once."""
    result = with_fields.similar(query, filters=filters)

    assert expected.split() == [hit.id for hit in result.hits]
    assert len(result.hits) == result.candidates


@pytest.mark.parametrize(
    ("filters", "said"),
    [
        ("language=de", "str is not a filter; give fields with their values, like {'language': 'de'}"),
        (["language"], "str is not a filter; give fields with their values, like {'language': 'de'}"),
        (7, "int is not a filter"),
        ({"term": {"language": "de"}}, r"the filter 'term' looks like a clause of an engine; .*filters=\[clause\]"),
        ({"language": None}, "the filter 'language' has a value of type NoneType; give a string, a number"),
        ({"language": ["de", None]}, "the filter 'language' has a value of type NoneType; give a string, a number"),
        ({"language": ["de", ["en"]]}, "the filter 'language' has a value of type list; give a string, a number"),
        ([{"match_all": {}}], "clauses are for an engine"),
    ],
)
def test_what_is_no_filter_is_refused(search: SimilaritySearch, filters: Any, said: str) -> None:
    """A text, or a clause where fields belong, does not silently find nothing."""
    index(search, "a", "b")
    with pytest.raises(QuerySyntaxError, match=said):
        search.similar("a", filters=filters)
    with pytest.raises(QuerySyntaxError, match=said):
        search.similar_to_text(words(1, 20), filters=filters)


def test_a_field_that_no_document_has_is_said(search: SimilaritySearch) -> None:
    """With those there are, the most alike first; a value that none has is an answer without hits."""
    fields: dict[str, dict[str, MetadataValue]] = {"a": {"year": 2020, "team": "x"}, "b": {"language": "de"}}
    search.index(Document(id, words(1, 20), each) for id, each in fields.items())

    with pytest.raises(UnknownFieldError, match="no document has the field 'tem'; there are: team, ") as caught:
        search.similar("a", filters={"tem": "x"})
    assert ("tem", {"team", "year", "language"}) == (caught.value.field, set(caught.value.known))
    with pytest.raises(UnknownFieldError, match="the field 'tem'"):
        search.similar_to_text(words(1, 20), filters=[{"language": "de"}, {"tem": ["x"]}])
    (answer,) = search.similar_many(["a"], filters={"tem": "x"})
    assert isinstance(answer, UnknownFieldError)
    for known in ("team", "year", "language"):
        assert [] == found(search, "a", filters={known: "none"})
        assert [] == found(search, "a", filters={known: []})


def test_a_path_that_no_document_has_is_said(search: SimilaritySearch) -> None:
    """With the folders there are; one of several paths is enough."""
    index(search, "reports/1", "reports/2", "notes/1", "top")

    with pytest.raises(UnknownFieldError, match="begins with 'reprots/'; there are: reports/, notes/"):
        search.similar("top", filters={"path": "reprots/"})
    assert [] == found(search, "top", filters={"path": ["nowhere/", "top"]})


def test_a_hundred_fields_are_not_all_named(search: SimilaritySearch) -> None:
    """The ten most alike are, and how many there are beside them."""
    search.index([Document("a", words(1, 20), {f"field{n}": n for n in range(100)}), Document("b", words(1, 20))])
    with pytest.raises(UnknownFieldError, match=r"there are: field99, .* and 90 more") as caught:
        search.similar("a", filters={"field999": 1})

    assert 100 == len(caught.value.known)
    assert len(str(caught.value)) < 300


def test_arguments_are_checked_at_the_call(search: SimilaritySearch) -> None:
    """Many queries are answered one by one; what no query can be asked with is refused before."""
    wrong: list[dict[str, Any]] = [{"size": 0}, {"planner": "best"}, {"overlap": 2}, {"filters": "x"}]
    for options in wrong:
        with pytest.raises(QuerySyntaxError):
            search.similar_many(["a"], **options)


def test_a_result_prints_as_a_few_lines(search: SimilaritySearch) -> None:
    """What was asked, and the best hits; the hundreds of tokens of the plan are in no print of it."""
    search.index(Document(f"doc\x1b{n:02}", words(1, 200 + n)) for n in range(30))
    result = search.similar("doc\x1b00_20", size=20)
    lines = str(result).splitlines()

    assert r'"doc\x1b00"_20: showing 20 of 29 hits, 29 documents compared' == lines[0]
    assert re.fullmatch(r" *99\.5 %  doc\\x1b0\d", lines[1])
    assert (12, "and 10 more") == (len(lines), lines[-1].strip())
    assert len(repr(result)) < 3_000
    assert str(search.similar_to_text(words(1, 200))).startswith("the text: showing 10 of 30 hits, 30 ")
    assert 196 == result.shingles


@pytest.mark.parametrize(
    "options",
    [
        {"size": 0},
        {"size": -1},
        {"overlap": 1.01},
        {"overlap": -0.1},
        {"overlap": float("nan")},
        {"overlap": 0.2, "probability": 0},
        {"overlap": 0.2, "probability": 1.5},
        {"probability": 0.8},
        {"overlap": 0, "probability": 0.8},
        {"planner": "unknown"},
    ],
)
def test_a_number_out_of_range_is_refused(options: dict[str, float], search: SimilaritySearch) -> None:
    """A size under 1, fractions outside 0 to 1 and a probability without an overlap are refused, for a text too."""
    index(search, "doc")
    with pytest.raises(QuerySyntaxError):
        search.similar("doc", **options)  # type: ignore[arg-type] # wrong on purpose
    with pytest.raises(QuerySyntaxError):
        search.similar_to_text(words(1, 20), **options)  # type: ignore[arg-type]
