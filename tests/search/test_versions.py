"""Which documents are versions of one, in every store."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Analysis, Document, Settings, SimilaritySearch, VersionsResult, none_of, open_store
from simdoc_search.errors import (
    AmbiguousQueryError,
    NoFingerprintError,
    QuerySyntaxError,
    StoreError,
    UnknownDocumentError,
    UnknownFieldError,
)
from simdoc_search.sketch.winnow import Passages
from simdoc_search.versions import Limits, matched, sentence_pairs
from simdoc_search.versions.query_sentences import MAX_QUERIED
from tests.support.engines import call
from tests.support.families import SETTINGS, library, prose, simhashes_of
from tests.support.stores import NewStore, put, record
from tests.versions.paper import DOCUMENTS


def paper() -> Iterator[Document]:
    """The documents of the paper."""
    for number, text in enumerate(DOCUMENTS, 1):
        yield Document(f"paper/{number}", text, {"kind": "paper"})


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over the library and the documents of the paper."""
    made = SimilaritySearch(shared_store(SETTINGS))
    made.index(Document(id, text, {"kind": id.partition("/")[0]}) for id, text in library().items())
    made.index(paper())
    return made


@pytest.mark.slow
def test_all_versions_are_found_as_by_brute_force(search: SimilaritySearch) -> None:
    """With the scores, shares and pairs of sentences that comparing each with each gives."""
    texts = library()
    values = {id: simhashes_of(text) for id, text in texts.items()}
    limits = Limits()
    for id in [each for each in texts if len(set(values[each].tolist())) <= MAX_QUERIED]:
        wanted = {}
        for other in texts.keys() - {id}:
            found = matched(values[id], values[other])
            if score := limits.score_of(found):
                pairs = found.a.tolist(), found.b.tolist(), found.bits.tolist()
                wanted[other] = (score, found.share, found.share_of_other, pairs)
        hits = search.versions(id, size=100, filters={"kind": none_of("paper")}).hits
        got = {
            hit.id: (
                hit.score,
                hit.share,
                hit.share_of_hit,
                (hit.matched.a.tolist(), hit.matched.b.tolist(), hit.matched.bits.tolist()),
            )
            for hit in hits
        }

        assert wanted == got
        assert sorted(hits, key=lambda hit: (-hit.score, hit.id)) == hits


def test_of_a_long_document_some_sentences_are_asked(search: SimilaritySearch) -> None:
    """As many as find a version that has a tenth of them, all the same."""
    result = search.versions("3/first.txt")
    values = simhashes_of(library()["3/first.txt"])

    assert (len(set(values.tolist())), MAX_QUERIED) == result.sentences
    assert ["3/other0.txt", "3/other1.txt"] == sorted(hit.id for hit in result.hits)[:2]
    assert {"3"} == {hit.id[0] for hit in result.hits}
    assert result.sentences == search.versions("3/first.txt").sentences


