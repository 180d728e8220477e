"""Duplicates by asking an engine about each document: the groups that are found in memory, and nothing stays open."""

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


def some() -> list[Document]:
    """Pairs of short and of long documents, 70 copies of one, and others."""
    rng = random.Random(8)
    two = [overlapping(rng, words, 0.9) for words in (20, 60, 200, 700) for _ in range(6)]
    pairs = [Document(f"p{n}{side}", each) for n, both in enumerate(two) for side, each in zip("ab", both, strict=True)]
    copies = [Document(f"copy{n}", pairs[-1].text) for n in range(70)]
    return [*pairs, *copies, *documents("many", 100, 20)]


def groups(found: Duplicates) -> dict[str, set[tuple[str, str, float, bool]]]:
    return {
        each.kept.id: {(other.id, other.kind, other.overlap, other.exact) for other in each.duplicates}
        for each in found.groups()
    }


def test_an_engine_finds_what_is_found_in_memory(engine_store: NewStore, tmp_path: Path) -> None:
    """Short ones and long ones, of all documents and of some; copies flood no answer. Again, it is asked nothing."""
    store: Any = engine_store()
    search = SimilaritySearch(store)
    search.index(some())
    file = tmp_path / "done"
    for options in ({}, {"keep": "first", "overlap": 0.7}, {"filters": {"path": "p"}}):
        joined, found = search.duplicates(**options), search.duplicates(via="engine", **options)

        assert 20 < joined.group_count
        assert groups(joined) == groups(found)
        assert found.floods is None or found.floods.left_over == 0
    shown = answer("duplicates", "--store", store.location, "--via", "engine", "--checkpoint", file)
    known = file.stat().st_mtime_ns

    assert (joined.measure.name, search.duplicates().group_count) == (shown["measure"], shown["groups"])
    assert groups(search.duplicates(via="engine")) == groups(search.duplicates(via="engine", checkpoint=file))
    assert known == file.stat().st_mtime_ns


def test_a_flood_in_an_engine_is_bounded(engine_store: NewStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each finds the few of most shingles; with one store's copies collapsed, these are of different words."""
    monkeypatch.setattr(engine_pairs, "MAX_MATCHES", 4)
    rng = random.Random(2)
    base = text(rng, 300).split()
    search = SimilaritySearch(engine_store())
    search.index(Document(f"{n:02}", " ".join([*base[: 270 + n // 2], "and"])) for n in range(40))
    found = search.duplicates(via="engine", keep="first")

    assert {"00"} == set(groups(found))
    assert 39 == found.duplicate_count
    assert found.floods is not None
    assert 0 == found.floods.left_over


def test_an_index_that_was_made_anew_is_another_one(engine_store: NewStore, tmp_path: Path) -> None:
    """Though it has the same documents: a checkpoint knows it by its unique id."""
    for name in ("one", "other"):
        store = engine_store()
        SimilaritySearch(store).index(documents("few", 3))
        if name == "one":
            SimilaritySearch(store).duplicates(via="engine", checkpoint=tmp_path / "done")
    with pytest.raises(StoreError, match="made for the index "):
        SimilaritySearch(store).duplicates(via="engine", checkpoint=tmp_path / "done")


def test_an_application_without_our_hashes_is_asked_as_well(new_opensearch_store: NewStore) -> None:
    """Where an older mapping lacks a part of the field, the engine neither sorts by it nor collapses on it."""
    store: Any = new_opensearch_store()
    SimilaritySearch(store).index(some())
    opened: Any = open_store(store.location)
    (mapping,) = opened._indices.mappings.values()
    for name in ("words_hash", "shingles"):
        del mapping["properties"]["simdoc"]["properties"][name]

    assert groups(SimilaritySearch(store).duplicates()) == groups(SimilaritySearch(opened).duplicates(via="engine"))
