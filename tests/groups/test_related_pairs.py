"""The related documents found in a collection are those that a comparison of all pairs finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.groups import find_topics
from simdoc_search.groups import related_pairs as module
from simdoc_search.groups.comparable_documents import read_documents
from simdoc_search.groups.related_pairs import find_related_pairs
from simdoc_search.sketch.concepts import PARAGRAPH_END, ConceptSettings
from simdoc_search.sketch.thresholds import DEFAULT_MIN_SCORE, SimilarityThresholds
from simdoc_search.stores.base import Store
from simdoc_search.versions.relations import WeightedConcepts, concept_weights, relation_score, similarities
from tests.support.stores import put, record

SETTINGS = Settings(concepts=ConceptSettings("names"))


@pytest.fixture
def store() -> Store:
    """A store with 60 documents with three paragraphs each, about half of them on one of 8 topics."""
    draw = np.random.default_rng(1)
    records = []
    for number in range(60):
        topic = 1_000 * (1 + number % 16)
        token_ids = []
        for _ in range(3):
            own = draw.integers(1, 900, 4).tolist()
            token_ids += [*own, *(topic + draw.integers(0, 12, 4)).tolist(), PARAGRAPH_END]
        records.append(record(f"d{number:03}", concepts=token_ids))
    made = open_store(":memory:", SETTINGS)
    put(made, *records)
    return made


def ignore_progress(_stage: str, _share: float) -> None:
    pass


def by_brute_force(store: Store) -> dict[tuple[int, int], float]:
    """Compare each pair of documents as `related` does. Returns the scores of the related pairs."""
    documents = read_documents(store, None, ignore_progress, with_concepts=True)
    token_ids, counts = np.unique(
        np.concatenate([np.unique(each.token_ids) for each in documents.concepts]), return_counts=True
    )
    weighted = WeightedConcepts(documents.concepts, token_ids, concept_weights(counts, len(documents)))
    pairs = np.array(list(combinations(range(len(documents)), 2))).T
    scores = map(relation_score, similarities(weighted, *pairs).tolist())
    return {(a, b): score for a, b, score in zip(*pairs.tolist(), scores, strict=True) if score >= DEFAULT_MIN_SCORE}


def find_scores(store: Store) -> dict[tuple[int, int], float]:
    pairs = find_related_pairs(
        store,
        read_documents(store, None, ignore_progress, with_concepts=True),
        SimilarityThresholds(),
        ignore_progress,
        is_filtered=False,
    )
    columns = (pairs.first_documents.tolist(), pairs.second_documents.tolist(), pairs.scores.tolist())
    return {(a, b): score for a, b, score in zip(*columns, strict=True)}


def test_related_documents_are_those_of_brute_force(store: Store) -> None:
    expected = by_brute_force(store)

    assert len(expected) > 20
    assert expected == pytest.approx(find_scores(store))


def test_comparisons_that_are_not_made_are_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some pairs are missing, but no wrong pair is added."""
    monkeypatch.setattr(module, "MAX_COMPARED_CANDIDATES", 1)
    expected, actual = by_brute_force(store), find_scores(store)
    topics = find_topics(store, SimilarityThresholds(), None, ignore_progress)

    assert 0 < len(actual) < len(expected)
    assert actual == pytest.approx({pair: expected[pair] for pair in actual})
    assert topics.partly_compared_document_count == 60
    assert topics.compared_count <= 60


def test_a_large_group_with_frequent_concepts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each concept only yields a few of its documents as candidates."""
    monkeypatch.setattr(module, "MAX_CANDIDATES", 50)
    with open_store(":memory:", SETTINGS) as store:
        put(store, *(record(f"d{number}", concepts=[1, 2, 3, 4, 5, 0]) for number in range(120)))
        others = (range(100 * number + 100, 100 * number + 110) for number in range(80))
        put(store, *(record(f"e{number}", concepts=concepts) for number, concepts in enumerate(others)))
        topics = find_topics(store, SimilarityThresholds(), None, ignore_progress)

    assert [120] == [1 + len(topic.members) for topic in topics.topics()]
    assert (5, 80) == (topics.frequent_concept_count, topics.isolated_document_count)
    assert topics.compared_count < 120 * module.MAX_DOCUMENTS_PER_FREQUENT_CONCEPT * 2


def test_members_have_the_score_that_related_gives() -> None:
    words = ("Danube", "Vienna", "Linz", "Budapest", "Passau")
    texts = {f"river{n}": f"The {words[n]} and the {words[n - 1]} by the {words[n - 2]} of Europe." for n in range(5)}
    texts |= {f"alone{n}": f"Person{n} of Town{n} met Friend{n}." for n in range(40)}
    with open_store(":memory:", SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        topics = search.topics()
        (topic,) = topics.topics()
        hits = {hit.id: hit.score for hit in search.related(topic.centre, size=50).hits}

        assert hits == pytest.approx({member.key.id: member.score for member in topic.members})
        assert len(hits) > 1
        assert {"Danube", "Vienna", "Linz"} & set(search.name_topic(topic))
        assert 1 + len(hits) == topics.member_count
        places = sorted((member.key for member in topic.members), key=lambda place: place.id)
        assert [(topic.centre, *places)] == [*topics.groups()]
        assert {edge.kind for edge in topics.edges()} == {"related"}
