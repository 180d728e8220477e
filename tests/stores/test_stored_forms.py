"""Every form in which stores were ever kept can be opened, read, asked and written to."""

from __future__ import annotations

import io
import json
import tarfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, fingerprint, open_store
from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import codes_of_names, extractor_of
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import Concepts
from simdoc_search.sketch.sentences import Sentences
from simdoc_search.sketch.settings import LAYOUT_VERSION, Settings
from simdoc_search.sketch.winnow import Passages
from simdoc_search.stores.local.integrity import check_store
from simdoc_search.stores.local.queries import term
from simdoc_search.stores.local.repair import repair_store
from simdoc_search.stores.local.settings_file import read_identity, write_identity
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.sketching import sketches_of
from tests.support.stores import plain, put, record

DATA = Path(__file__).parents[1] / "data"
LAYOUTS = ["1", "2", "2_passages", "2_sketches"]
WITHOUT_PASSAGES = LAYOUTS[:2]
NEWEST = LAYOUTS[-1]
ALL = Settings(sentences=Sentences(), concepts=Concepts("names"))
TEXTS = {  # as scripts/store_archive.py wrote them
    "letters/draft.txt": "The quick brown fox jumps over the lazy dog near the bank.",
    "letters/final.txt": "the quick brown FOX jumps over the lazy cat near the bank",
    "notes/größe.txt": "Die Größe der Straße, gemessen in Zürich: 漢字 und \U0001f600 zählen mit.",
}
METADATA: dict[str, dict[str, MetadataValue]] = {
    "letters/draft.txt": {"year": 2020},
    "letters/final.txt": {"team": ["a", "b"]},
    "notes/größe.txt": {},
}


def unpacked(layout: str, folder: Path) -> Path:
    """The store that lies in the archive of a layout."""
    with tarfile.open(fileobj=io.BytesIO((DATA / f"store_layout_{layout}.tar.gz").read_bytes())) as archive:
        for member in archive.getmembers():
            content = archive.extractfile(member)
            assert content is not None
            (folder / member.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / member.name).write_bytes(content.read())
    return folder


