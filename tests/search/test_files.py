"""Tests of `IndexedFiles`, which finds the documents of files."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search import DocumentKey, SimilaritySearch, open_store, read_corpus
from simdoc_search.search.files import IndexedFiles
from tests.support.cli import words, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = ("a/x.txt", "a/sub/y.txt", "b/x.txt", "c/x.txt", "c/z.txt")
    return write(tmp_path_factory.mktemp("files"), {name: words(0, 9) + name for name in names})


@pytest.fixture(scope="module")
def files(folder: Path) -> IndexedFiles:
    """The files of a store with the folder `a`, the folder `b` with a prefix, and one file of the folder `c`."""
    search = SimilaritySearch(open_store(":memory:"))
    search.index(read_corpus([folder / "a"]))
    search.index(read_corpus([folder / "b"]), prefix="b/")
    search.index(read_corpus([folder / "c" / "z.txt"]))
    return IndexedFiles(search.store)


@pytest.mark.parametrize(
    ("file", "id"), [("a/x.txt", "x.txt"), ("a/sub/y.txt", "sub/y.txt"), ("b/x.txt", "b/x.txt"), ("c/z.txt", "z.txt")]
)
def test_an_indexed_file_has_an_id_and_a_key(folder: Path, files: IndexedFiles, file: str, id: str) -> None:
    assert (id, DocumentKey(id)) == files.get(folder / file)


def test_a_new_file_of_an_indexed_folder_has_an_id_and_no_key(folder: Path, files: IndexedFiles) -> None:
    assert ("sub/new.txt", None) == files.get(folder / "a" / "sub" / "new.txt")
    assert ("b/new.txt", None) == files.get(folder / "b" / "new.txt")


def test_a_file_outside_the_indexed_folders_is_unknown(folder: Path, files: IndexedFiles) -> None:
    assert files.get(folder / "c" / "x.txt") is None
    assert files.get(folder / "x.txt") is None


def test_a_path_may_be_relative(folder: Path, files: IndexedFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "a")

    assert ("x.txt", DocumentKey("x.txt")) == files.get("./x.txt") == files.get(Path("sub/../x.txt"))
