"""Tests of stores with other sketches than the default one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.passages import jaccard, shingle_set
from simdoc_search.sketch.base import Sketch
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.sketches import UniversalSketch, XorSketch
from tests.support.stores import NewStore
from tests.support.texts import overlapping

SKETCHES: list[Sketch] = [UniversalSketch(), XorSketch()]


def name(sketch: Sketch) -> str:
    return type(sketch).__name__


def drafts() -> Iterator[Document]:
    """Yield four different documents, and for each a later draft that shares about two thirds with it."""
    for number in range(4):
        first, later = overlapping(random.Random(f"draft {number}"), 600, 0.65)
        yield Document(f"doc{number}", first)
        yield Document(f"doc{number}-later", later)


@pytest.mark.parametrize("sketch", SKETCHES, ids=name)
def test_queries_work_with_any_sketch(new_store: NewStore, sketch: Sketch) -> None:
    texts = {draft.id: draft.text for draft in drafts()}
    with new_store(Settings(sketch=sketch)) as store:
        search = SimilaritySearch(store)
        search.index(drafts())
        (exact,) = search.similar("doc1", overlap=0.5)

        assert sketch == store.settings.sketch
        assert ("doc1-later", "exact") == (exact.id, exact.kind)
        assert jaccard(shingle_set(texts["doc1"]), shingle_set(texts["doc1-later"])) == exact.overlap
        estimates: list[dict[str, Any]] = [
            {},
            {"probability": 0.99},
            {"probability": 0.99, "planner": "all"},
        ]
        for options in estimates:
            (hit,) = search.similar("doc1", overlap=0.5, verify=False, **options)
            assert "doc1-later" == hit.id
            assert exact.overlap == pytest.approx(hit.overlap, abs=0.15)
        assert ["doc1-later"] == [hit.id for hit in search.similar("doc1")]
        assert ["doc1-later"] == [hit.id for hit in search.passages("doc1")]


@cache
def pairs() -> list[tuple[str, str]]:
    """Return pairs of texts with an overlap of 50 % or slightly more."""
    candidates = [overlapping(random.Random(f"promise {number}"), 1200, 0.5) for number in range(300)]
    return [pair for pair in candidates if jaccard(*map(shingle_set, pair)) >= 0.5]


@pytest.mark.parametrize("sketch", SKETCHES, ids=name)
@pytest.mark.slow
def test_bands_find_documents_as_often_as_promised(sketch: Sketch) -> None:
    """The promise is 80 %. The limit is nine tenths of it, which is over four standard deviations lower."""
    search = SimilaritySearch(open_store(":memory:", Settings(sketch=sketch, passages=None)))
    search.index(Document(f"{n}{'ab'[side]}", pair[side]) for n, pair in enumerate(pairs()) for side in (0, 1))
    results = search.similar_many([f"{number}a" for number in range(len(pairs()))], overlap=0.5, probability=0.8)
    ids = [{hit.id for hit in getattr(result, "hits", ())} for result in results]

    assert len(pairs()) > 100
    assert sum(f"{number}b" in hits for number, hits in enumerate(ids)) / len(pairs()) >= 0.72


@pytest.mark.parametrize("sketch", SKETCHES, ids=name)
def test_duplicates_are_found_and_rejected(sketch: Sketch) -> None:
    search = SimilaritySearch(open_store(":memory:", Settings(sketch=sketch)))
    search.index([*drafts(), Document("short", "three words here"), Document("copy", "Three words, here!")])

    for verify in (True, False):
        duplicates = search.duplicates(overlap=0.5, verify=verify)
        groups = {group.kept.id.removesuffix("-later"): len(group.duplicates) for group in duplicates}
        assert {"doc0": 1, "doc1": 1, "doc2": 1, "doc3": 1, "short": 1, "copy": 1}.items() >= groups.items()
        assert 5 == duplicates.duplicate_count
    report = search.index([Document("again", next(drafts()).text + " more")], reject_duplicates=0.8)
    assert ["again"] == [skipped.path for skipped in report.skipped]


@pytest.mark.parametrize("sketch", SKETCHES, ids=name)
def test_duplicates_are_found_in_an_engine(new_opensearch_store: NewStore, sketch: Sketch) -> None:
    with new_opensearch_store(Settings(sketch=sketch)) as store:
        search = SimilaritySearch(store)
        search.index([*drafts(), Document("short", "three words here"), Document("copy", "Three words, here!")])

        assert 5 == search.duplicates(overlap=0.5).duplicate_count
