"""A store has its own default thresholds for `versions` and `related`."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import StoreError
from simdoc_search.sketch.thresholds import SimilarityThresholds
from simdoc_search.stores.local import settings_file
from simdoc_search.stores.upgrade import set_thresholds, upgrade_store
from tests.support.families import library
from tests.support.stores import NewStore

OTHER = SimilarityThresholds(0.9, 0.25, 5, 0.6)


def test_stored_thresholds_are_the_defaults_of_queries(new_store: NewStore) -> None:
    """A query may have other thresholds. An upgrade keeps the stored ones."""
    with new_store() as store:
        if (location := store.info().location) == ":memory:":
            with pytest.raises(StoreError, match="an index in memory cannot save thresholds"):
                set_thresholds(store, OTHER)
            return
        search = SimilaritySearch(store)
        search.index(Document(id, text) for id, text in library().items())
        before = search.versions("2/first.txt")
        assert OTHER == set_thresholds(store, OTHER)
    with open_store(location) as store:
        search = SimilaritySearch(store)
        stored, given = (
            search.versions("2/first.txt"),
            search.versions("2/first.txt", min_share=0.5, min_smaller_share=0.1, max_distance=12, min_score=0.5),
        )
        search.index([Document("another", "One more sentence that nobody else has in the whole library.")])
    upgrade_store(location, ["sentences"])
    with open_store(location) as store:
        upgraded = SimilaritySearch(store).versions("2/first.txt")
        set_thresholds(store, SimilarityThresholds())
    with open_store(location) as store:
        assert SimilarityThresholds() == store.settings.thresholds

    assert SimilarityThresholds() == before.thresholds
    assert [OTHER, OTHER] == [stored.thresholds, upgraded.thresholds]
    assert {hit.id for hit in stored.hits} < {hit.id for hit in before.hits}
    assert [(hit.id, hit.score) for hit in before.hits] == [(hit.id, hit.score) for hit in given.hits]
    assert [hit.id for hit in stored.hits] == [hit.id for hit in upgraded.hits]


def test_an_interrupted_change_of_thresholds_is_not_damage(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The settings are in two files. If the process ends between writing them, the old thresholds are used."""
    open_store(tmp_path / "s", create=True).close()
    written: list[Path] = []

    def write_first(path: Path, content: bytes) -> None:
        if written:
            raise KeyboardInterrupt
        written.append(path)
        path.write_bytes(content)

    with monkeypatch.context() as patched, open_store(tmp_path / "s") as store:
        patched.setattr(settings_file, "write_atomically", write_first)
        with pytest.raises(KeyboardInterrupt):
            set_thresholds(store, OTHER)
    with open_store(tmp_path / "s") as store:
        assert SimilarityThresholds() == store.settings.thresholds
        set_thresholds(store, OTHER)
    with open_store(tmp_path / "s") as store:
        assert OTHER == store.settings.thresholds
