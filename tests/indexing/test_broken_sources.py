"""A broken source does not affect other sources. The run reports it and fails."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.corpus import Source, read_corpus
from simdoc_search.errors import CorpusError
from tests.support.cli import answer, json_lines, run, sentence, write
from tests.support.texts import documents
from tests.support.workers import worker_processes


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run: two folders with documents, two without."""
    monkeypatch.chdir(tmp_path)
    for name in ("empty", "bare"):
        (tmp_path / name).mkdir()
    return write(tmp_path, {"a/a.txt": "the text of a", "c/c.txt": "the text of c"})


def ids(search: SimilaritySearch) -> set[str]:
    return {record.id for record in search.store.scan()}


# --- one of several paths ---


@pytest.mark.parametrize("paths", [["a", "empty", "bare", "c"], ["empty", "bare", "a", "c"]])
def test_other_paths_are_indexed_if_folders_are_empty(paths: list[str]) -> None:
    result = run("index", *paths)

    assert 1 == result.exit_code
    assert result.stdout.startswith("2 indexed, 0 unchanged in ")
    assert [
        "Error: empty has no files; give a folder that contains documents",
        "Error: bare has no files; give a folder that contains documents",
    ] == result.stderr.splitlines()
    assert 2 == answer("info")["document_count"]


def test_without_any_file_no_store_is_created(folder: Path) -> None:
    message = sentence(run("index", "empty", "bare"))

    assert "empty has no files; give a folder that contains documents" in message
    assert "bare has no files" in message
    assert not (folder / ".simdoc").exists()


def test_other_paths_are_indexed_if_a_table_lacks_a_column(folder: Path) -> None:
    write(folder, {"bad.csv": "a,b\n1,2\n", "good.csv": "id,text\nx,some words\n"})
    result = run("index", "a", "bad.csv", "good.csv")

    assert (1, 2) == (result.exit_code, answer("info")["document_count"])
    assert "bad.csv has no column 'id'" in result.stderr


@pytest.mark.slow
def test_the_lines_of_a_truncated_file_are_indexed(folder: Path) -> None:
    import gzip
    import random

    lines = json_lines(*({"id": str(n), "text": f"number {random.Random(n).random()}"} for n in range(2000)))
    packed = gzip.compress(lines.encode())
    write(folder, {"cut.jsonl.gz": packed[: len(packed) // 2]})
    report = answer("index", "cut.jsonl.gz", "c")

    assert 500 < report["added_count"] < 1500
    assert ["the rest of the file cannot be read"] == [
        skipped["reason"].partition(":")[0] for skipped in report["skipped"]
    ]


# --- the library ---


@pytest.mark.parametrize("workers", [1, 2])
def test_an_error_of_the_corpus_is_a_problem_in_the_report(workers: int, search: SimilaritySearch) -> None:
    report = search.index(read_corpus(["a", "empty", "c"]), workers=workers)

    assert (2, True) == (report.added_count, report.has_failed)
    assert ["empty has no files; give a folder that contains documents"] == report.problems
    assert {"a.txt", "c.txt"} == ids(search)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.slow
def test_another_error_is_raised_after_earlier_documents_are_stored(workers: int, search: SimilaritySearch) -> None:
    search.index(read_corpus(["a", "c"]))
    made = documents("failing", 900, 10)
    write(Path("a"), {"b.txt": "the text of b"})
    Path("a/a.txt").unlink()

    def failing() -> Iterator[Source]:
        yield from made
        yield from read_corpus(["a", "c"])
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        search.index(failing(), workers=workers, prune=True)

    assert {"a.txt", "b.txt", "c.txt", *(document.id for document in made)} == ids(search)
    assert [] == worker_processes()
    assert 1 == search.index([Document("new", "a text")]).added_count


def test_an_iterator_that_always_raises_ends(search: SimilaritySearch) -> None:
    class Endless:
        def __iter__(self) -> Endless:
            return self

        def __next__(self) -> Document:
            raise CorpusError("no more today")

    assert ["no more today"] == search.index(Endless()).problems
