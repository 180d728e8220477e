"""Which document of a store is a file, whose text is read anew?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search import Place, SimilaritySearch, open_store, read_corpus
from simdoc_search.search.files import IndexedFiles
from tests.support.cli import words, write


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files, of which some folders are indexed."""
    names = ("a/x.txt", "a/sub/y.txt", "b/x.txt", "c/x.txt", "c/z.txt")
    return write(tmp_path, {name: words(0, 9) + name for name in names})


@pytest.fixture
def files(folder: Path) -> Iterator[IndexedFiles]:
    """Those of a store that has a, b with a prefix, and one file of c."""
    with open_store(":memory:") as store:
        search = SimilaritySearch(store)
        search.index(read_corpus([folder / "a"]))
        search.index(read_corpus([folder / "b"]), prefix="b/")
        search.index(read_corpus([folder / "c" / "z.txt"]))
        yield IndexedFiles(store)


@pytest.mark.parametrize(
    ("file", "id"), [("a/x.txt", "x.txt"), ("a/sub/y.txt", "sub/y.txt"), ("b/x.txt", "b/x.txt"), ("c/z.txt", "z.txt")]
)
def test_a_file_that_was_indexed_is_its_document(folder: Path, files: IndexedFiles, file: str, id: str) -> None:
    """In a folder, below it, with a prefix, or named by itself."""
    assert (id, Place(id)) == files.get(folder / file)


def test_a_new_file_of_an_indexed_folder_has_an_id_and_no_place(folder: Path, files: IndexedFiles) -> None:
    """It would have it after another run."""
    assert ("sub/new.txt", None) == files.get(folder / "a" / "sub" / "new.txt")
    assert ("b/new.txt", None) == files.get(folder / "b" / "new.txt")


def test_other_files_are_unknown(folder: Path, files: IndexedFiles) -> None:
    """Though a document has their name."""
    assert files.get(folder / "c" / "x.txt") is None
    assert files.get(folder / "x.txt") is None


def test_a_path_may_be_relative(folder: Path, files: IndexedFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    """To where the process is."""
    monkeypatch.chdir(folder / "a")

    assert ("x.txt", Place("x.txt")) == files.get("./x.txt") == files.get(Path("sub/../x.txt"))
