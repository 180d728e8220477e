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
    assert ["scan.bin"] == skipped(search, corpus)


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


def described(*files: tuple[str, str]) -> str:
    note = describe_skipped_files([SkippedFile(f"/in/{name}", reason, "/in") for name, reason in files])
    return ": ".join(filter(None, note))


def test_skipped_files_are_named_with_the_reasons_and_hidden_files_are_counted() -> None:
    """Damaged files come before images, which a reader misses less."""
    files = [
        (".DS_Store", "hidden"),
        ("b/map.png", "an image"),
        ("scan\n.pdf", "no text (scanned?)"),
        ("~$a.docx", "a lock file of Microsoft Office"),
        ("broken.pdf", "damaged: not a complete file of this format"),
        ("a.msg", "the format .msg needs optional packages; install them with: pip install"),
        (".git", "hidden"),
    ]

    assert "" == described()
    assert "1 file was skipped and not searched: map.png, an image" == described(("map.png", "an image"))
    assert "1 file was skipped and not searched: 1 file, hidden" == described((".DS_Store", "hidden"))
    assert (
        "7 files were skipped and not searched: broken.pdf, damaged: not a complete file of this format; "
        r"a.msg, the format .msg needs optional packages; scan\n.pdf, no text (scanned?); b/map.png, an image; "
        "2 other files, hidden; 1 lock file of Microsoft Office"
    ) == described(*files)


def test_at_most_twenty_skipped_files_are_named() -> None:
    scans = [(f"{number}.pdf", "no text (scanned?)") for number in range(18)]
    images = [(f"{number}.png", "an image") for number in range(1_005)]
    note = described(*images, *scans, ("a.bin", "binary"))

    assert note.startswith("1,024 files were skipped and not searched: 0.pdf, no text (scanned?); 1.pdf")
    assert note.endswith("; 0.png, an image; 1.png, an image; 1,003 images; 1 other file, binary")


def test_a_file_that_was_indexed_by_its_path_has_only_its_name() -> None:
    skipped = [SkippedFile("/in/scan.pdf", "no text", "/in/scan.pdf")]

    assert "scan.pdf, no text" == describe_skipped_files(skipped).names
