"""Tests of families and topics of a whole collection, in every store."""

from __future__ import annotations

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.errors import FormatMismatchError, QuerySyntaxError, StoreError, UnknownFieldError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from tests.support.stores import NewStore
from tests.versions.paper import DOCUMENTS

WITH_SENTENCES_AND_CONCEPTS = Settings(sentences=SentenceSettings(), concepts=ConceptSettings())


def indexed(new_store: NewStore, settings: Settings = WITH_SENTENCES_AND_CONCEPTS, **options: bool) -> SimilaritySearch:
    """Index the five documents of the paper, and one without concepts."""
    search = SimilaritySearch(new_store(settings, **options))
    search.index(
        Document(f"D{n} v{n}", text, {"number": n, "modified": f"2020-01-0{n}"})
        for n, text in enumerate([*DOCUMENTS, "of the and to"], 1)
    )
    return search


@pytest.fixture(scope="module")
def search(shared_store: NewStore) -> SimilaritySearch:
    """A search over a store with sentences and concepts."""
    return indexed(shared_store)


def test_families_consist_of_the_hits_of_versions(search: SimilaritySearch) -> None:
    families = search.version_families()
    (family,), (edge,) = families.families(), families.edges()
    ordered = search.order_family(family)

    assert [["D1 v1", "D2 v2"]] == [[place.id for place in group] for group in families.groups()]
    assert edge.score == pytest.approx(search.versions("D1 v1").hits[0].score)
    assert (6, 1, 2, {}) == (families.document_count, families.family_count, families.member_count, families.left_out)
    assert ["D1 v1", "D2 v2"] == [version.name for version in ordered.timeline]
    assert "newest: D2 v2, by the modification dates in the metadata" == ordered.verdict


def test_topics_consist_of_the_hits_of_related(search: SimilaritySearch) -> None:
    topics = search.topics()
    edges = {(edge.a.id, edge.b.id): edge for edge in topics.edges()}

    assert 2 == len(edges) == topics.topic_count
    for id in ("D1 v1", "D3 v3"):
        (hit,) = search.related(id).hits
        assert hit.kind == edges[id, hit.id].kind
        assert hit.score == pytest.approx(edges[id, hit.id].score)
    (names,) = [search.name_topic(topic) for topic in topics.topics() if topic.centre.id == "D3 v3"]
    assert {"Jason Dufner", "PGA Championship"} <= {*names}
    assert {"D6 v6": "has no concepts"} == {place.id: reason for place, reason in topics.left_out.items()}


def test_filters_select_documents_and_do_not_change_scores(search: SimilaritySearch) -> None:
    (hit,) = search.related("D3 v3").hits
    topics = search.topics(filters={"number": [3, 4]})

    assert [pytest.approx(hit.score)] == [edge.score for edge in topics.edges()]
    assert 2 == topics.document_count
    assert 0 == search.version_families(filters={"number": [2, 3]}).family_count
    for method in (search.version_families, search.topics):
        with pytest.raises(UnknownFieldError, match="colour"):
            method(filters={"colour": "red"})
    with pytest.raises(QuerySyntaxError, match="min_share must be"):
        search.version_families(min_share=0)


def test_families_need_sentences_or_texts_and_topics_need_concepts(new_store: NewStore) -> None:
    search = indexed(new_store, Settings())
    with search.store:
        assert [["D1 v1", "D2 v2"]] == [[place.id for place in ids] for ids in search.version_families().groups()]
        with pytest.raises(FormatMismatchError, match="without concepts; "):
            search.topics()
    search = indexed(new_store, Settings(), store_texts=False)
    with search.store, pytest.raises(StoreError, match="with --with versions"):
        search.version_families()


@pytest.mark.parametrize("settings", [Settings(), WITH_SENTENCES_AND_CONCEPTS])
def test_short_texts_have_versions_with_the_same_words_only(new_store: NewStore, settings: Settings) -> None:
    """The families, and the hits of each document, agree, although none of the edited texts has an equal shingle."""
    texts = {
        "note": "Milk Bread Butter",
        "note (1)": "Milk, Bread, Butter.",
        "laptop/note": "Milk Bread Butter. x",
        "five": "Milk bread butter eggs flour",
        "edited five": "Milk bread butter egg flour",
        "longer": "Milk bread butter eggs flour and salt",
        "nine": "Nobody had repaired the old crane since last winter",
        "edited nine": "Nobody had repaired the olden crane since last winter",
    }
    search = SimilaritySearch(new_store(settings))
    search.index(Document(id, text) for id, text in texts.items())
    results = {id: search.versions(id) for id in texts}

    pairs = {(edge.a.id, edge.b.id) for edge in search.version_families().edges()}
    assert {("note", "note (1)"), ("edited nine", "nine")} == pairs
    assert pairs == {(min(id, hit.id), max(id, hit.id)) for id, result in results.items() for hit in result}
    assert not any(result.loosely_similar_count for result in results.values())
    note = (
        "a text of 3 words is too short to find edited versions. Only documents with exactly the same words are listed"
    )
    assert (note, "") == (results["note"].text_note, results["longer"].text_note)
    assert note == search.versions(text=texts["note"]).text_note


def test_copies_are_not_families(new_store: NewStore) -> None:
    """Other spaces do not count. A copy of a version is in its family. Other punctuation is another version."""
    first, second, third = (
        f"The {name} closes at ten. Nobody has a key. The council pays." for name in ("pub", "zoo", "bank")
    )
    texts = {
        "a": first, "a (1)": first.replace(". ", ".\n\n"), "a (2)": first,
        "b v1": second, "b v2": f"{second} And so on.", "b v2 (1)": f"{second} And so on.",
        "c v1": f"{third} It is -500.", "c v2": f"{third} It is 500.",
    }  # fmt: skip
    search = SimilaritySearch(new_store(Settings(sentences=SentenceSettings())))
    search.index(Document(id, text * 2) for id, text in texts.items())
    families = search.version_families(max_distance=0)

    assert [{"b v1", "b v2", "b v2 (1)"}, {"c v1", "c v2"}] == [{key.id for key in keys} for keys in families.groups()]
    assert (2, 5, 1, 3) == (
        families.family_count,
        families.member_count,
        families.copy_group_count,
        families.copy_count,
    )