@pytest.fixture(params=LAYOUTS, ids=lambda layout: f"layout {layout}")
def stored(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder of a store of each form."""
    return unpacked(request.param, tmp_path / "store")


@pytest.fixture
def opened(stored: Path) -> Iterator[LocalStore]:
    """The same, opened."""
    with closing(open_store(stored)) as store:
        assert isinstance(store, LocalStore)
        yield store


def found_by(store: LocalStore, field: str, value: str) -> int:
    """How many documents have a hash."""
    with store._snapshot() as searcher:
        found = searcher.search(term(store._schema, field, value), limit=10, count=True)
        count: int = found.count  # type: ignore[attr-defined] # the stub lacks it
        return count


@pytest.mark.parametrize("layout", LAYOUTS)
def test_archives_are_small(layout: str) -> None:
    """And there is one of each layout."""
    assert int(layout[0]) <= LAYOUT_VERSION
    assert (DATA / f"store_layout_{layout}.tar.gz").stat().st_size < 5_000


def test_a_stored_form_is_read(opened: LocalStore) -> None:
    """Settings, texts, metadata and fingerprints are those that were put in."""
    records = {each.id: each for each in opened.scan(text=True)}

    assert opened._folder is not None
    said = (opened._folder / "simdoc.json").read_text("utf-8")
    expected = ALL if "sentences" in said else Settings() if "passages" in said else Settings(passages=None)

    assert expected == opened.settings
    assert {id: (text, METADATA[id]) for id, text in TEXTS.items()} == {
        id: (each.text, each.metadata) for id, each in records.items()
    }
    fresh = open_store(":memory:")
    SimilaritySearch(fresh).index(Document(id, text, METADATA[id]) for id, text in TEXTS.items())
    for new in fresh.scan():
        assert (new.codes.tolist(), new.shingles, new.digest) == (
            records[new.id].codes.tolist(),
            records[new.id].shingles,
            records[new.id].digest,
        )


def test_a_stored_form_is_asked(opened: LocalStore) -> None:
    """By id and by file name, and documents of it are found."""
    search = SimilaritySearch(opened)

    assert ["letters/final.txt"] == [hit.id for hit in search.similar("draft_20_80").hits]
    assert ["letters/draft.txt"] == [hit.id for hit in search.similar("letters/final.txt").hits]


def test_a_stored_form_is_written_to(stored: Path) -> None:
    """What is unchanged stays, what is new stands beside it, and is there when it is opened again."""
    report = SimilaritySearch(open_store(stored)).index(
        [
            Document("letters/draft.txt", TEXTS["letters/draft.txt"], {"year": 2020}),
            Document("new", "the quick new fox"),
        ]
    )
    added = open_store(stored).get("new")

    assert (1, 1, 0) == (report.indexed, report.unchanged, report.replaced)
    assert added is not None
    assert text_hash("the quick new fox") == added.text_hash == added.words_hash
    assert 4 == open_store(stored).info().documents


def test_what_an_older_form_lacks_is_empty(tmp_path: Path) -> None:
    """Layout 1 had one hash, of text and metadata together."""
    found = open_store(unpacked("1", tmp_path / "store")).get("letters/draft.txt")

    assert found is not None
    assert ("", "") == (found.text_hash, found.words_hash)
    assert found.digest


def test_identical_texts_and_words_are_found_by_their_hashes(tmp_path: Path) -> None:
    """Both are terms of the index, not of stored fields alone."""
    store = open_store(unpacked(NEWEST, tmp_path / "store"))
    assert isinstance(store, LocalStore)
    one, other = TEXTS["letters/draft.txt"], TEXTS["letters/draft.txt"].upper()
    SimilaritySearch(store).index([Document("copy", one), Document("loud", other)])
    copy = store.get("copy")
    put(store, record("without words", text=""))

    assert copy is not None
    assert 2 == found_by(store, "text_hash", text_hash(one))
    assert 1 == found_by(store, "text_hash", text_hash(other))
    assert 3 == found_by(store, "words_hash", copy.words_hash)


@pytest.mark.parametrize("layout", WITHOUT_PASSAGES)
def test_an_older_form_has_no_passages_and_says_so(layout: str, tmp_path: Path) -> None:
    """It opens with the default settings, and also is written to; who asks for passages is told what to do."""
    folder = unpacked(layout, tmp_path / "store")
    with closing(open_store(folder, Settings(), create=True)) as store:
        SimilaritySearch(store).index([Document("new", TEXTS["letters/draft.txt"])])
        found = store.get("new", passages=True)

        assert found is not None
        assert [] == found.passages.tolist()
        with pytest.raises(
            FormatMismatchError, match="was made without passages; index its documents again into a new store"
        ):
            store.sharing(found.passages, size=1)


def test_the_newest_form_finds_passages(tmp_path: Path) -> None:
    """By the tokens that are stored, and by those of a text."""
    store = open_store(unpacked(NEWEST, tmp_path / "store"))
    found = store.get("letters/draft.txt", passages=True)
    fresh = fingerprint(TEXTS["letters/draft.txt"], passages=Passages()).passages

    assert found is not None
    assert fresh.tolist() == found.passages.tolist() != []
    assert "letters/draft.txt" in [each.id for each in store.sharing(fresh, size=3).documents]


def test_the_newest_form_has_sentences_and_concepts(tmp_path: Path) -> None:
    """Those that are made of its texts today, and by which it is asked."""
    pytest.importorskip("sentencex")
    store = open_store(unpacked(NEWEST, tmp_path / "store"))
    names = extractor_of(Concepts("names"))
    for id, text in TEXTS.items():
        found = store.get(id, sketches=True)
        (fresh,) = sketches_of([text], ALL, names)

        assert found is not None
        assert fresh.sentences.tolist() == found.sentences.tolist() != []
        assert fresh.concepts.tolist() == found.concepts.tolist() != []
        assert id in [each.id for each in store.sharing(fresh.sentences, among="sentences", size=3).documents]
    zurich = codes_of_names(["Zürich"])
    assert ["notes/größe.txt"] == [each.id for each in store.sharing(zurich, among="concepts", size=3).documents]
    assert [1] == store.frequencies(zurich).tolist()


@pytest.mark.parametrize("layout", LAYOUTS[1:])
def test_stored_forms_with_checksums_are_checked_and_repaired(layout: str, tmp_path: Path) -> None:
    """The new store is of the same form."""
    folder = unpacked(layout, tmp_path / "store")
    assert [] == list(check_store(folder))

    repair_store(folder, tmp_path / "new")
    whole, saved = (open_store(each) for each in (unpacked(layout, tmp_path / "again"), tmp_path / "new"))

    assert [] == list(check_store(tmp_path / "new"))
    assert whole.settings == saved.settings
    assert sorted(str(plain(each)) for each in whole.scan(text=True, passages=True, sketches=True)) == sorted(
        str(plain(each)) for each in saved.scan(text=True, passages=True, sketches=True)
    )


def test_settings_keep_what_this_version_does_not_know(stored: Path) -> None:
    """A store that got a further sketch opens as before, also where settings are asked for, and keeps it."""
    identity = read_identity(stored)
    assert identity is not None
    settings = replace(identity.settings, others=("shapes:7 32 5",))
    sketches = [*identity.settings.to_dict()["sketches"], "shapes:7 32 5"]
    for _ in range(2):
        write_identity(stored, replace(identity, settings=settings))
        settings = open_store(stored, Settings(), create=True).settings

    assert sketches == settings.to_dict()["sketches"]
    assert ["letters/final.txt"] == [hit.id for hit in SimilaritySearch(open_store(stored)).similar("draft_20").hits]


def test_a_newer_layout_and_a_newer_sketch_are_refused(stored: Path) -> None:
    """The sentence names the store."""
    file = stored / "simdoc.json"
    values = json.loads(file.read_text("utf-8"))
    file.write_text(json.dumps({**values, "version": 4}), "utf-8")
    with pytest.raises(
        FormatMismatchError, match=f"the store {stored} has format version 4, and this .* reads up to 3; "
    ):
        open_store(stored)
    file.write_text(json.dumps({**values, "version": 2, "sketches": ["bucketed:2"]}), "utf-8")

    with pytest.raises(FormatMismatchError, match=f"the store {stored} has sketch bucketed:2, and .* a new store"):
        open_store(stored)
