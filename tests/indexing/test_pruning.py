"""`--prune` removes documents whose files no longer exist, and keeps documents whose files may be unreachable."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store
from simdoc_search.corpus import FileSource, SkippedFile, Source, read_corpus
from tests.support.archives import packed_zip
from tests.support.cli import answer, run, words, write
from tests.support.folders import posix_only
from tests.support.users import ordinary_user


@pytest.fixture(autouse=True)
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of 30 documents, 12 of them below `disk`, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "corpus", {f"{n:02}.txt": words(n, n + 20) for n in range(18)})
    write(tmp_path / "corpus", {f"disk/{n:02}.txt": words(n, n + 20) for n in range(18, 30)})
    return tmp_path / "corpus"


@pytest.fixture
def search(corpus: Path) -> SimilaritySearch:
    """A search over the corpus, in memory."""
    made = SimilaritySearch(open_store(":memory:"))
    made.index(read_corpus([corpus]))
    return made


def documents() -> int:
    return int(answer("info")["document_count"])


def notes(*arguments: str | Path) -> list[str]:
    """Return the notes in the report of a command."""
    return list(answer(*arguments)["notes"])


# --- files that may be unreachable ---


def test_a_folder_without_files_keeps_its_documents(corpus: Path) -> None:
    """The folder may be a mount point without its disk. With --prune-all, the documents are removed."""
    run("index", "corpus")
    shutil.rmtree(corpus)
    corpus.mkdir()
    bare = run("index", "corpus", "--prune")
    write(corpus, {".mounted-by": "x"})
    hidden = run("index", "corpus", "--prune")

    assert (1, 1, 30) == (bare.exit_code, hidden.exit_code, documents())
    command = "simdoc-search index corpus --prune-all"
    has = "but the index has 30 documents of it. Connect its disk, or remove them with"
    assert f"Error: corpus has no files, {has}: {command}\n" == bare.stderr
    assert re.search(
        r"^Error: kept 30 documents of missing files in /.*/corpus, because no files were found at this path\. "
        r"To remove them, run: simdoc-search index /.*/corpus --prune-all$",
        hidden.stderr,
        re.MULTILINE,
    )
    assert 30 == answer("index", "corpus", "--prune-all")["deleted_count"]


@pytest.mark.parametrize("is_empty", [True, False])
def test_the_documents_of_a_deleted_folder_are_removed_with_prune_all(corpus: Path, is_empty: bool) -> None:
    """Other paths are indexed as always."""
    write(corpus.parent, {"other/new.txt": words(0, 20)})
    run("index", "corpus")
    shutil.rmtree(corpus)
    if is_empty:
        (corpus / "empty").mkdir(parents=True)
    kept = run("index", "corpus", "other")

    assert (1, 31) == (kept.exit_code, documents())
    problem = "has no files" if is_empty else "does not exist"
    assert f"Error: corpus {problem}, but the index has 30 documents" in kept.stderr
    removed = answer("index", "corpus", "other", "--prune-all")
    assert (30, 1, []) == (removed["deleted_count"], removed["unchanged_count"], removed["problems"])
    assert 1 == documents()
    assert 1 == run("index", "corpus", "--prune-all").exit_code


def test_more_than_half_is_removed_only_with_prune_all(corpus: Path) -> None:
    run("index", "corpus")
    for number in range(2, 18):
        (corpus / f"{number:02}.txt").unlink()
    write(corpus, {"new.txt": words(500, 600)})
    report = run("index", "corpus", "--prune")

    assert (1, 31) == (report.exit_code, documents())
    assert "1 indexed, 14 unchanged" in report.stdout
    assert "because the files of more than half of the 30" in report.stderr
    assert {"deleted_count": 16, "problems": []}.items() <= answer("index", "corpus", "--prune-all").items()
    assert 15 == documents()


def test_half_refers_to_the_documents_before_the_run(corpus: Path) -> None:
    run("index", "corpus")
    shutil.rmtree(corpus)
    write(corpus, {f"new/{n}.txt": words(500 + n, 520 + n) for n in range(100)})  # not the moved files
    result = run("index", "corpus", "--prune")

    assert (1, 130) == (result.exit_code, documents())
    assert "because the files of more than half of the 30" in result.stderr


@pytest.mark.parametrize(("gone", "deleted"), [(10, 10), (11, 0)])
def test_up_to_10_documents_are_always_removed(corpus: Path, gone: int, deleted: int) -> None:
    shutil.rmtree(corpus / "disk")
    for number in range(12, 18):
        (corpus / f"{number:02}.txt").unlink()
    run("index", "corpus")
    for number in range(gone):
        (corpus / f"{number:02}.txt").unlink()
    result = run("index", "corpus", "--prune")

    assert (int(not deleted), 12 - deleted) == (result.exit_code, documents())


class Vanishing(Iterator[Source]):
    """The sources of a folder that is removed after all of them were found."""

    def __init__(self, corpus: Path) -> None:
        self.corpus = corpus
        self.rest = read_corpus([corpus])

    def __next__(self) -> Source:
        try:
            return next(self.rest)
        except StopIteration:
            if self.corpus.exists():
                shutil.rmtree(self.corpus)
            raise


@pytest.mark.parametrize("prune_all", [True, False])
def test_a_folder_that_vanishes_during_the_run_keeps_its_documents(
    corpus: Path, search: SimilaritySearch, prune_all: bool
) -> None:
    (corpus / "00.txt").unlink()
    report = search.index(Vanishing(corpus), prune=True, prune_all=prune_all)

    assert (0, True) == (report.deleted_count, report.has_failed)
    assert [f"no document of {corpus} was removed, because the path is unreadable (no such file or directory)"] == (
        report.problems
    )
    assert 30 == search.info().document_count


@pytest.mark.skipif(os.name == "nt", reason="Windows closes folders otherwise")
def test_an_unreadable_folder_keeps_its_documents(corpus: Path) -> None:
    search = SimilaritySearch(open_store(":memory:"))
    with tempfile.TemporaryDirectory() as place:
        Path(place).chmod(0o755)
        copy = shutil.copytree(corpus, Path(place) / "corpus")
        search.index(read_corpus([copy]))
        (copy / "00.txt").unlink()
        (copy / "disk").chmod(0)
        with ordinary_user():
            report = search.index(read_corpus([copy]), prune=True)
        (copy / "disk").chmod(0o700)

    assert (1, 17, 29) == (report.deleted_count, report.unchanged_count, search.info().document_count)
    assert [f"12 documents of {copy}/disk were kept, because the path is unreadable (permission denied)"] == (
        report.problems
    )


# --- without --prune ---


def test_missing_files_are_mentioned_without_prune(corpus: Path) -> None:
    run("index", "corpus")
    assert "" == run("index", "corpus").stderr
    for number in range(3):
        (corpus / f"{number:02}.txt").unlink()
    result = run("index", "corpus")

    assert (0, 30) == (result.exit_code, documents())
    assert result.stderr == (
        f"3 indexed files are missing from {corpus}, but the index still has their text. To remove it, run: "
        f"simdoc-search index {corpus} --prune\n"
    )
    assert "" == run("index", "corpus", "--prune").stderr
    assert "" == run("index", "corpus").stderr


# --- files that exist, but were skipped ---


@posix_only
def test_files_behind_links_that_are_not_followed_are_not_called_missing(corpus: Path) -> None:
    """`--prune` removes only those that no longer exist."""
    write(corpus.parent, {"out/a.txt": words(40, 60), "out/sub/b.txt": words(50, 70), "c.txt": words(60, 80)})
    (corpus / "link").symlink_to("../out")
    (corpus / "file.txt").symlink_to("../c.txt")
    run("index", "corpus", "--follow-links")
    behind = (
        f"{{}} behind links out of {corpus}, which were not followed; the index still has {{}} text. To update it, "
        f"run: simdoc-search index {corpus} --follow-links"
    )
    assert [behind.format("3 indexed files are", "their")] == notes("index", "corpus")
    assert behind.format("3 indexed files are", "their") in run("duplicates", "corpus").stderr.splitlines()
    (corpus.parent / "out/a.txt").unlink()
    (corpus.parent / "c.txt").unlink()
    missing = (
        f"2 indexed files are missing from {corpus}, but the index still has their text. To remove it, run: "
        f"simdoc-search index {corpus} --prune"
    )
    assert [behind.format("1 indexed file is", "its"), missing] == notes("index", "corpus")

    assert [behind.format("1 indexed file is", "its")] == notes("index", "corpus", "--prune")
    assert 31 == documents()
    assert [] == notes("index", "corpus", "--follow-links")


def test_excluded_files_are_not_called_missing(corpus: Path) -> None:
    run("index", "corpus")
    note = (
        f"{{}} skipped in {corpus} (excluded); the index still has {{}} text. To remove it, run: simdoc-search delete "
    )

    for options in ((), ("--prune",)):
        assert [note.format("12 indexed files were", "their") + "ID..."] == notes(
            "index", "corpus", "--exclude-files", "disk/", *options
        )
        assert [note.format("1 indexed file was", "its") + "00.txt"] == notes(
            "index", "corpus", "--exclude-files", "00.txt", *options
        )
    assert 30 == documents()


@pytest.mark.usefixtures("read_in_this_process")
def test_members_of_a_damaged_archive_are_not_called_missing(corpus: Path) -> None:
    write(corpus, {"a.zip": packed_zip({"1.txt": words(90, 110), "2.txt": words(100, 120)})})
    run("index", "corpus", "--archives")
    (corpus / "a.zip").write_bytes(b"PK damaged")

    assert [] == notes("index", "corpus")
    assert 32 == documents()


# --- files whose text is gone ---


def test_a_named_file_that_became_too_large_loses_its_document(corpus: Path) -> None:
    run("index", corpus)
    write(corpus, {"00.txt": "long " * 999})

    assert 1 == answer("index", corpus / "00.txt", "--max-size", "0.001")["deleted_count"]
    assert 29 == documents()


@pytest.mark.slow
def test_a_file_that_no_longer_has_text_loses_its_document(corpus: Path, search: SimilaritySearch) -> None:
    write(corpus, {"a.pdf": "plain words in a PDF's place", "b.docx": "x"})
    write(corpus, {"00.txt": b"\0\1\2\3" * 9, "01.txt": "..."})
    write(corpus, {"02.txt": "long " * 999})
    report = search.index(read_corpus([corpus], max_bytes=900))

    assert (3, 27) == (report.deleted_count, report.unchanged_count)
    assert {"00.txt", "01.txt", "02.txt", "a.pdf", "b.docx"} == {Path(file.path).name for file in report.skipped}
    assert {"00.txt", "01.txt", "02.txt"}.isdisjoint(record.id for record in search.store.scan())
    assert 0 == search.index(read_corpus([corpus], max_bytes=900)).deleted_count


def test_a_lower_limit_removes_nothing(corpus: Path, search: SimilaritySearch) -> None:
    report = search.index(read_corpus([corpus], max_bytes=20), prune=True)

    assert (0, 30, []) == (report.deleted_count, len(report.skipped), report.problems)
    assert 30 == search.info().document_count


@pytest.mark.parametrize("reason", ["input/output error", "took longer than 120 s to read"])
def test_an_unreadable_file_keeps_its_document(corpus: Path, search: SimilaritySearch, reason: str) -> None:
    sources = [file for file in read_corpus([corpus]) if isinstance(file, FileSource) and file.id != "00.txt"]
    report = search.index([*sources, SkippedFile(str(corpus / "00.txt"), reason, str(corpus))], prune=True)

    assert (0, 29, 1) == (report.deleted_count, report.unchanged_count, len(report.skipped))
    assert 30 == search.info().document_count


def test_a_broken_link_counts_as_a_missing_file(corpus: Path, search: SimilaritySearch) -> None:
    (corpus / "00.txt").unlink()
    (corpus / "00.txt").symlink_to("nowhere")
    report = search.index(read_corpus([corpus]), prune=True)

    assert (1, []) == (report.deleted_count, report.problems)
