"""Families and topics of a whole collection, in every store."""

from __future__ import annotations

import pytest

from simdoc_search import Document, Settings, SimilaritySearch
from simdoc_search.errors import FormatMismatchError, QuerySyntaxError, StoreError, UnknownFieldError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from tests.support.stores import NewStore
from tests.versions.paper import DOCUMENTS

BOTH = Settings(sentences=Sentences(), concepts=Concepts())


def indexed(new_store: NewStore, settings: Settings = BOTH, **options: bool) -> SimilaritySearch:
    """A search over the five documents of the paper, with dates."""
    search = SimilaritySearch(new_store(settings, **options))
    search.index(
        Document(f"D{n} v{n}", text, {"number": n, "modified": f"2020-01-0{n}"}) for n, text in enumerate(DOCUMENTS, 1)
    )
    return search


def test_families_and_topics_agree_with_versions_and_related(new_store: NewStore) -> None:
    """1 and 2 are versions, 3 and 4 related; the scores are those of `versions` and `related`."""
    search = indexed(new_store)
    families, topics = search.version_families(), search.topics()

    with search.store:
        assert [("D1 v1", "D2 v2")] == [tuple(place.id for place in group) for group in families.groups()]
        (edge,) = families.edges()
        assert edge.score == pytest.approx(search.versions("D1 v1").hits[0].score)
        assert (5, 1, 2, {}) == (families.documents, families.family_count, families.member_count, families.left_out)
        (family,) = families.families()
        ordered = search.ordered(family)
        assert ["D1 v1", "D2 v2"] == [version.name for version in ordered.timeline]
        assert ordered.newest is not None
        assert "newest: D2 v2, by the modification date in their metadata" == ordered.verdict
        pairs = {(edge.a.id, edge.b.id): (edge.score, edge.kind) for edge in topics.edges()}
        for id in ("D1 v1", "D3 v3"):
            (hit,) = search.related(id).hits
            score, kind = pairs[id, hit.id]
            assert hit.score == pytest.approx(score)
            assert hit.kind == kind
        assert 2 == len(pairs) == topics.topic_count
        named = {topic.centre.id: search.named(topic) for topic in topics.topics()}
        assert {"Jason Dufner", "PGA Championship"} <= {*named["D3 v3"]}


def test_filters_choose_the_documents_and_not_the_scores(new_store: NewStore) -> None:
    """Weights of concepts are those of the whole index."""
    search = indexed(new_store)
    with search.store:
        (hit,) = search.related("D3 v3").hits
        some = search.topics(filters={"number": [3, 4]})
        assert [pytest.approx(hit.score)] == [edge.score for edge in some.edges()]
        assert 2 == some.documents
        assert 0 == search.version_families(filters={"number": [2, 3]}).family_count
        with pytest.raises(UnknownFieldError, match="colour"):
            search.version_families(filters={"colour": "red"})
        with pytest.raises(UnknownFieldError, match="colour"):
            search.topics(filters={"colour": "red"})
        with pytest.raises(QuerySyntaxError, match="enough must be"):
            search.version_families(enough=0)


def test_families_of_a_store_without_sentences_are_found_by_its_texts(new_store: NewStore) -> None:
    """The error without texts or concepts says what to do."""
    search = indexed(new_store, Settings())
    with search.store:
        assert [("D1 v1", "D2 v2")] == [
            tuple(place.id for place in group) for group in search.version_families().groups()
        ]
        with pytest.raises(FormatMismatchError, match="without concepts; "):
            search.topics()
    search = indexed(new_store, Settings(), store_texts=False)
    with search.store, pytest.raises(StoreError, match="with --with versions"):
        search.version_families()


def test_documents_without_concepts_are_left_out_of_topics(new_store: NewStore) -> None:
    search = indexed(new_store)
    with search.store:
        search.index([Document("common", "of the and to")])
        families, topics = search.version_families(), search.topics()

    assert (6, 5) == (families.documents, topics.documents)
    assert {"common": "has no concepts"} == {place.id: reason for place, reason in topics.left_out.items()}
