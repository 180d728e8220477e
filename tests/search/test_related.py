"""Tests of `related` and `concepts`, in every store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.concepts import Extractor, Synonyms, extractor_from_option
from simdoc_search.errors import FormatMismatchError, NoFingerprintError, UnknownDocumentError, UnknownFieldError
from simdoc_search.search.related_result import RelatedResult
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.stores.filters import none_of
from simdoc_search.versions.relations import relation_score
from tests.support.stores import NewStore
from tests.versions.paper import DOCUMENTS

WITH_SENTENCES_AND_CONCEPTS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())
WITH_NAMES = Settings(concepts=ConceptSettings("names"))


def kinds_and_ids(result: RelatedResult) -> list[tuple[str, str]]:
    return [(hit.kind, hit.id) for hit in result]


def paper() -> Iterator[Document]:
    """Yield the five documents of the paper."""
    return (Document(f"D{number}", text, {"number": number}) for number, text in enumerate(DOCUMENTS, 1))


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over the documents of the paper."""
    search = SimilaritySearch(shared_store(WITH_SENTENCES_AND_CONCEPTS))
    assert not search.index(paper()).has_failed
    return search


def test_documents_of_the_paper_are_versions_or_related_as_it_says(search: SimilaritySearch) -> None:
    """The paper says: 1 and 2 are versions, 3 and 4 are related, 5 is neither."""
    expected: list[list[tuple[str, str]]]
    expected = [[("version", "D2")], [("version", "D1")], [("related", "D4")], [("related", "D3")], []]
    results = [search.related(f"D{number}") for number in range(1, 6)]

    assert expected == [kinds_and_ids(result) for result in results]
    assert 0.75 <= results[0].hits[0].score <= 1
    assert 0.5 <= results[2].hits[0].score < 0.75
    assert {"Jason Dufner", "New York", "Oak Hill", "PGA Championship", "golf"} <= {*results[2].hits[0].concepts}
    assert {"Tiger Woods", "Elin Nordegren"} <= {*results[0].hits[0].concepts}
    assert "related  D4  Jason Dufner" in str(results[2])
    assert [""] * 5 == [result.missing_names_reason for result in results]


def test_a_text_finds_what_its_document_finds(search: SimilaritySearch) -> None:
    stored = search.store.get("D3")

    assert [("version", "D3"), ("related", "D4")] == kinds_and_ids(search.related(text=DOCUMENTS[2]))
    assert stored is not None
    assert [("related", "D4")] == kinds_and_ids(search.related(text=DOCUMENTS[2], exclude=stored.key))
    assert [] == search.related("D3", filters={"number": none_of(4)}).hits
    with pytest.raises(UnknownFieldError, match="colour"):
        search.related("D3", filters={"colour": "red"})
    with pytest.raises(UnknownDocumentError):
        search.related("D9")


def test_synonyms_relate_documents_without_a_common_word(new_store: NewStore) -> None:
    texts = {"a": "I saw the Lorry of Bob Hope.", "b": "A Truck came, then Mr Hope.", "c": "Ann went to Rome."}
    synonyms = Synonyms({("lorry",): ("truck",), ("bob", "hope"): ("hope",)})
    plain, with_synonyms = extractor_from_option("names"), extractor_from_option("names", synonyms)
    for extractor, expected in ((plain, []), (with_synonyms, ["b"])):
        with new_store(Settings(concepts=extractor.settings)) as store:
            search = SimilaritySearch(store)
            search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)

            assert expected == [hit.id for hit in search.related("a")][:1]
            assert ["a", *expected] == [hit.id for hit in search.related(text=texts["a"], extractor=extractor)]
            if not expected:
                continue
            assert ["a", "b"] == [hit.id for hit in search.related(text=texts["a"], synonyms=synonyms)]
            assert ("Lorry of Bob Hope",) == search.related("a", synonyms=synonyms).hits[0].concepts[:1]
            with pytest.raises(FormatMismatchError, match=r"with a synonym file .*; give that file"):
                search.related(text="the Lorry")
            with pytest.raises(FormatMismatchError, match=", not "):
                search.related(text="the Lorry", synonyms=Synonyms({("x",): ("y",)}))
            with pytest.raises(
                FormatMismatchError, match="pass the extractor and the synonyms that the index was created with"
            ):
                search.related("a", extractor=plain)


def test_common_concepts_do_not_relate_documents(new_store: NewStore) -> None:
    """All 60 documents share one name; pairs share a rare name too. At most 50 documents are compared."""
    with new_store(WITH_NAMES) as store:
        search = SimilaritySearch(store)
        texts = (f"The Danube, then a Person{n} of Slovakia{n // 2}." for n in range(60))
        search.index(
            Document(f"{n}", f"{text} Old Budapest{n // 20}, in Hungary{n // 2}.") for n, text in enumerate(texts)
        )
        result = search.related("0")

    assert (59, 50) == (result.candidate_count, result.compared_count)
    assert ["1"] == [hit.id for hit in result]
    assert {"Hungary0", "Danube"} <= {*result.hits[0].concepts}


