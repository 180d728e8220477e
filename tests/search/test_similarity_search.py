"""Which document a FINGERPRINT means, in each of its readings."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import AmbiguousQueryError, QuerySyntaxError, UnknownDocumentError
from simdoc_search.query.syntax import FingerprintQuery


@pytest.fixture(params=["memory", "folder"])
def search(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SimilaritySearch]:
    """A search over an empty store."""
    store = open_store(":memory:" if request.param == "memory" else tmp_path / "store", create=True)
    yield SimilaritySearch(store)
    store.close()


def words(first: int, last: int) -> str:
    """A text of the words wFIRST to wLAST; two such texts share the shingles of the words they share."""
    return " ".join(f"w{number}" for number in range(first, last + 1))


def index(search: SimilaritySearch, *ids: str) -> None:
    """Store documents with these ids and one text."""
    search.index(Document(id, words(1, 20)) for id in ids)


def found(search: SimilaritySearch, query: str, **options: object) -> list[str]:
    return [hit.id for hit in search.similar(query, **options).hits]  # type: ignore[arg-type] # given on


def test_documents_that_share_text_are_found(search: SimilaritySearch) -> None:
    """By its id a document finds those that share text with it, the nearest first, and not itself."""
    texts = {"source": (1, 60), "near": (1, 58), "far": (31, 90), "other": (100, 160)}
    search.index(Document(id, words(*ends)) for id, ends in texts.items())

    assert ["near", "far"] == found(search, "source")
    assert ["near"] == found(search, "source_50")
    assert ["near"] == found(search, "source_50_80")
    assert [] == found(search, "other")


@pytest.mark.parametrize("suffix", ["", "_20", "_20_80"])
@pytest.mark.parametrize("name", ["letters/doc123.txt", "letters/doc123", "doc123.txt", "doc123"])
def test_a_file_name_will_do(name: str, suffix: str, search: SimilaritySearch) -> None:
    """A file is named by its id, or by its name with or without the ending."""
    index(search, "letters/doc123.txt", "letters/doc1234.txt")
    result = search.similar(name + suffix)

    assert "letters/doc123.txt" == result.query.id
    assert ["letters/doc1234.txt"] == [hit.id for hit in result.hits]


def test_a_name_of_several_files_is_refused(search: SimilaritySearch) -> None:
    """If several files have a name, the error lists them, each as a query that means it alone."""
    index(search, "a/doc.txt", "b/doc.md", "c/other.txt")
    with pytest.raises(AmbiguousQueryError, match="several documents") as caught:
        search.similar("doc_20")

    assert ('"a/doc.txt"_20', '"b/doc.md"_20') == caught.value.readings
    assert ["a/doc.txt", "b/doc.md"] == [search.similar(each).query.id for each in caught.value.readings]


def test_an_id_counts_before_a_file_name(search: SimilaritySearch) -> None:
    """A document whose id is asked for is meant, though files have that name, or a longer one, too."""
    index(search, "doc", "a/doc.txt", "b/doc.txt", "c/doc_20.txt")

    assert FingerprintQuery("doc", Fraction(1, 5)) == search.similar("doc_20").query


def test_an_unknown_id_is_refused_with_its_like(search: SimilaritySearch) -> None:
    """For an id that is not stored the error names those that look like it, if there are any."""
    index(search, "letters/doc123.txt", "zebra")
    with pytest.raises(UnknownDocumentError, match=r"'letters/doc123\.txt'") as caught:
        search.similar("letters/doc132.txt")
    with pytest.raises(UnknownDocumentError) as nothing_like_it:
        search.similar("unicorn_20")

    assert ("letters/doc132.txt", ("letters/doc123.txt",)) == (caught.value.id, caught.value.suggestions)
    assert ("unicorn", ()) == (nothing_like_it.value.id, nothing_like_it.value.suggestions)


@pytest.mark.parametrize(
    ("stored", "query", "expected"),
    [
        ("report_2023", "report_2023", ("report_2023", None, None)),
        ("report_2023", "report_2023_20", ("report_2023", 20, None)),
        ("report_2023", "report_2023_20_80", ("report_2023", 20, 80)),
        ("invoice", "invoice_10", ("invoice", 10, None)),
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
    ],
)
def test_the_reading_whose_document_exists_is_meant(
    stored: str, query: str, expected: tuple[str, int | None, int | None], search: SimilaritySearch
) -> None:
    """Numbers at the end belong to the id or are percents, whichever gives a stored document."""
    index(search, *stored.split())
    id, *percents = expected
    overlap, probability = (None if each is None else Fraction(each) / 100 for each in percents)

    assert FingerprintQuery(id, overlap, probability) == search.similar(query).query


@pytest.mark.parametrize(
    ("stored", "query", "readings"),
    [
        ("invoice invoice_10", "invoice_10", ('"invoice_10"', '"invoice"_10')),
        ("invoice invoice_10_80", "invoice_10_80", ('"invoice_10_80"', '"invoice"_10_80')),
        ("a/invoice.txt b/invoice_10.txt", "invoice_10", ('"b/invoice_10.txt"', '"a/invoice.txt"_10')),
    ],
)
def test_a_query_of_several_readings_is_refused(
    stored: str, query: str, readings: tuple[str, ...], search: SimilaritySearch
) -> None:
    """If several readings exist the error lists them, and takes none."""
    index(search, *stored.split())
    with pytest.raises(AmbiguousQueryError) as caught:
        search.similar(query)

    assert readings == caught.value.readings


@pytest.mark.parametrize("id", ["report", "a/report.txt"])
@pytest.mark.parametrize("suffix", ["_2023", "_20_200"])
def test_a_percentage_beyond_100_is_named(id: str, suffix: str, search: SimilaritySearch) -> None:
    """If only a reading with a percentage over 100 exists, that is what is wrong."""
    index(search, id)
    with pytest.raises(QuerySyntaxError, match="over 100"):
        search.similar(id + suffix)


ODD_IDS = ["a_b", "a b/c d", "é", "漢字_5", 'x"y"', 'é 漢_5/x"y\\_7_8', "w" * 512, "\\", "_", "_20"]


@pytest.mark.parametrize("id", ODD_IDS)
def test_any_character_may_stand_in_an_id(id: str, search: SimilaritySearch) -> None:
    r"""Ids with `_ / space " \` and letters of any script are found as they are, and by the quoted form."""
    index(search, id, "twin")
    quoted = str(FingerprintQuery(id, Fraction(1, 5), Fraction(4, 5)))

    assert [(id, ["twin"])] * 2 == [
        (result.query.id, [hit.id for hit in result.hits])
        for result in (search.similar(id, overlap=0.2, probability=0.8), search.similar(quoted))
    ]
    assert [id] == found(search, "twin")
