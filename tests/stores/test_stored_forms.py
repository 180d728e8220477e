"""A store of every earlier format can be opened, queried and written to."""

from __future__ import annotations

import io
import json
import shutil
import tarfile
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, fingerprint, open_store
from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import extractor_from_settings, hash_words
from simdoc_search.documents import MetadataValue
from simdoc_search.errors import FormatMismatchError
from simdoc_search.sketch.concepts import ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.winnow import PassageSettings
from simdoc_search.stores.local.integrity import find_damage
from simdoc_search.stores.local.repair import repair_store
from simdoc_search.stores.local.settings_file import read_manifest, write_manifest
from simdoc_search.stores.sentences_and_concepts import compute_sentences_and_concepts
from tests.support.store_damage import content

DATA = Path(__file__).parents[1] / "data"
FORMATS = {
    "0_1": Settings(sentences=SentenceSettings(), concepts=ConceptSettings("names")),
}
NEWEST = list(FORMATS)[-1]
TEXTS = {  # written by scripts/golden_formats.py
    "letters/draft.txt": "The quick brown fox jumps over the lazy dog near the bank.",
    "letters/final.txt": "the quick brown FOX jumps over the lazy cat near the bank",
    "notes/größe.txt": "Die Größe der Straße, gemessen in Zürich: 漢字 und \U0001f600 zählen mit.",
}
METADATA: dict[str, dict[str, MetadataValue]] = {
    "letters/draft.txt": {"year": 2020},
    "letters/final.txt": {"team": ["a", "b"]},
    "notes/größe.txt": {},
}


def unpacked(format: str, folder: Path) -> Path:
    """Unpack the store of a format."""
    with tarfile.open(fileobj=io.BytesIO((DATA / f"formats_{format}" / "store.tar.gz").read_bytes())) as archive:
        for member in archive.getmembers():
            file = archive.extractfile(member)
            assert file is not None
            (folder / member.name).parent.mkdir(parents=True, exist_ok=True)
            (folder / member.name).write_bytes(file.read())
    return folder


@pytest.fixture(params=FORMATS)
def format(request: pytest.FixtureRequest) -> str:
    """The name of each format."""
    name: str = request.param
    return name


@pytest.fixture
def location(format: str, tmp_path: Path) -> Path:
    """The folder of a store of each format."""
    return unpacked(format, tmp_path / "store")


def test_an_earlier_format_is_read(format: str, location: Path) -> None:
    fresh = SimilaritySearch(open_store(":memory:"))
    fresh.index(Document(id, text, METADATA[id]) for id, text in TEXTS.items())
    with closing(open_store(location)) as store:
        records = {record.id: record for record in store.scan(load={"text"})}

        assert FORMATS[format].to_dict()["sketches"] == store.settings.to_dict()["sketches"]
    assert {id: (text, METADATA[id]) for id, text in TEXTS.items()} == {
        id: (record.text, record.metadata) for id, record in records.items()
    }
    for new in fresh.store.scan():
        old = records[new.id]
        assert (new.token_ids.tolist(), new.shingle_count, new.digest) == (
            old.token_ids.tolist(),
            old.shingle_count,
            old.digest,
        )


def test_a_store_of_an_earlier_format_can_be_queried_and_written_to(location: Path) -> None:
    """It can also be opened with the default settings."""
    with closing(open_store(location, Settings(), create=True)) as store:
        search = SimilaritySearch(store)
        assert ["letters/final.txt"] == [hit.id for hit in search.similar("draft_20_80").hits]
        unchanged = Document("letters/draft.txt", TEXTS["letters/draft.txt"], {"year": 2020})
        report = search.index([unchanged, Document("new", "the quick new fox")])
    with closing(open_store(location)) as store:
        added = store.get("new")

        assert (1, 1, 0) == (report.added_count, report.unchanged_count, report.replaced_count)
        assert added is not None
        assert text_hash("the quick new fox") == added.text_hash == added.words_hash
        assert 4 == store.info().document_count


def test_the_newest_format_finds_passages_sentences_and_concepts(tmp_path: Path) -> None:
    """They equal the tokens that are computed from the texts."""
    pytest.importorskip("sentencex")
    store = open_store(unpacked(NEWEST, tmp_path / "store"))
    names = extractor_from_settings(ConceptSettings("names"))
    for id, text in TEXTS.items():
        found = store.get(id, load={"passages", "sentences", "concepts"})
        (fresh,) = compute_sentences_and_concepts([text], FORMATS[NEWEST], names)
        passages = fingerprint(text, passages=PassageSettings()).passages

        assert found is not None
        assert passages.tolist() == found.passages.tolist() != []
        assert fresh.sentences.tolist() == found.sentences.tolist() != []
        assert fresh.concepts.tolist() == found.concepts.tolist() != []
        assert id in [document.id for document in store.documents_sharing_tokens(passages, size=3).documents]
        assert id in [
            document.id
            for document in store.documents_sharing_tokens(fresh.sentences, kind="sentences", size=3).documents
        ]
    zurich = hash_words(["Zürich"])
    assert ["notes/größe.txt"] == [
        document.id for document in store.documents_sharing_tokens(zurich, kind="concepts", size=3).documents
    ]
    assert [1] == store.concept_frequencies(zurich).tolist()


@pytest.mark.slow
def test_an_earlier_format_is_checked_and_repaired(location: Path, tmp_path: Path) -> None:
    """The new store has the same format."""
    repair_store(Path(shutil.copytree(location, tmp_path / "copy")), tmp_path / "new")

    assert [] == list(find_damage(location)) == list(find_damage(tmp_path / "new"))
    assert open_store(location).settings == open_store(tmp_path / "new").settings
    assert content(location) == content(tmp_path / "new")


def test_settings_keep_sketches_that_this_version_does_not_know(location: Path) -> None:
    identity = read_manifest(location)
    assert identity is not None
    write_manifest(location, replace(identity, settings=replace(identity.settings, unknown_specs=("shapes:7 32 5",))))
    with closing(open_store(location, Settings(), create=True)) as store:
        settings = store.settings
        assert ["letters/final.txt"] == [hit.id for hit in SimilaritySearch(store).similar("draft_20").hits]

    assert [*identity.settings.to_dict()["sketches"], "shapes:7 32 5"] == settings.to_dict()["sketches"]


@pytest.mark.parametrize(
    ("values", "problem"),
    [
        ({"version": 2}, "format version 2, only versions up to 1; "),
        ({"sketches": ["bucketed:2"]}, "sketch bucketed:2, only .* a new index"),
    ],
)
def test_a_newer_format_is_refused(tmp_path: Path, values: dict[str, object], problem: str) -> None:
    location = unpacked(NEWEST, tmp_path / "store")
    file = location / "simdoc.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **values}), "utf-8")

    with pytest.raises(
        FormatMismatchError,
        match=f"cannot open the index {location}: this version of simdoc-search cannot read {problem}",
    ):
        open_store(location)
