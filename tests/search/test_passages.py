"""Tests of `passages`: documents that share passages with a document or a text, in every store."""

from __future__ import annotations

import pytest

from simdoc_search import Document, SimilaritySearch, none_of
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, QuerySyntaxError
from simdoc_search.passages import containment, shingle_set
from simdoc_search.sketch.settings import Settings
from tests.support.stores import NewStore
from tests.support.texts import distinct_words

QUOTE = distinct_words(60, 1)


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over 20 long documents; two of them contain the quote."""
    texts = {f"docs/{number}": distinct_words(800, 100 + number) for number in range(20)}
    texts["docs/3"][300:300] = QUOTE
    texts["docs/7"][:0] = QUOTE[:45]
    search = SimilaritySearch(shared_store())
    search.index(Document(id, " ".join(words), {"kind": id[-1]}) for id, words in texts.items())
    return search


def test_a_quote_is_found_with_its_positions(search: SimilaritySearch) -> None:
    text = f"My own words, then: “{' '.join(QUOTE).upper()}” – and more of mine."
    result = search.passages(text=text)

    assert [("docs/3", 60), ("docs/7", 45)] == [(hit.id, hit.word_count) for hit in result]
    assert ("", text, 2) == (result.query_name, result.text, result.compared_count)
    for hit, words in zip(result, (QUOTE, QUOTE[:45]), strict=True):
        record = search.store.get(hit.id, load={"text"})
        (passage,) = hit.passages

        assert record is not None
        assert record.text is not None
        assert " ".join(words).upper() == text[slice(*passage.a)]
        assert " ".join(words) == record.text[slice(*passage.b)]
        assert containment(shingle_set(text), shingle_set(record.text)) == hit.containment
        assert containment(shingle_set(record.text), shingle_set(text)) == hit.reverse_containment
        assert ("exact", False, passage) == (hit.kind, hit.changed, hit.longest)


def test_a_stored_document_does_not_find_itself(search: SimilaritySearch) -> None:
    assert [("docs/7", 45)] == [(hit.id, hit.word_count) for hit in search.passages("docs/3")]
    assert ["docs/3"] == [hit.id for hit in search.passages("7")]


def test_filters_size_and_min_words_limit_the_hits(search: SimilaritySearch) -> None:
    assert [] == search.passages("docs/3", filters={"kind": none_of("7")}).hits
    assert ["docs/7"] == [hit.id for hit in search.passages("docs/3", filters={"kind": "7"})]
    assert ["docs/3"] == [hit.id for hit in search.passages(text=" ".join(QUOTE), size=1)]
    assert ["docs/3"] == [hit.id for hit in search.passages(text=" ".join(QUOTE), min_words=46)]
    for options in ({"min_words": 0}, {"preset": "best"}):
        with pytest.raises(QuerySyntaxError):
            search.passages("docs/3", **options)


def test_shares_are_estimated_without_texts(new_store: NewStore) -> None:
    common = distinct_words(400, 1)
    texts = {"a": common + distinct_words(400, 2), "b": common + distinct_words(1200, 3)}
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, " ".join(words)) for id, words in texts.items())
        (hit,) = search.passages("a")

    assert ("b", "estimated", ()) == (hit.id, hit.kind, hit.passages)
    assert 250 < hit.word_count < 550
    assert 0.3 < hit.containment < 0.7
    assert 0.1 < hit.reverse_containment < 0.4


@pytest.mark.slow
def test_all_documents_with_a_common_phrase_are_compared(new_store: NewStore) -> None:
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(f"{n}", " ".join(QUOTE + distinct_words(30, n))) for n in range(250))
        result = search.passages("0", size=5)

    assert (5, 249, 249, 249) == (len(result), result.total, result.candidate_count, result.compared_count)
    assert {60} == {hit.word_count for hit in result}


def test_a_store_without_passage_tokens_is_refused(new_store: NewStore) -> None:
    with new_store(Settings(passages=None)) as store:
        search = SimilaritySearch(store)
        search.index([Document("a", " ".join(QUOTE))])
        with pytest.raises(FormatMismatchError, match="without passages"):
            search.passages("a")


def test_a_text_without_words_is_refused(search: SimilaritySearch) -> None:
    with pytest.raises(NoFingerprintError, match="the text has no words, so nothing can share a passage with it"):
        search.passages(text=" .")


def test_a_copy_of_an_unusual_text_is_found(new_store: NewStore) -> None:
    texts = ["w", "x x x x x x x x x x x x", "שלום עולם 你好 мир " * 20, "a\x00b " * 30]
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(Document(str(number), text) for number, text in enumerate(texts))
        for number, text in enumerate(texts):
            assert [(str(number), 1.0)] == [(hit.id, hit.containment) for hit in search.passages(text=text)]
