"""Tests of how a query string is resolved to a document."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.query.syntax import FingerprintQuery
from tests.support.cli import words


def index(search: SimilaritySearch, *ids: str) -> None:
    """Index documents with the same text."""
    search.index(Document(id, words(1, 21)) for id in ids)


@pytest.mark.parametrize(
    ("stored", "query", "expected"),
    [
        ("report_2023", "report_2023", ("report_2023", None, None)),
        ("report_2023", "report_2023_20", ("report_2023", 20, None)),
        ("report_2023", "report_2023_20_80", ("report_2023", 20, 80)),
        ("invoice", "invoice_10_80", ("invoice", 10, 80)),
        ("invoice_10", "invoice_10", ("invoice_10", None, None)),
        ("invoice_10", "invoice_10_80", ("invoice_10", 80, None)),
        ("invoice_10", "invoice_10_80_95", ("invoice_10", 80, 95)),
        ("invoice_10_80", "invoice_10_80", ("invoice_10_80", None, None)),
        ("invoice invoice_10", '"invoice_10"', ("invoice_10", None, None)),
        ("invoice invoice_10", '"invoice"_10', ("invoice", 10, None)),
        ("invoice invoice_10", '"invoice_10"_10_80', ("invoice_10", 10, 80)),
        ("invoice", " FINGERPRINT:invoice_12.5 ", ("invoice", Fraction("12.5"), None)),
        ("a/invoice_10.txt", "invoice_10", ("a/invoice_10.txt", None, None)),
        ("a/invoice.txt", "invoice_10", ("a/invoice.txt", 10, None)),
        ("a/invoice.txt a/invoice2.txt", "invoice.txt", ("a/invoice.txt", None, None)),
        ("a/invoice.txt", "a/invoice_10_80", ("a/invoice.txt", 10, 80)),
        ("doc a/doc.txt b/doc.txt c/doc_20.txt", "doc_20", ("doc", 20, None)),
    ],
)
def test_the_reading_whose_document_exists_is_used(
    stored: str, query: str, expected: tuple[str, int | None, int | None], search: SimilaritySearch
) -> None:
    index(search, *stored.split())
    id, *percentages = expected
    overlap, probability = (None if number is None else Fraction(number) / 100 for number in percentages)

    assert FingerprintQuery(id, overlap, probability) == search.similar(query).query


@pytest.mark.parametrize(
    ("stored", "query", "readings"),
    [
        ("invoice invoice_10", "invoice_10", ('"invoice_10"', '"invoice"_10')),
        ("invoice invoice_10_80", "invoice_10_80", ('"invoice_10_80"', '"invoice"_10_80')),
        ("a/invoice.txt b/invoice_10.txt", "invoice_10", ('"b/invoice_10.txt"', '"a/invoice.txt"_10')),
        ("a/doc.txt b/doc.md c/other.txt", "doc_20", ('"a/doc.txt"_20', '"b/doc.md"_20')),
    ],
)
def test_an_ambiguous_query_is_refused_with_unambiguous_ones(
    stored: str, query: str, readings: tuple[str, ...], search: SimilaritySearch
) -> None:
    index(search, *stored.split())
    with pytest.raises(AmbiguousQueryError) as caught:
        search.similar(query)

    assert readings == caught.value.readings
    for reading in readings:
        assert search.similar(reading).query.id in stored.split()


def test_an_unknown_id_is_refused_with_similar_ids(search: SimilaritySearch) -> None:
    index(search, "letters/doc123.txt", "zebra")
    with pytest.raises(UnknownDocumentError, match=r"'letters/doc123\.txt'") as caught:
        search.similar("letters/doc132.txt")
    with pytest.raises(UnknownDocumentError) as without_suggestions:
        search.similar("unicorn_20")

    assert ("letters/doc132.txt", ("letters/doc123.txt",)) == (caught.value.id, caught.value.suggestions)
    assert ("unicorn", ()) == (without_suggestions.value.id, without_suggestions.value.suggestions)


@pytest.mark.parametrize("id", ["report", "a/report.txt"])
def test_a_percentage_over_100_is_refused(id: str, search: SimilaritySearch) -> None:
    index(search, id)
    for suffix in ("_2023", "_20_200"):
        with pytest.raises(QuerySyntaxError, match="over 100"):
            search.similar(id + suffix)


@pytest.mark.parametrize("id", ["a_b", "漢字_5", 'é 漢_5/x"y\\_7_8', "w" * 512, "\\", "_", "_20"])
def test_an_id_may_contain_any_character(id: str, search: SimilaritySearch) -> None:
    index(search, id, "twin")
    quoted = str(FingerprintQuery(id, Fraction(1, 5), Fraction(4, 5)))

    for result in (search.similar(id, overlap=0.2, probability=0.8), search.similar(quoted)):
        assert (id, ["twin"]) == (result.query.id, [hit.id for hit in result])


def test_with_a_separate_overlap_the_query_is_only_an_id(search: SimilaritySearch) -> None:
    index(search, "invoice", "invoice_10", "a/letter.txt")

    assert FingerprintQuery("invoice_10", Fraction(1, 2)) == search.similar("invoice_10", overlap=0.5).query
    assert FingerprintQuery("a/letter.txt", Fraction(0)) == search.similar("letter", overlap=0).query
    with pytest.raises(QuerySyntaxError, match="no document has the id 'invoice_20'; use the id 'invoice'"):
        search.similar("invoice_20", overlap=0.5)
    with pytest.raises(UnknownDocumentError):
        search.similar("nothing_20", overlap=0.5)


def test_fractions_are_not_rounded(search: SimilaritySearch) -> None:
    index(search, "doc_10", "doc")
    result = search.similar("doc", overlap=0.07, probability=0.57)
    query = FingerprintQuery("doc_10", Fraction(123456789, 10**9))

    assert FingerprintQuery("doc", Fraction(7, 100), Fraction(57, 100)) == result.query
    assert query == search.similar(query).query
