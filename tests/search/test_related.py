"""Which documents are about the same, in every store."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.concepts import Extractor, Synonyms, extractor_named
from simdoc_search.errors import (
    FormatMismatchError,
    NoFingerprintError,
    QuerySyntaxError,
    UnknownDocumentError,
    UnknownFieldError,
)
from simdoc_search.search import RelatedResult
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.stores.filters import none_of
from simdoc_search.versions.relations import relation_score
from tests.support.stores import NewStore
from tests.versions.paper import DOCUMENTS

BOTH = Settings(sentences=Sentences(), concepts=Concepts())
NAMES = Settings(concepts=Concepts("names"))


def found(result: RelatedResult) -> list[tuple[str, str]]:
    """Kind and id of each hit."""
    return [(hit.kind, hit.id) for hit in result.hits]


def papers() -> Iterator[Document]:
    """The five documents of the paper."""
    return (Document(f"D{number}", text, {"number": number}) for number, text in enumerate(DOCUMENTS, 1))


@pytest.fixture
def search(new_store: NewStore) -> Iterator[SimilaritySearch]:
    """A search over the five documents of the paper."""
    with new_store(BOTH) as store:
        made = SimilaritySearch(store)
        assert not made.index(papers()).failed
        yield made


def test_the_papers_documents(search: SimilaritySearch) -> None:
    """1 and 2 are versions, 3 and 4 related, 5 is neither; what both are about is named."""
    expected: list[list[tuple[str, str]]]
    expected = [[("version", "D2")], [("version", "D1")], [("related", "D4")], [("related", "D3")], []]
    results = [search.related(f"D{number}") for number in range(1, 6)]

    assert expected == [found(each) for each in results]
    assert results[0].theta == 0.75 <= results[0].hits[0].score <= 1
    assert 0.5 <= results[2].hits[0].score < 0.75
    assert {"Jason Dufner", "New York", "Oak Hill", "PGA Championship", "major golf"} <= {*results[2].hits[0].concepts}
    assert {"Tiger Woods", "Elin Nordegren"} <= {*results[0].hits[0].concepts}
    assert "related  D4  Jason Dufner" in str(results[2])
    assert [""] * 5 == [each.unnamed for each in results]


def test_a_text_is_asked_about(search: SimilaritySearch) -> None:
    """It finds itself, if it is stored; filters hold for the hits."""
    own = search.store.get("D3")

    assert [("version", "D3"), ("related", "D4")] == found(search.related(text=DOCUMENTS[2]))
    assert own is not None
    assert [("related", "D4")] == found(search.related(text=DOCUMENTS[2], exclude=own.place))
    assert [] == search.related("D3", filters={"number": none_of(4)}).hits
    assert [("version", "D3")] == found(search.related(text=DOCUMENTS[2], size=1))
    with pytest.raises(UnknownFieldError, match="colour"):
        search.related("D3", filters={"colour": "red"})


def test_synonyms_relate_what_has_no_word_in_common(new_store: NewStore) -> None:
    """If the store was made with them; a text needs the same."""
    texts = {"a": "I saw the Lorry of Bob Hope.", "b": "A Truck came, then Mr Hope.", "c": "Ann went to Rome."}
    synonyms = Synonyms({("lorry",): ("truck",), ("bob", "hope"): ("hope",)})
    with_them = extractor_named("names", synonyms)
    for extractor, expected in ((extractor_named("names"), []), (with_them, ["b"])):
        with new_store(Settings(concepts=extractor.settings)) as store:
            search = SimilaritySearch(store)
            search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)

            assert expected == [hit.id for hit in search.related("a").hits][:1]
            hits = search.related(text=texts["a"], extractor=extractor).hits
            assert ["a", *expected] == [hit.id for hit in hits]
    with new_store(Settings(concepts=with_them.settings)) as store:
        search = SimilaritySearch(store)
        search.index((Document(id, text) for id, text in texts.items()), extractor=with_them)
        with pytest.raises(FormatMismatchError, match=r"with synonyms .*; give their file"):
            search.related(text="the Lorry")
        with pytest.raises(FormatMismatchError, match=", not "):
            search.related(text="the Lorry", synonyms=Synonyms({("x",): ("y",)}))
        with pytest.raises(FormatMismatchError, match="give the one it was made with"):
            search.related("a", extractor=extractor_named("names"))
        assert ["a", "b"] == [hit.id for hit in search.related(text=texts["a"], synonyms=synonyms).hits]
        assert ("Lorry of Bob Hope",) == search.related("a", synonyms=synonyms).hits[0].concepts[:1]


def test_common_concepts_relate_nothing_and_few_are_compared(new_store: NewStore) -> None:
    """Of 60 documents that have one name in common, two that share a rare one as well are related."""
    with new_store(NAMES) as store:
        search = SimilaritySearch(store)
        texts = (f"The Danube, then a Person{n} of Slovakia{n // 2}." for n in range(60))
        search.index(
            Document(f"{n}", f"{text} Old Budapest{n // 20}, in Hungary{n // 2}.") for n, text in enumerate(texts)
        )
        result = search.related("0")

    assert result.candidates == 59
    assert result.compared == 50
    assert ["1"] == [hit.id for hit in result.hits]
    assert {"Hungary0", "Danube"} <= {*result.hits[0].concepts}


def test_without_texts_nothing_is_named(new_store: NewStore) -> None:
    """How much is shared is said, and why not what."""
    with new_store(BOTH, store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(papers())
        result = search.related("D3")

    assert [("related", "D4", ())] == [(hit.kind, hit.id, hit.concepts) for hit in result.hits]
    assert result.hits[0].shared > 10
    assert "the store does not have the texts" == result.unnamed
    assert f"{result.hits[0].shared} concept words in common" in str(result)


def test_a_document_without_concepts_says_so(new_store: NewStore) -> None:
    """As it has none, or as the extractor failed on it, which costs no other."""

    class Failing:
        name = "names"

        def find(self, text: str) -> list[Counter[str]]:
            if "fail" in text:
                raise RuntimeError
            return [Counter(each for each in text.split() if each.istitle())]

    extractor = Extractor(Failing())
    with new_store(NAMES) as store:
        search = SimilaritySearch(store)
        texts = {"a": "Danube Vienna Linz", "b": "Danube Vienna Linz", "none": "no name", "bad": "fail Danube"}
        report = search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)

        assert {"bad"} == report.incomplete.keys()
        assert ["b"] == [hit.id for hit in search.related("a").hits]
        for id in ("none", "bad"):
            with pytest.raises(NoFingerprintError, match=f"the document '{id}' has no concepts"):
                search.related(id)
        with pytest.raises(NoFingerprintError, match="the text has no concepts"):
            search.related(text="...")
        with pytest.raises(NoFingerprintError, match=r"names failed on x\.txt"):
            search.related(text="fail", name="x.txt", extractor=extractor)


def test_a_store_without_concepts_says_what_to_do(new_store: NewStore) -> None:
    """For a document as for a text."""
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(papers())
        with pytest.raises(FormatMismatchError, match=r"without concepts; "):
            search.related("D1")
        with pytest.raises(FormatMismatchError, match=r"without concepts; "):
            search.related(text=DOCUMENTS[0])


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({}, QuerySyntaxError),
        ({"query": "D3", "text": "x"}, QuerySyntaxError),
        ({"query": "D3", "size": 0}, QuerySyntaxError),
        ({"query": "D3", "filters": "x"}, QuerySyntaxError),
        ({"query": "D9"}, UnknownDocumentError),
    ],
)
def test_wrong_arguments_are_refused(options: dict[str, object], error: type[Exception]) -> None:
    """In one sentence."""
    from simdoc_search import open_store

    with open_store(":memory:", NAMES, create=True) as store, pytest.raises(error):
        SimilaritySearch(store).related(**options)  # type: ignore[arg-type]


def test_an_explanation_adds_up_to_the_score(search: SimilaritySearch) -> None:
    """What both have is named as each of them calls it."""
    hit = search.related("D3", explain=True).hits[0]
    made = hit.explanation

    assert made is not None
    assert made.similarity == pytest.approx(sum(each.part for each in made.concepts))
    assert made.similarity == pytest.approx((made.whole + made.paragraphs) / 2)
    assert hit.score == pytest.approx(relation_score(made.similarity))
    assert len(made.concepts) == hit.shared
    words = {each.word: each for each in made.concepts}
    assert ("Jason Dufner",) == words["dufner"].source == words["dufner"].hit
    assert "PGA Championship" in words["championship"].source
    assert search.related("D3").hits[0].explanation is None
    version = search.related("D1", explain=True).hits[0]
    assert version.explanation is not None
    assert "version" == version.kind
    unnamed = search.related("D3", name_concepts=False).hits[0]
    assert (hit.id, hit.score, ()) == (unnamed.id, unnamed.score, unnamed.concepts)


def test_concepts_are_shown_with_what_led_to_them(new_store: NewStore) -> None:
    """Words that count as others are named by both, if the synonyms are given."""
    synonyms = Synonyms({("lorry",): ("truck",), ("bob", "hope"): ("hope",)})
    extractor = extractor_named("names", synonyms)
    texts = {"a": "I saw the Lorry of Bob Hope.\n\nThe Lorry is here.", "b": "A Truck came, then Mr Hope."}
    with new_store(Settings(concepts=extractor.settings)) as store:
        search = SimilaritySearch(store)
        search.index((Document(id, text) for id, text in texts.items()), extractor=extractor)
        result = search.concepts("a", synonyms=synonyms)
        without = search.concepts("a")

        truck = next(each for each in result.concepts if each.word == "truck")
        assert (2, 2, ("lorry",)) == (truck.documents, truck.times, truck.synonyms)
        assert "Lorry of Bob Hope" in truck.names
        assert (2, 1, "") == (result.documents, result.paragraphs, result.unnamed)
        assert [each.weight for each in result.concepts] == sorted((e.weight for e in result.concepts), reverse=True)
        assert "" in {each.word for each in without.concepts}
        assert "the synonyms of the index are not given" in without.unnamed
        with pytest.raises(UnknownDocumentError):
            search.concepts("c")
    with new_store() as store:
        search = SimilaritySearch(store)
        search.index(papers())
        with pytest.raises(FormatMismatchError, match=r"without concepts; "):
            search.concepts("D1")