def test_without_texts_shared_concepts_are_only_counted(new_store: NewStore) -> None:
    with new_store(WITH_SENTENCES_AND_CONCEPTS, store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(paper())
        result = search.related("D3")
    (hit,) = result.hits

    assert ("related", "D4", ()) == (hit.kind, hit.id, hit.concepts)
    assert hit.shared_word_count > 10
    assert "the index does not keep texts" == result.missing_names_reason
    assert f"{hit.shared_word_count} concept words in common" in str(result)


def test_a_document_without_concepts_is_refused(new_store: NewStore) -> None:
    """A failure of the extractor on one document does not affect the others."""

    class Failing:
        name = "names"

        def find(self, text: str) -> list[Counter[str]]:
            if "fail" in text:
                raise RuntimeError
            return [Counter(word for word in text.split() if word.istitle())]

    extractor = Extractor(Failing())
    with new_store(WITH_NAMES) as store:
        search = SimilaritySearch(store)
        texts = {"a": "Danube Vienna Linz", "b": "Danube Vienna Linz", "none": "no name", "bad": "fail Danube"}
        report = search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)

        assert {"bad"} == report.incomplete.keys()
        assert ["b"] == [hit.id for hit in search.related("a")]
        for id in ("none", "bad"):
            with pytest.raises(NoFingerprintError, match=f"the document '{id}' has no concepts"):
                search.related(id)
        with pytest.raises(NoFingerprintError, match="the text has no concepts"):
            search.related(text="...")
        with pytest.raises(NoFingerprintError, match=r"names failed, so the concepts of x\.txt"):
            search.related(text="fail", name="x.txt", extractor=extractor)


def test_a_store_without_concepts_is_refused() -> None:
    with open_store(":memory:") as store:
        search = SimilaritySearch(store)
        search.index(paper())
        for method in (search.related, lambda id: search.related(text=id), search.concepts):
            with pytest.raises(FormatMismatchError, match=r"without concepts; "):
                method("D1")


def test_the_parts_of_an_explanation_add_up_to_the_score(search: SimilaritySearch) -> None:
    (hit,) = search.related("D3", explain=True).hits
    explanation = hit.explanation

    assert explanation is not None
    assert explanation.similarity == pytest.approx(sum(concept.contribution for concept in explanation.words))
    assert explanation.similarity == pytest.approx(
        (explanation.document_similarity + explanation.paragraph_similarity) / 2
    )
    assert hit.score == pytest.approx(relation_score(explanation.similarity))
    assert len(explanation.words) == hit.shared_word_count
    concepts = {concept.word: concept for concept in explanation.words}
    assert ("Jason Dufner",) == concepts["dufner"].query_concepts == concepts["dufner"].hit_concepts
    assert "PGA Championship" in concepts["championship"].query_concepts
    assert search.related("D3").hits[0].explanation is None
    version = search.related("D1", explain=True).hits[0]
    assert ("version", True) == (version.kind, version.explanation is not None)
    unnamed = search.related("D3", name_concepts=False).hits[0]
    assert (hit.id, hit.score, ()) == (unnamed.id, unnamed.score, unnamed.concepts)


def test_concepts_have_their_names_weights_and_synonyms(new_store: NewStore) -> None:
    synonyms = Synonyms({("lorry",): ("truck",), ("bob", "hope"): ("hope",)})
    extractor = extractor_from_option("names", synonyms)
    texts = {"a": "I saw the Lorry of Bob Hope.\n\nThe Lorry is here.", "b": "A Truck came, then Mr Hope."}
    with new_store(Settings(concepts=extractor.settings)) as store:
        search = SimilaritySearch(store)
        search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)
        result = search.concepts("a", synonyms=synonyms)
        without = search.concepts("a")
        truck = next(concept for concept in result.words if concept.word == "truck")
        weights = [concept.weight for concept in result.words]

        assert (2, 2, ("lorry",)) == (truck.document_count, truck.occurrence_count, truck.synonyms)
        assert "Lorry of Bob Hope" in truck.concepts
        assert (2, 1, "") == (result.document_count, result.paragraph_count, result.unknown_words_reason)
        assert sorted(weights, reverse=True) == weights
        assert "" in {concept.word for concept in without.words}
        assert "synonyms only as hashes" in without.unknown_words_reason
        with pytest.raises(UnknownDocumentError):
            search.concepts("c")
