"""A local store gets sentences and concepts from the texts that it keeps."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import StoreError, StoreLockedError
from simdoc_search.sketch.sentences import sentences_of_codes
from simdoc_search.stores.local import folder as folders
from simdoc_search.stores.local import upgrade
from simdoc_search.stores.sketching import sentences_in
from simdoc_search.stores.upgrade import upgrade_store
from tests.support.families import library


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A default store."""
    location = tmp_path / "store"
    with open_store(location, create=True) as opened:
        SimilaritySearch(opened).index(Document(id, text, {"kind": id[0]}) for id, text in library().items())
    return location


def state(store: Path) -> dict[str, Any]:
    """All that a store has, but for sentences."""
    with open_store(store) as opened:
        records = opened.scan(text=True, passages=True)
        return {r.id: (r.text, r.metadata, r.digest, r.codes.tolist(), r.passages.tolist()) for r in records}


def has_sentences(store: Path) -> bool:
    """Whether each document has those of its text."""
    with open_store(store) as opened:
        return opened.settings.sentences is not None and all(
            sentences_of_codes(each.sentences).tolist()
            == sentences_in(each.text or "", opened.settings.analysis).tolist()
            for each in opened.scan(text=True, sketches=True)
        )


def test_it_has_them_then_and_all_that_it_had(store: Path) -> None:
    """Nothing else is in its folder; another call changes nothing."""
    before, files = state(store), {each.name for each in store.iterdir()}
    settings = upgrade_store(store, ["sentences"])
    upgrade_store(store, ["sentences"], progress=lambda _: pytest.fail("it has them"))

    assert before == state(store)
    assert has_sentences(store)
    assert files == {each.name for each in store.iterdir()}
    with open_store(store) as opened:
        assert settings == opened.settings
        SimilaritySearch(opened).index([Document("new", "One more text is here. It has two sentences.")])
    assert has_sentences(store)


def test_an_interrupted_upgrade_is_resumed(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until it is complete the store is as it was, and can be written; what changed meanwhile is copied again."""
    monkeypatch.setattr(upgrade, "AT_ONCE", 5)
    pages: list[int] = []

    def interrupt(count: int) -> None:
        pages.append(count)
        if len(pages) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade_store(store, ["sentences"], progress=interrupt)
    with open_store(store) as opened:
        assert opened.settings.sentences is None
        search = SimilaritySearch(opened)
        search.delete(["0/first.txt"])
        search.index([Document("1/first.txt", "It has another text now. That is short."), Document("new", "One. Two.")])
    before = state(store)
    kept = open_store(store / "upgrade").info().documents
    upgrade_store(store, ["sentences"])

    assert kept == 10
    assert before == state(store)
    assert has_sentences(store)


@pytest.mark.parametrize("step", range(12))
def test_a_replacement_that_was_killed_is_completed(store: Path, monkeypatch: pytest.MonkeyPatch, step: int) -> None:
    """At whichever step; by whoever opens the store next."""
    before = state(store)
    steps = iter(range(100))

    def dying(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if next(steps) == step:
                raise StoreError("killed")
            return original(*args, **options)

        return call

    with monkeypatch.context() as patched:
        for name in ("write_whole", "sync_folder"):
            patched.setattr(folders, name, dying(getattr(folders, name)))
        patched.setattr(shutil, "rmtree", dying(shutil.rmtree))
        patched.setattr(Path, "rename", dying(Path.rename))
        with suppress(StoreError):
            upgrade_store(store, ["sentences"])

    assert before == state(store)
    upgrade_store(store, ["sentences"])
    assert before == state(store)
    assert has_sentences(store)


def test_nobody_else_writes_meanwhile(store: Path) -> None:
    """The other one is told."""
    refused: list[str] = []

    def write(_: int) -> None:
        with open_store(store) as other, pytest.raises(StoreLockedError) as error, other.writer():
            pass
        refused.append(str(error.value))

    upgrade_store(store, ["sentences"], progress=write)

    assert refused


def test_a_store_without_texts_cannot_be_upgraded(tmp_path: Path) -> None:
    """It says why."""
    open_store(tmp_path / "s", create=True, store_texts=False).close()

    with pytest.raises(StoreError, match="keeps no texts, so it cannot be upgraded"):
        upgrade_store(tmp_path / "s", ["sentences"])
