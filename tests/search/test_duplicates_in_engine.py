"""Tests of `duplicates` in the engine, which finds the same groups as in memory."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.duplicates import Duplicates, engine_pairs
from simdoc_search.errors import StoreError
from tests.support.cli import answer
from tests.support.stores import NewStore
from tests.support.texts import documents, overlapping, text


@pytest.fixture(params=["opensearch", "elasticsearch"])
def engine_store(request: pytest.FixtureRequest) -> NewStore:
    maker: NewStore = request.getfixturevalue(f"new_{request.param}_store")
    return maker


def collection() -> list[Document]:
    """Return pairs of short and long documents, 70 copies of one of them, and other documents."""
    rng = random.Random(8)
    pairs_of_texts = [overlapping(rng, words, 0.9) for words in (20, 60, 200, 700) for _ in range(6)]
    pairs = [
        Document(f"p{n}{side}", text)
        for n, texts in enumerate(pairs_of_texts)
        for side, text in zip("ab", texts, strict=True)
    ]
    copies = [Document(f"copy{n}", pairs[-1].text) for n in range(70)]
    return [*pairs, *copies, *documents("many", 100, 20)]


def groups(duplicates: Duplicates) -> dict[str, set[tuple[str, str, float, bool]]]:
    return {
        group.kept.id: {(other.id, other.kind, other.overlap, other.exact) for other in group.duplicates}
        for group in duplicates.groups()
    }


def test_an_engine_finds_the_groups_that_memory_finds(engine_store: NewStore, tmp_path: Path) -> None:
    """This holds for all documents, and with a filter. A second run with a checkpoint sends no queries."""
    store: Any = engine_store()
    search = SimilaritySearch(store)
    search.index(collection())
    checkpoint = tmp_path / "done"
    for options in ({}, {"keep": "first", "overlap": 0.7}, {"filters": {"path": "p"}}):
        in_memory, in_engine = search.duplicates(**options), search.duplicates(compare_in="engine", **options)

        assert 20 < in_memory.group_count
        assert groups(in_memory) == groups(in_engine)
        assert in_engine.large_sets is None or in_engine.large_sets.skipped_comparisons == 0
    shown = answer("duplicates", "--store", store.location, "--compare-in", "engine", "--checkpoint", checkpoint)
    written = checkpoint.stat().st_mtime_ns

    assert (in_memory.measure.name, search.duplicates().group_count) == (shown["measure"], shown["group_count"])
    assert groups(search.duplicates(compare_in="engine")) == groups(
        search.duplicates(compare_in="engine", checkpoint=checkpoint)
    )
    assert written == checkpoint.stat().st_mtime_ns


def test_a_large_set_of_similar_documents_needs_few_comparisons(
    engine_store: NewStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each query finds only a few documents, those with the most shingles."""
    monkeypatch.setattr(engine_pairs, "MAX_MATCHES", 4)
    rng = random.Random(2)
    base = text(rng, 300).split()
    search = SimilaritySearch(engine_store())
    search.index(Document(f"{n:02}", " ".join([*base[: 270 + n // 2], "and"])) for n in range(40))
    duplicates = search.duplicates(compare_in="engine", keep="first")

    assert {"00"} == set(groups(duplicates))
    assert 39 == duplicates.duplicate_count
    assert duplicates.large_sets is not None
    assert 0 == duplicates.large_sets.skipped_comparisons


def test_a_checkpoint_of_another_index_is_refused(engine_store: NewStore, tmp_path: Path) -> None:
    """Both indices have the same documents."""
    for name in ("one", "other"):
        store = engine_store()
        SimilaritySearch(store).index(documents("few", 3))
        if name == "one":
            SimilaritySearch(store).duplicates(compare_in="engine", checkpoint=tmp_path / "done")
    with pytest.raises(StoreError, match="was written for the index "):
        SimilaritySearch(store).duplicates(compare_in="engine", checkpoint=tmp_path / "done")


def test_an_index_without_hashes_is_queried_too(new_opensearch_store: NewStore) -> None:
    """The engine neither sorts by a field that is not in the mapping, nor collapses on it."""
    store: Any = new_opensearch_store()
    SimilaritySearch(store).index(collection())
    opened: Any = open_store(store.location)
    (mapping,) = opened.access.indices.mappings.values()
    for name in ("words_hash", "shingles"):
        del mapping["properties"]["simdoc"]["properties"][name]

    assert groups(SimilaritySearch(store).duplicates()) == groups(
        SimilaritySearch(opened).duplicates(compare_in="engine")
    )
