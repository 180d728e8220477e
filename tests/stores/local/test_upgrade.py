"""An upgrade adds sentences to a local store, from the texts that it keeps."""

from __future__ import annotations

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.errors import StoreError, StoreLockedError
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.stores.local import folder as folders
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.stores.upgrade import upgrade_store
from tests.support.families import library
from tests.support.slow_cases import slow_after


@pytest.fixture(scope="module")
def template_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A default store with two families of documents, and documents alone."""
    texts = {id: text for id, text in library().items() if id.startswith(("0", "1", "alone"))}
    location = tmp_path_factory.mktemp("upgrade") / "store"
    with open_store(location, create=True) as store:
        SimilaritySearch(store).index(Document(id, text, {"kind": id[0]}) for id, text in texts.items())
    return location


@pytest.fixture
def location(template_store: Path, tmp_path: Path) -> Path:
    """A copy of the store."""
    return Path(shutil.copytree(template_store, tmp_path / "store"))


def state(location: Path) -> dict[str, Any]:
    """Return all values of a store except sentences."""
    with open_store(location) as store:
        records = store.scan(load={"text", "passages"})
        return {r.id: (r.text, r.metadata, r.digest, r.token_ids.tolist(), r.passages.tolist()) for r in records}


def has_sentences(location: Path) -> bool:
    """Return whether each document has the sentences of its text."""
    with open_store(location) as store:
        return store.settings.sentences is not None and all(
            decode_simhashes(record.sentences).tolist()
            == compute_sentence_simhashes(record.text or "", store.settings.analysis).tolist()
            for record in store.scan(load={"text", "sentences", "concepts"})
        )


def find_versions(location: Path) -> tuple[str, dict[str, float]]:
    """Return what finds the versions of a document, and their scores."""
    with open_store(location) as store:
        result = SimilaritySearch(store).versions("1/first.txt")
        return result.candidate_source, {hit.id: hit.score for hit in result.hits}


def test_an_upgrade_adds_sentences_and_changes_nothing_else(location: Path) -> None:
    """Another call changes nothing. The sentences find the same versions as the texts did."""
    before, files = state(location), {path.name for path in location.iterdir()}
    versions = [find_versions(location)]
    done: list[int] = []
    settings = upgrade_store(location, ["sentences"], progress=done.append)
    versions.append(find_versions(location))
    upgrade_store(location, ["sentences"], progress=lambda _: pytest.fail("it has them"))

    assert before == state(location)
    assert len(before) == sum(done)
    assert has_sentences(location)
    assert ["passages", "sentences"] == [source for source, _ in versions]
    assert versions[0][1] == versions[1][1] != {}
    assert files == {path.name for path in location.iterdir()}
    with open_store(location) as store:
        assert settings == store.settings
        SimilaritySearch(store).index([Document("new", "One more text is here. It has two sentences.")])
    assert has_sentences(location)


def test_an_interrupted_upgrade_changes_nothing_and_can_be_repeated(location: Path) -> None:
    before, files = state(location), {path.name for path in location.iterdir()}

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        upgrade_store(location, ["sentences"], progress=interrupt)
    assert files == {path.name for path in location.iterdir()}
    assert before == state(location)
    upgrade_store(location, ["sentences"])
    assert has_sentences(location)


@pytest.mark.parametrize("step", slow_after(2, [1, 3, 5, 7, 0, 2, 4, 6, 8, 9]))
def test_an_interrupted_replacement_is_completed_when_the_store_is_opened(
    location: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    before = state(location)
    steps = iter(range(100))

    def dying(original: Any) -> Any:
        def call(*args: Any, **options: Any) -> Any:
            if next(steps) == step:
                raise StoreError("killed")
            return original(*args, **options)

        return call

    with monkeypatch.context() as patched:
        for name in ("write_atomically", "sync_folder"):
            patched.setattr(folders, name, dying(getattr(folders, name)))
        patched.setattr(shutil, "rmtree", dying(shutil.rmtree))
        patched.setattr(Path, "rename", dying(Path.rename))
        with suppress(StoreError):
            upgrade_store(location, ["sentences"])

    assert before == state(location)
    upgrade_store(location, ["sentences"])
    assert before == state(location)
    assert has_sentences(location)


def test_nobody_else_writes_during_an_upgrade(location: Path) -> None:
    refused: list[str] = []

    def write(_: int) -> None:
        with open_store(location) as other, pytest.raises(StoreLockedError) as error, other.writer():
            pass
        refused.append(str(error.value))

    upgrade_store(location, ["sentences"], progress=write)

    assert refused


def test_a_store_without_texts_cannot_be_upgraded(tmp_path: Path) -> None:
    open_store(tmp_path / "s", create=True, store_texts=False).close()

    with pytest.raises(StoreError, match=r"does not store texts, .* `simdoc-search index --with versions`"):
        upgrade_store(tmp_path / "s", ["sentences"])
