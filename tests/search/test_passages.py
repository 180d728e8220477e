"""Who shares passages with a document or a text, in every store."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from simdoc_search import Document, PassageResult, SimilaritySearch, none_of
from simdoc_search.errors import (
    FormatMismatchError,
    NoFingerprintError,
    QuerySyntaxError,
    SimdocError,
    UnknownDocumentError,
)
from simdoc_search.passages import containment, shingle_set
from simdoc_search.sketch.settings import Settings
from tests.support.stores import NewStore

RUN = 36
"""Words of a run that is found for certain."""


def prose(count: int, seed: int) -> list[str]:
    """Words of which no run repeats."""
    return [f"w{number}" for number in random.Random(seed).sample(range(100_000), count)]


QUOTE = prose(60, 1)


@pytest.fixture
def search(new_store: NewStore) -> Iterator[SimilaritySearch]:
    """A search over 20 long documents, two of which have the quote."""
    texts = {f"docs/{number}": prose(800, 100 + number) for number in range(20)}
    texts["docs/3"][300:300] = QUOTE
    texts["docs/7"][:0] = QUOTE[:45]
    with new_store() as store:
        made = SimilaritySearch(store)
        made.index(Document(id, " ".join(words), {"kind": id[-1]}) for id, words in texts.items())
        yield made


def test_a_quote_is_found_with_its_place(search: SimilaritySearch) -> None:
    """In documents that it hardly overlaps; the longest first, with exact shares and the characters of both texts."""
    text = f"My own words, then: “{' '.join(QUOTE).upper()}” – and more of mine."
    result = search.passages(text=text)
    stored = {id: search.store.get(id, text=True) for id in ("docs/3", "docs/7")}

    assert [("docs/3", 60), ("docs/7", 45)] == [(hit.id, hit.words) for hit in result.hits]
    assert ("", text, 2) == (result.source, result.text, result.compared)
    for hit, words in zip(result.hits, (QUOTE, QUOTE[:45]), strict=True):
        record = stored[hit.id]
        (passage,) = hit.passages

        assert record is not None
        assert record.text is not None
        assert " ".join(words).upper() == text[slice(*passage.a)]
        assert " ".join(words) == record.text[slice(*passage.b)]
        assert containment(shingle_set(text), shingle_set(record.text)) == hit.containment
        assert containment(shingle_set(record.text), shingle_set(text)) == hit.contained
        assert ("exact", False, passage) == (hit.kind, hit.changed, hit.longest)


def test_a_stored_document_is_asked_about(search: SimilaritySearch) -> None:
    """By its id or its name; itself it is not among the hits. Filters hold for the hits."""
    assert [("docs/7", 45)] == [(hit.id, hit.words) for hit in search.passages("docs/3").hits]
    assert ["docs/3"] == [hit.id for hit in search.passages("7").hits]
    assert [] == search.passages("docs/3", filters={"kind": none_of("7")}).hits
    assert ["docs/7"] == [hit.id for hit in search.passages("docs/3", filters={"kind": "7"}).hits]
    assert ["docs/3"] == [hit.id for hit in search.passages(text=" ".join(QUOTE), size=1).hits]
    assert ["docs/3"] == [hit.id for hit in search.passages(text=" ".join(QUOTE), min_words=46).hits]


def test_every_run_that_is_promised_is_found(search: SimilaritySearch) -> None:
    """A run of 36 words of any document, whatever stands around it."""
    for number in range(20):
        record = search.store.get(f"docs/{number}", text=True)
        words = (record.text if record and record.text else "").split()
        begin = random.Random(number).randrange(len(words) - RUN)
        text = " ".join([*prose(1_200, number), *words[begin : begin + RUN], *prose(100, 50 + number)])

        assert f"docs/{number}" in {hit.id for hit in search.passages(text=text).hits}


def test_many_are_answered_in_order(search: SimilaritySearch) -> None:
    """Documents that are stored, and such as are not; an error is that of its source alone."""
    asked: list[str | Document] = [
        "docs/3",
        Document("mine.txt", " ".join(QUOTE)),
        "nothing",
        Document("empty.txt", " ... "),
    ]
    first, second, third, fourth = search.passages_of_many(asked)

    assert isinstance(first, PassageResult)
    assert isinstance(second, PassageResult)
    assert (["docs/7"], "docs/3") == ([hit.id for hit in first.hits], first.source)
    assert (["docs/3", "docs/7"], "mine.txt") == ([hit.id for hit in second.hits], second.source)
    assert isinstance(third, UnknownDocumentError)
    assert isinstance(fourth, NoFingerprintError)
    assert "empty.txt has no words, so nothing can share a passage with it" == str(fourth)


def test_without_texts_it_is_estimated(new_store: NewStore) -> None:
    """From the passage tokens, and said; no passage is named."""
    common = prose(400, 1)
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(
            [Document("a", " ".join(common + prose(400, 2))), Document("b", " ".join(common + prose(1200, 3)))]
        )
        (hit,) = search.passages("a").hits

    assert ("b", "estimated", ()) == (hit.id, hit.kind, hit.passages)
    assert 250 < hit.words < 550
    assert 0.3 < hit.containment < 0.7
    assert 0.1 < hit.contained < 0.4


@pytest.mark.slow
def test_a_phrase_in_every_document_is_counted_in_all(new_store: NewStore) -> None:
    """All that share it are compared, whatever the size of the page."""
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(f"{n}", " ".join(QUOTE + prose(30, n))) for n in range(250))
        result = search.passages("0", size=5)

    assert (5, 249, 249, 249) == (len(result.hits), result.total, result.candidates, result.compared)
    assert {60} == {hit.words for hit in result.hits}


def test_a_store_without_passage_tokens_says_what_to_do(new_store: NewStore) -> None:
    """It cannot answer, and nothing is taken for an answer."""
    with new_store(Settings(passages=None)) as store:
        search = SimilaritySearch(store)
        search.index([Document("a", " ".join(QUOTE))])
        with pytest.raises(FormatMismatchError, match="without passages"):
            search.passages("a")


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"query": "docs/3", "text": "x"},
        {"query": "docs/3", "size": 0},
        {"query": "docs/3", "min_words": 0},
        {"query": "docs/3", "preset": "best"},
        {"query": "docs/3", "filters": "x"},
    ],
)
def test_wrong_arguments_are_refused(search: SimilaritySearch, options: dict[str, object]) -> None:
    """In one sentence, before anything is asked."""
    with pytest.raises(QuerySyntaxError):
        search.passages(**options)  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["w", "x x x x x x x x x x x x", "שלום עולם 你好 мир " * 20, "a\x00b " * 30])
def test_texts_of_any_kind_are_asked_with(search: SimilaritySearch, text: str) -> None:
    """One word, one repeated word, mixed scripts, control characters: the copy is found, nothing else."""
    search.index([Document("copy", text)])

    assert ["copy"] == [hit.id for hit in search.passages(text=text).hits]
    assert {1.0} == {hit.containment for hit in search.passages(text=text).hits}


def test_errors_have_one_tree(search: SimilaritySearch) -> None:
    """A text without words is an error like any other."""
    with pytest.raises(SimdocError, match="the text has no words"):
        search.passages(text="")
