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
