"""A local store remembers which files the last run of each folder skipped, so that an answer can say so."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import find_files, read_corpus
from simdoc_search.documents import SkippedFile
from simdoc_search.errors import StoreError
from simdoc_search.indexing.skipped_files import describe_skipped_files
from simdoc_search.stores.local.backup import backup_store
from simdoc_search.stores.local.repair import repair_store
from tests.support.cli import write


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    return write(tmp_path / "corpus", {"a.txt": "text a", "scan.bin": b"\0\1", "new/b.bin": b"\0\1", "new/c.txt": "c"})


@pytest.fixture
def search(tmp_path: Path) -> SimilaritySearch:
    return SimilaritySearch(open_store(tmp_path / "store", create=True))


def skipped(search: SimilaritySearch, corpus: Path) -> list[str]:
    return sorted(Path(file.path).relative_to(corpus).as_posix() for file in search.store.skipped_files())


def test_the_skipped_files_of_a_folder_are_those_of_its_last_run(search: SimilaritySearch, corpus: Path) -> None:
    search.index(read_corpus([corpus]))
    assert ["new/b.bin", "scan.bin"] == skipped(search, corpus)

    write(corpus, {"scan.bin": "readable now", "new/d.bin": b"\0"})
    (corpus / "new/b.bin").unlink()
    search.index(read_corpus([corpus / "new"]))
    assert ["new/d.bin", "scan.bin"] == skipped(search, corpus)
    search.index([Document("not a file", "text")])
    search.index(read_corpus([corpus / "scan.bin"]))
    assert ["new/d.bin"] == skipped(search, corpus)
    search.index(read_corpus([corpus]))
    assert ["new/d.bin"] == skipped(search, corpus)


def test_a_run_that_gets_only_some_files_keeps_the_others(search: SimilaritySearch, corpus: Path) -> None:
    write(corpus, {"gone.bin": b"\0"})
    search.index(read_corpus([corpus]))
    write(corpus, {"scan.bin": "readable now"})
    (corpus / "gone.bin").unlink()
    changed = [file for file in find_files([corpus]) if file.path.endswith("scan.bin")]
    search.index(changed, prune=None)

    assert ["new/b.bin"] == skipped(search, corpus)


def test_a_skipped_member_of_an_unchanged_archive_stays_in_the_list(search: SimilaritySearch, corpus: Path) -> None:
    with zipfile.ZipFile(corpus / "old.zip", "w") as archive:
        archive.writestr("member.txt", "text of the member")
        archive.writestr("scan.bin", b"\0\1")
    for _ in range(2):
        search.index(read_corpus([corpus]), archives=True)
        assert ["new/b.bin", "old.zip!scan.bin", "scan.bin"] == skipped(search, corpus)
    (corpus / "old.zip").unlink()
    search.index(read_corpus([corpus]), archives=True)

    assert ["new/b.bin", "scan.bin"] == skipped(search, corpus)


def test_a_file_that_was_named_and_skipped_is_in_the_list(search: SimilaritySearch, corpus: Path) -> None:
    lines = write(corpus, {"lines.jsonl": '{"id": "a", "text": "text"}\nnot JSON\n'}) / "lines.jsonl"
    report = search.index(read_corpus([corpus / "scan.bin", lines]))

    assert 2 == len(report.skipped)
    assert "1 file was skipped and not searched: scan.bin, binary." == describe_skipped_files(
        search.store.skipped_files()
    )


def test_a_damaged_list_is_reported_and_replaced(search: SimilaritySearch, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "store/skipped.json").write_bytes(b"[[1]]")
    with pytest.raises(StoreError, match=r"skipped\.json is damaged; run `simdoc-search index` again"):
        search.store.skipped_files()
    search.index(read_corpus([corpus]))

    assert ["new/b.bin", "scan.bin"] == skipped(search, corpus)


@pytest.mark.parametrize("copy", [backup_store, repair_store])
def test_a_copy_of_the_store_has_the_list(
    search: SimilaritySearch, corpus: Path, tmp_path: Path, copy: Callable[[Path, Path], object]
) -> None:
    search.index(read_corpus([corpus]))
    copy(tmp_path / "store", tmp_path / "copy")

    with open_store(tmp_path / "copy") as copied:
        assert search.store.skipped_files() == copied.skipped_files()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ([], ""),
        ([SkippedFile("/a/b/c.pdf", "no text", "/a")], "1 file was skipped and not searched: b/c.pdf, no text."),
        ([SkippedFile("/c\n.pdf", "binary", "/c\n.pdf")], r"1 file was skipped and not searched: c\n.pdf, binary."),
        ([SkippedFile("/a/b", "hidden", "/a")] * 4, "4 files were skipped and not searched."),
    ],
    ids=["none", "in a folder", "named", "many"],
)
def test_a_sentence_says_which_files_were_skipped(files: list[SkippedFile], expected: str) -> None:
    assert expected == describe_skipped_files(files)
