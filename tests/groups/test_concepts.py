"""Related documents of a whole collection are those that comparing all with all finds."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from simdoc_search import Document, Settings, SimilaritySearch, open_store
from simdoc_search.groups import concepts as module
from simdoc_search.groups import find_topics
from simdoc_search.groups.collection import read_all
from simdoc_search.groups.concepts import related_pairs
from simdoc_search.sketch.concepts import PARAGRAPH_END, Concepts
from simdoc_search.sketch.limits import SHOWN, Limits
from simdoc_search.stores.base import Store
from simdoc_search.versions.relations import Weighted, relation_score, similarities, weights_of
from tests.support.stores import put, record

SETTINGS = Settings(concepts=Concepts("names"))


def filled(count: int, topics: int, seed: int = 1) -> Store:
    """Documents of three paragraphs, about half of them on one of some topics."""
    draw = np.random.default_rng(seed)
    store = open_store(":memory:", SETTINGS)
    records = []
    for number in range(count):
        topic = 1_000 * (1 + number % (2 * topics))
        codes = []
        for _ in range(3):
            own = draw.integers(1, 900, 4).tolist()
            codes += [*own, *(topic + draw.integers(0, 12, 4)).tolist(), PARAGRAPH_END]
        records.append(record(f"d{number:03}", concepts=codes))
    put(store, *records)
    return store


def quiet(_stage: str, _share: float) -> None:
    """Nobody looks."""


def brute_force(store: Store) -> dict[tuple[int, int], float]:
    """Each with each, as `related` compares two."""
    documents = read_all(store, None, quiet, concepts=True)
    having = [np.unique(each.codes) for each in documents.concepts]
    codes, counts = np.unique(np.concatenate(having), return_counts=True)
    weighted = Weighted(documents.concepts, codes, weights_of(counts, len(documents)))
    pairs = np.array(list(combinations(range(len(documents)), 2))).T
    scores = [relation_score(each) for each in similarities(weighted, *pairs).tolist()]
    return {(a, b): score for a, b, score in zip(*pairs.tolist(), scores, strict=True) if score >= SHOWN}


def found(store: Store) -> dict[tuple[int, int], float]:
    """The same form."""
    pairs = related_pairs(store, read_all(store, None, quiet, concepts=True), Limits(), quiet, filtered=False).pairs
    return {(a, b): score for a, b, score in zip(*(each.tolist() for each in pairs[:3]), strict=True)}


def test_all_related_documents_are_found_as_by_brute_force() -> None:
    """As long as each shares rare concepts with few others; the scores are the same."""
    with filled(60, 8) as store:
        expected = brute_force(store)

        assert len(expected) > 20
        assert expected == pytest.approx(found(store))


def test_what_is_cut_is_counted_and_what_is_found_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    """With few comparisons for each document some pairs are missing, no other is added, and the cut is said."""
    monkeypatch.setattr(module, "MOST_COMPARED", 1)
    with filled(60, 8) as store:
        expected, some = brute_force(store), found(store)
        topics = find_topics(store, Limits(), None, quiet)

    assert 0 < len(some) < len(expected)
    assert some == pytest.approx({pair: expected[pair] for pair in some})
    assert topics.cut == 60
    assert topics.compared <= 60


def test_a_large_group_of_frequent_concepts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Though each of its concepts is in so many documents that only the first of them are met."""
    monkeypatch.setattr(module, "MOST_MET", 50)
    with open_store(":memory:", SETTINGS) as store:
        put(store, *(record(f"d{number}", concepts=[1, 2, 3, 4, 5, 0]) for number in range(120)))
        put(
            store,
            *(record(f"e{number}", concepts=range(100 * number + 100, 100 * number + 110)) for number in range(80)),
        )
        topics = find_topics(store, Limits(), None, quiet)

    assert [120] == [1 + len(each.members) for each in topics.topics()]
    assert (5, 80) == (topics.frequent, topics.alone)
    assert topics.compared < 120 * module.ANCHORS * 2


def test_each_member_is_related_to_the_centre_with_the_score_of_related() -> None:
    """The same score as the question about the centre gives."""
    words = ("Danube", "Vienna", "Linz", "Budapest", "Passau")
    texts = {f"river{n}": f"The {words[n]} and the {words[n - 1]} by the {words[n - 2]} of Europe." for n in range(5)}
    texts |= {f"alone{n}": f"Person{n} of Town{n} met Friend{n}." for n in range(40)}
    with open_store(":memory:", SETTINGS) as store:
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in texts.items())
        topics = search.topics()
        (topic,) = topics.topics()
        hits = {hit.id: hit.score for hit in search.related(topic.centre, size=50).hits}

        assert hits == pytest.approx({each.place.id: each.score for each in topic.members})
        assert len(hits) > 1
        assert {"Danube", "Vienna", "Linz"} & set(search.named(topic))
        assert 1 + len(hits) == topics.member_count
        assert [*topics.groups()] == [
            (topic.centre, *sorted((each.place for each in topic.members), key=lambda each: each.id))
        ]
        assert {each.kind for each in topics.edges()} == {"related"}
