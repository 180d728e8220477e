"""Tests of `versions`, in every store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Analysis, Document, Settings, SimilaritySearch, none_of, open_store
from simdoc_search.errors import (
    AmbiguousQueryError,
    NoFingerprintError,
    QuerySyntaxError,
    StoreError,
    UnknownDocumentError,
    UnknownFieldError,
)
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.versions import SimilarityThresholds, match_sentences, sentence_pairs
from simdoc_search.versions.query_sentences import MAX_QUERY_SENTENCES
from tests.support.engines import call
from tests.support.families import SETTINGS, library, prose, simhashes_of
from tests.support.stores import NewStore, put, record
from tests.versions.paper import DOCUMENTS

LIBRARY = library()


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over the library and the documents of the paper."""
    search = SimilaritySearch(shared_store(SETTINGS))
    search.index(Document(id, text, {"kind": id.partition("/")[0]}) for id, text in LIBRARY.items())
    search.index(Document(f"paper/{number}", text, {"kind": "paper"}) for number, text in enumerate(DOCUMENTS, 1))
    return search


def index(search: SimilaritySearch, texts: dict[str, list[str]]) -> None:
    search.index(Document(id, " ".join(sentences)) for id, sentences in texts.items())


@pytest.mark.slow
def test_hits_are_those_of_a_brute_force_comparison(search: SimilaritySearch) -> None:
    values = {id: simhashes_of(text) for id, text in LIBRARY.items()}
    thresholds = SimilarityThresholds()
    for id in [id for id in LIBRARY if len(set(values[id].tolist())) <= MAX_QUERY_SENTENCES]:
        expected = {}
        for other in LIBRARY.keys() - {id}:
            match = match_sentences(values[id], values[other])
            if score := thresholds.score_matches(match):
                pairs = match.a.tolist(), match.b.tolist(), match.distances.tolist()
                expected[other] = (score, match.share, match.share_of_other, pairs)
        hits = search.versions(id, size=100, filters={"kind": none_of("paper")}).hits
        actual = {}
        for hit in hits:
            pairs = (
                hit.sentence_matches.a.tolist(),
                hit.sentence_matches.b.tolist(),
                hit.sentence_matches.distances.tolist(),
            )
            actual[hit.id] = (hit.score, hit.share, hit.share_of_hit, pairs)

        assert expected == actual
        assert sorted(hits, key=lambda hit: (-hit.score, hit.id)) == hits


def test_only_some_sentences_of_a_long_document_are_queried(search: SimilaritySearch) -> None:
    result = search.versions("3/first.txt")

    assert (len(set(simhashes_of(LIBRARY["3/first.txt"]).tolist())), MAX_QUERY_SENTENCES) == (
        result.sentence_count,
        result.queried_sentence_count,
    )
    assert ["3/other0.txt", "3/other1.txt"] == sorted(hit.id for hit in result)[:2]
    assert {"3"} == {hit.id[0] for hit in result}