def test_what_stands_everywhere_hides_no_version(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An excerpt without the footer shares less than all that have it; the sentences that few have find it."""
    monkeypatch.setattr("simdoc_search.search.versions_candidates.MAX_COMPARED", 20)
    footer, own = prose(10, 1), prose(20, 2)
    others = {f"other{number}": prose(20, 10 + number) + footer for number in range(40)}
    near = [each.replace(" ", ", ", 1) for each in own[5:10]]
    texts = others | {"source": own + footer, "excerpt": own[:5], "near": near, "copy": own + prose(3, 3)}
    with new_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, " ".join(sentences)) for id, sentences in texts.items())
        result = search.versions("source", size=3)

    assert {"copy", "excerpt", "near"} == {hit.id for hit in result.hits}
    assert result.compared < result.candidates


def test_the_documents_of_the_paper(search: SimilaritySearch) -> None:
    """1 and 2 are versions, by all sentences of 1, as the paper has it; 3 and 4, about the same, are not; nor is 5."""
    hits = {id: search.versions(f"paper/{id}").hits for id in range(1, 6)}
    (hit,) = hits[1]

    assert {1: ["paper/2"], 2: ["paper/1"], 3: [], 4: [], 5: []} == {
        id: [each.id for each in found] for id, found in hits.items()
    }
    assert (1.0, 3 / 5, 5) == (hit.share, hit.share_of_hit, hit.sentences)
    assert [(0, 0), (1, 1), (2, 2)] == list(zip(hit.matched.a.tolist(), hit.matched.b.tolist(), strict=True))
    assert [4, 9, 8] == hit.matched.bits.tolist()
    assert hit.score == 1.0


def test_without_dates_an_order_is_proposed(search: SimilaritySearch) -> None:
    """It is a hint, and the newest is not claimed; the reason says what is missing."""
    result = search.versions("paper/1")

    assert ["paper/1", "paper/2"] == [each.name for each in result.timeline]
    assert ("texts", False, None) == (result.by, result.certain, result.newest)
    assert result.reason.startswith("nothing says which is newer")
    assert "in 48 of 60 families" in str(result)
    assert "(newest" not in str(result)


def test_a_text_that_is_not_stored(search: SimilaritySearch, tmp_path: Path) -> None:
    """Its file gives its name and its dates; a document that it is a state of is left out."""
    text = library()["3/first.txt"]
    file = tmp_path / "2019" / "notes" / "first.txt"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    result = search.versions(text=text, file=file)
    place = next(hit.place for hit in result.hits if hit.id == "3/first.txt")
    others = search.versions(text=text, exclude=place).hits

    (source,) = [each.dated for each in result.timeline if each.is_source]

    assert isinstance(result, VersionsResult)
    assert source is not None
    assert source.by == "modification time"
    assert (str(file), text, 1.0) == (result.source, result.text, result.hits[0].score)
    assert "3/first.txt" not in {hit.id for hit in others}
    assert search.versions(text=text).source == ""
    dated = search.versions(text=text, metadata={"modified": "2021-03-12"}).timeline
    assert ["12 Mar 2021"] == [each.dated.shown for each in dated if each.dated and each.is_source]
    assert "the text: no other version" == str(search.versions(text=DOCUMENTS[4], filters={"kind": "3"}))


def test_a_copy_saved_on_windows_is_a_version(new_store: NewStore) -> None:
    """All its sentences are alike, and where they stand is said of the text as it is."""
    text = "\n".join(each.replace(" ", "\n", 3) for each in prose(30, 5)) + "\n\n- one item of a list\n- another\n"
    saved = text.replace("\n", "\r\n")
    with new_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index([Document("unix", text), Document("windows", saved)])
        (hit,) = search.versions("windows").hits
    pairs = sentence_pairs(saved, text, Analysis())

    assert ("unix", 1.0, 1.0) == (hit.id, hit.share, hit.share_of_hit)
    assert len(pairs) == hit.sentences
    assert all(saved[slice(*each.a)].split() == text[slice(*each.b)].split() for each in pairs)


def test_dates_of_several_kinds_order_together(new_memory_store: NewStore) -> None:
    """A date in a name and dates in metadata are dates; a document without any is placed aside."""
    first = prose(12, 3)
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(
            Document(id, " ".join(first[:count]), metadata)
            for id, count, metadata in (
                ("2019/plan.txt", 9, {}),
                ("mail1", 10, {"sent": "2021-02-01"}),
                ("mail2", 11, {"sent": "2021-02-02"}),
                ("note", 12, {}),
            )
        )
        result = search.versions("mail1")

    assert ("dates", "mail2") == (result.by, result.newest.name if result.newest else None)
    assert ["2019", "1 Feb 2021", "2 Feb 2021"] == [result.when(each) for each in result.timeline]
    assert ["note"] == [each.name for each in result.undated]
    assert "undated, so not in this order:" in str(result).split("\n")
    assert "not counting 1 undated document" in str(result).split("\n")[-1]


def test_places_and_filters(search: SimilaritySearch) -> None:
    """A hit's place is asked with; filters hold for the hits; more or less may be enough."""
    place = search.versions("paper/1").hits[0].place

    assert ["paper/1"] == [hit.id for hit in search.versions(place).hits]
    assert [] == search.versions("paper/1", filters={"kind": "3"}).hits
    assert [] == search.versions("paper/1", enough=0.7, bits=8).hits
    assert [] == search.versions("paper/1", enough=0.7, least=0.65).hits
    with pytest.raises(UnknownFieldError, match="colour"):
        search.versions("paper/3", filters={"colour": "red"})


def test_texts_need_not_be_stored(new_memory_store: NewStore) -> None:
    """Then no words are counted, and all else is as ever."""
    with new_memory_store(SETTINGS, store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"v{number}", DOCUMENTS[number - 1]) for number in (1, 2))
        result = search.versions("v1")

    assert ["v1", "v2"] == [each.name for each in result.timeline]
    assert result.timeline[1].step is not None
    assert (1.0, None, None) == (
        result.timeline[1].step.share,
        result.timeline[1].step.added,
        result.timeline[1].step.removed,
    )
    assert "words" not in str(result).split("\n")[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Only three words",
        "ひとつの文。もうひとつの文はここにあります。そして最後の文。",
        "Первое предложение о погоде. Второе предложение о море и о кораблях.",
        pytest.param("no end to this sentence " * 40_000, marks=pytest.mark.slow),
        "\ud800 a lone surrogate, and what stands around it",
    ],
    ids=["three words", "Japanese", "Russian", "one sentence of 1 MB", "surrogate"],
)
def test_odd_texts_have_versions_too(new_memory_store: NewStore, text: str) -> None:
    """A copy at least."""
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index([Document("copy", text), Document("other", " ".join(prose(20, 3)))])
        (hit,) = search.versions(text=text).hits

    assert ("copy", 1.0) == (hit.id, hit.score)


