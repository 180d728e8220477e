"""Duplicates by querying an engine about each document: the same groups as in memory."""

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
    """Pairs of short and of long documents, 70 copies of one, and others."""
    rng = random.Random(8)
    two = [overlapping(rng, words, 0.9) for words in (20, 60, 200, 700) for _ in range(6)]
    pairs = [Document(f"p{n}{side}", one) for n, both in enumerate(two) for side, one in zip("ab", both, strict=True)]
    copies = [Document(f"copy{n}", pairs[-1].text) for n in range(70)]
    return [*pairs, *copies, *documents("many", 100, 20)]


def groups(found: Duplicates) -> dict[str, set[tuple[str, str, float, bool]]]:
    return {
        group.kept.id: {(other.id, other.kind, other.overlap, other.exact) for other in group.duplicates}
        for group in found.groups()
    }


def test_an_engine_finds_what_is_found_in_memory(engine_store: NewStore, tmp_path: Path) -> None:
    """With all documents or a filter. A second run with a checkpoint sends no queries."""
    store: Any = engine_store()
    search = SimilaritySearch(store)
    search.index(collection())
    file = tmp_path / "done"
    for options in ({}, {"keep": "first", "overlap": 0.7}, {"filters": {"path": "p"}}):
        joined, found = search.duplicates(**options), search.duplicates(via="engine", **options)

        assert 20 < joined.group_count
        assert groups(joined) == groups(found)
        assert found.overflow is None or found.overflow.skipped_comparisons == 0
    shown = answer("duplicates", "--store", store.location, "--via", "engine", "--checkpoint", file)
    known = file.stat().st_mtime_ns

    assert (joined.measure.name, search.duplicates().group_count) == (shown["measure"], shown["groups"])
    assert groups(search.duplicates(via="engine")) == groups(search.duplicates(via="engine", checkpoint=file))
    assert known == file.stat().st_mtime_ns


def test_a_flood_in_an_engine_is_bounded(engine_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each query finds the few documents with most shingles."""
    monkeypatch.setattr(engine_pairs, "MAX_MATCHES", 4)
    rng = random.Random(2)
    base = text(rng, 300).split()
    search = SimilaritySearch(engine_store())
    search.index(Document(f"{n:02}", " ".join([*base[: 270 + n // 2], "and"])) for n in range(40))
    found = search.duplicates(via="engine", keep="first")

    assert {"00"} == set(groups(found))
    assert 39 == found.duplicate_count
    assert found.overflow is not None
    assert 0 == found.overflow.skipped_comparisons


def test_a_checkpoint_does_not_fit_an_index_that_was_made_again(engine_store: NewStore, tmp_path: Path) -> None:
    """With the same documents."""
    for name in ("one", "other"):
        store = engine_store()
        SimilaritySearch(store).index(documents("few", 3))
        if name == "one":
            SimilaritySearch(store).duplicates(via="engine", checkpoint=tmp_path / "done")
    with pytest.raises(StoreError, match="made for the index "):
        SimilaritySearch(store).duplicates(via="engine", checkpoint=tmp_path / "done")


def test_an_index_without_hashes_is_queried_too(new_opensearch_store: NewStore) -> None:
    """The engine neither sorts by a field that is not in the mapping, nor collapses on it."""
    store: Any = new_opensearch_store()
    SimilaritySearch(store).index(collection())
    opened: Any = open_store(store.location)
    (mapping,) = opened.access.indices.mappings.values()
    for name in ("words_hash", "shingles"):
        del mapping["properties"]["simdoc"]["properties"][name]

    assert groups(SimilaritySearch(store).duplicates()) == groups(SimilaritySearch(opened).duplicates(via="engine"))