def test_common_sentences_do_not_hide_a_version(new_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """An excerpt without the common footer shares fewer sentences than all documents with the footer."""
    monkeypatch.setattr("simdoc_search.search.version_candidates.DEFAULT_MAX_MATCHES_BY_SENTENCES", 20)
    footer, own = prose(10, 1), prose(20, 2)
    others = {f"other{number}": prose(20, 10 + number) + footer for number in range(40)}
    near = [sentence.replace(" ", ", ", 1) for sentence in own[5:10]]
    with new_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        versions = {"source": own + footer, "excerpt": own[10:15], "near": near, "copy": own + prose(3, 3)}
        index(search, others | versions)
        result = search.versions("source", size=3)

    assert {"copy", "excerpt", "near"} == {hit.id for hit in result}
    assert result.compared_count < result.candidate_count


def test_documents_of_the_paper_are_versions_as_it_says(search: SimilaritySearch) -> None:
    """The paper says: 1 and 2 are versions; 3 and 4 are related and not versions; 5 is neither."""
    hits = {number: search.versions(f"paper/{number}").hits for number in range(1, 6)}
    (hit,) = hits[1]

    assert {1: ["paper/2"], 2: ["paper/1"], 3: [], 4: [], 5: []} == {
        number: [hit.id for hit in versions] for number, versions in hits.items()
    }
    assert (1.0, 1.0, 3 / 5, 5) == (hit.score, hit.share, hit.share_of_hit, hit.sentence_count)
    assert [(0, 0), (1, 1), (2, 2)] == list(
        zip(hit.sentence_matches.a.tolist(), hit.sentence_matches.b.tolist(), strict=True)
    )
    assert [4, 9, 8] == hit.sentence_matches.distances.tolist()


def test_an_order_without_dates_is_a_hint(search: SimilaritySearch) -> None:
    result = search.versions("paper/1")

    assert ["paper/1", "paper/2"] == [version.name for version in result.timeline]
    assert ("texts", False, None) == (result.evidence_kind, result.is_certain, result.newest)
    assert result.reason.startswith("no evidence shows which is newer")
    assert "in 48 of 60 families" in str(result)
    assert "(newest" not in str(result)


def test_a_text_has_versions_and_the_dates_of_its_file(search: SimilaritySearch, tmp_path: Path) -> None:
    text = LIBRARY["3/first.txt"]
    file = tmp_path / "2019" / "notes" / "first.txt"
    file.parent.mkdir(parents=True)
    file.write_text(text)
    result = search.versions(text=text, file=file)
    key = next(hit.key for hit in result if hit.id == "3/first.txt")
    (source,) = [version.date for version in result.timeline if version.is_query]

    assert source is not None
    assert source.evidence_kind == "modification time"
    assert (str(file), text, 1.0) == (result.query_name, result.text, result.hits[0].score)
    assert "3/first.txt" not in {hit.id for hit in search.versions(text=text, exclude=key)}
    dated = search.versions(text=text, metadata={"modified": "2021-03-12"}).timeline
    assert ["12 Mar 2021"] == [version.date.label for version in dated if version.date and version.is_query]
    assert "the text: no other version" == str(search.versions(text=DOCUMENTS[4], filters={"kind": "3"}))


def test_a_copy_with_windows_line_ends_is_a_version(new_store: NewStore) -> None:
    text = (
        "\n".join(sentence.replace(" ", "\n", 3) for sentence in prose(30, 5)) + "\n\n- one item of a list\n- another\n"
    )
    saved = text.replace("\n", "\r\n")
    with new_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index([Document("unix", text), Document("windows", saved)])
        (hit,) = search.versions("windows")
    pairs = sentence_pairs(saved, text, Analysis())

    assert ("unix", 1.0, 1.0) == (hit.id, hit.share, hit.share_of_hit)
    assert len(pairs) == hit.sentence_count
    assert all(saved[slice(*pair.a)].split() == text[slice(*pair.b)].split() for pair in pairs)


def test_filters_and_thresholds_select_versions(search: SimilaritySearch) -> None:
    key = search.versions("paper/1").hits[0].key

    assert ["paper/1"] == [hit.id for hit in search.versions(key)]
    for options in (
        {"filters": {"kind": "3"}},
        {"min_share": 0.7, "max_distance": 8},
        {"min_share": 0.7, "min_smaller_share": 0.65},
    ):
        assert [] == search.versions("paper/1", **options).hits
    with pytest.raises(UnknownFieldError, match="colour"):
        search.versions("paper/3", filters={"colour": "red"})


def test_without_stored_texts_no_words_are_counted(new_memory_store: NewStore) -> None:
    with new_memory_store(SETTINGS, store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index(Document(f"v{number}", DOCUMENTS[number - 1]) for number in (1, 2))
        result = search.versions("v1")
    changes = result.timeline[1].changes

    assert ["v1", "v2"] == [version.name for version in result.timeline]
    assert changes is not None
    assert (1.0, None, None) == (changes.share, changes.added_word_count, changes.removed_word_count)
    assert "words" not in str(result).split("\n")[-1]


@pytest.mark.parametrize(
    "text",
    [
        "Only three words",
        "ひとつの文。もうひとつの文はここにあります。そして最後の文。",
        pytest.param("no end to this sentence " * 40_000, marks=pytest.mark.slow),
        "\ud800 a lone surrogate and some words",
    ],
    ids=["three words", "Japanese", "one sentence of 1 MB", "surrogate"],
)
def test_a_copy_of_an_unusual_text_is_a_version(new_memory_store: NewStore, text: str) -> None:
    with new_memory_store(SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index([Document("copy", text), Document("other", " ".join(prose(20, 3)))])

        assert [("copy", 1.0)] == [(hit.id, hit.score) for hit in search.versions(text=text)]


def test_malformed_queries_are_refused(search: SimilaritySearch) -> None:
    with pytest.raises(UnknownDocumentError, match="paper/9"):
        search.versions("paper/9")
    with pytest.raises(NoFingerprintError, match="has no words, so nothing can be a version of it"):
        search.versions(text="... !")
    with pytest.raises(QuerySyntaxError):
        search.versions("paper/1", file="x")
    with pytest.raises(QuerySyntaxError, match="min_share must be greater than 0"):
        search.versions("paper/1", min_share=1.5)


@pytest.mark.parametrize("passages", [PassageSettings(), None])
def test_a_store_without_sentences_finds_the_same_versions(
    new_store: NewStore, passages: PassageSettings | None
) -> None:
    """The candidates come from passages or fingerprints, and the sentences from the texts."""
    texts = {id: text for id, text in LIBRARY.items() if id[0] in "01"}
    results = []
    for settings in (SETTINGS, Settings(passages=passages)):
        with new_store(settings) as store:
            search = SimilaritySearch(store)
            search.index(Document(id, text) for id, text in texts.items())
            results.append([search.versions("1/first.txt", size=100), search.versions(text=texts["1/first.txt"])])
    for with_sentences, without in zip(*results, strict=True):
        assert ("sentences", "passages" if passages else "fingerprints") == (
            with_sentences.candidate_source,
            without.candidate_source,
        )
        assert {hit.id: hit.score for hit in with_sentences} == {hit.id: hit.score for hit in without}


def test_a_store_without_texts_and_sentences_is_refused(new_store: NewStore) -> None:
    with new_store(store_texts=False) as store:
        search = SimilaritySearch(store)
        search.index([Document("a", "some words of a text")])
        for options in ({"query": "a"}, {"text": "some words"}):
            with pytest.raises(StoreError, match="neither sentences nor texts"):
                search.versions(**options)  # type: ignore[arg-type]


def test_a_deleted_document_is_not_a_version(new_store: NewStore) -> None:
    search = SimilaritySearch(new_store(SETTINGS))
    put(search.store, record("empty"))
    search.index(Document(f"{number}", text) for number, text in enumerate(DOCUMENTS, 1))
    assert ["2"] == [hit.id for hit in search.versions("1")]
    search.delete(["2"])

    assert [] == search.versions("1").hits
    with pytest.raises(NoFingerprintError, match="the document 'empty' has no sentences"):
        search.versions("empty")


def test_the_best_candidates_are_compared(search: SimilaritySearch, monkeypatch: pytest.MonkeyPatch) -> None:
    everything = search.versions("1/first.txt")
    monkeypatch.setattr("simdoc_search.search.version_candidates.DEFAULT_MAX_MATCHES_BY_SENTENCES", 3)
    result = search.versions("1/first.txt", size=1, min_smaller_share=0.3)

    assert everything.candidate_count == everything.compared_count == result.candidate_count > result.compared_count
    assert everything.hits[0].key == result.hits[0].key


def test_documents_with_the_same_id_behind_an_alias_are_versions(
    opensearch_url: str, new_opensearch_store: NewStore
) -> None:
    stores: list[Any] = [new_opensearch_store(SETTINGS) for _ in range(2)]
    for store, text in zip(stores, DOCUMENTS, strict=False):
        SimilaritySearch(store).index([Document("a", text)])
    alias = f"{stores[0].index}-alias"
    actions = [{"add": {"index": store.index, "alias": alias}} for store in stores]
    call(opensearch_url, "POST", "/_aliases", {"actions": actions})
    search = SimilaritySearch(open_store(f"{opensearch_url}/{alias}"))
    keys = [stored.key for stored in search.store.records(["a"])]
    result = search.versions(keys[0])

    assert [keys[1]] == [hit.key for hit in result]
    names = [f"a in {store.index}" for store in stores]
    assert [1, 1] == [sum(line[51:].split("  (")[0] == name for line in result.timeline_lines()) for name in names]
    with pytest.raises(AmbiguousQueryError):
        search.versions("a")