def test_what_cannot_be_asked_is_said(search: SimilaritySearch) -> None:
    """In a sentence that says what to do."""
    with pytest.raises(UnknownDocumentError, match="paper/9"):
        search.versions("paper/9")
    with pytest.raises(NoFingerprintError, match="has no words, so nothing can be a version of it"):
        search.versions(text="... !")
    for arguments in (
        {},
        {"query": "paper/1", "text": "x"},
        {"query": "paper/1", "file": "x"},
        {"query": "x", "size": 0},
    ):
        with pytest.raises(QuerySyntaxError):
            search.versions(**arguments)
    with pytest.raises(QuerySyntaxError, match="enough must be over 0"):
        search.versions("paper/1", enough=1.5)


@pytest.mark.parametrize("passages", [Passages(), None])
def test_every_index_answers(new_store: NewStore, passages: Passages | None) -> None:
    """Without sentences the candidates come from passages and fingerprints, and sentences from the texts."""
    texts = library()
    answers = []
    for settings in (SETTINGS, Settings(passages=passages)):
        with new_store(settings) as store:
            search = SimilaritySearch(store)
            search.index(Document(id, text) for id, text in texts.items())
            answers.append([search.versions("2/first.txt", size=100), search.versions(text=texts["2/first.txt"])])
    for with_sentences, without in zip(*answers, strict=True):
        assert ("sentences", "passages" if passages else "fingerprints") == (with_sentences.via, without.via)
        assert {hit.id: hit.score for hit in with_sentences.hits} == {hit.id: hit.score for hit in without.hits}


def test_a_store_without_texts_and_sentences_says_what_to_do(new_store: NewStore) -> None:
    """Nothing can be compared."""
    with new_store(store_texts=False) as store:
        SimilaritySearch(store).index([Document("a", "some words of a text")])
        for asked in ({"query": "a"}, {"text": "some words"}):
            with pytest.raises(StoreError, match="has no texts"):
                SimilaritySearch(store).versions(**asked)  # type: ignore[arg-type]


def test_what_is_deleted_is_no_version(new_store: NewStore) -> None:
    """And a document of which no sentences could be made has none."""
    search = SimilaritySearch(new_store(SETTINGS))
    put(search.store, record("empty"))
    search.index(paper())
    assert ["paper/2"] == [hit.id for hit in search.versions("paper/1").hits]
    search.delete(["paper/2"])

    assert [] == search.versions("paper/1").hits
    with pytest.raises(NoFingerprintError, match="the document 'empty' has no sentences"):
        search.versions("empty")


def test_not_all_candidates_are_compared(search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch) -> None:
    """But those that share most, and of equal sentences too; it is said how many."""
    everything = search.versions("1/first.txt")
    monkeypatch.setattr("simdoc_search.search.versions_candidates.MAX_COMPARED", 3)
    result = search.versions("1/first.txt", size=1, least=0.3)

    assert everything.candidates == everything.compared == result.candidates > result.compared
    assert everything.hits[0].place == result.hits[0].place


def test_behind_an_alias_documents_of_one_id_are_versions(opensearch_url: str, new_opensearch_store: NewStore) -> None:
    """Of each other too; their indices tell them apart."""
    stores: list[Any] = [new_opensearch_store(SETTINGS) for _ in range(2)]
    for store, text in zip(stores, DOCUMENTS, strict=False):
        SimilaritySearch(store).index([Document("a", text)])
    alias = f"{stores[0].index}-alias"
    actions = [{"add": {"index": each.index, "alias": alias}} for each in stores]
    call(opensearch_url, "POST", "/_aliases", {"actions": actions})
    search = SimilaritySearch(open_store(f"{opensearch_url}/{alias}"))
    places = [each.place for each in search.store.records(["a"])]
    result = search.versions(places[0])

    assert [places[1]] == [hit.place for hit in result.hits]
    named = [f"a in {each.index}" for each in stores]
    assert [1, 1] == [sum(line[51:].split("  (")[0] == name for line in result.lines()) for name in named]
    with pytest.raises(AmbiguousQueryError):
        search.versions("a")
