"""A run counts, reads and removes the right documents, with one or several processes."""

from __future__ import annotations

import os
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.corpus import SkippedFile, Source, read_corpus
from simdoc_search.indexing.report import IndexReport
from simdoc_search.stores.base import Store
from tests.support.formats import pdf
from tests.support.slow_cases import slow_after
from tests.support.texts import documents
from tests.support.workers import worker_processes


@pytest.fixture
def search(local_store: Store) -> SimilaritySearch:
    """A search over an empty store."""
    return SimilaritySearch(local_store)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with two documents."""
    return write(tmp_path / "folder", {"a.txt": "the text of a", "sub/b.txt": "the text of b"})


@pytest.fixture
def memory() -> SimilaritySearch:
    """A search over an empty store in memory, for tests that do not depend on the kind of store."""
    return SimilaritySearch(open_store(":memory:"))


def write(folder: Path, texts: dict[str, str]) -> Path:
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return folder


def set_time(path: Path, seconds: int) -> None:
    os.utime(path, ns=(seconds * 10**9, seconds * 10**9))


def counts(report: IndexReport) -> dict[str, int]:
    """Return the counts of a report that are not zero."""
    numbers = {name: value for name, value in asdict(report).items() if name not in ("seconds", "notes")}
    numbers["skipped"] = len(report.skipped)
    return {name: value for name, value in numbers.items() if value}


def texts(search: SimilaritySearch) -> dict[str, str | None]:
    """Return all ids and texts. Fails if two documents have the same id."""
    found = {record.id: record.text for record in search.store.scan(load={"text"})}
    assert search.info().document_count == len(found)
    return found


def everything(search: SimilaritySearch) -> dict[str, tuple[Any, ...]]:
    """Return all records as values that can be compared."""
    return {
        record.id: (
            record.token_ids.tolist(),
            record.shingle_count,
            record.digest,
            record.text,
            record.metadata,
            record.origin,
        )
        for record in search.store.scan(load={"text"})
    }


# --- counts ---


def test_new_unchanged_and_changed_documents_are_counted(search: SimilaritySearch) -> None:
    first = [Document("a", "one text"), Document("b", "two texts")]
    assert {"added_count": 2} == counts(search.index(first))
    assert {"unchanged_count": 2} == counts(search.index(first))
    assert {"added_count": 1, "unchanged_count": 1, "replaced_count": 1} == counts(
        search.index([*first[:1], Document("b", "changed"), Document("c", "three texts")])
    )
    assert {"a": "one text", "b": "changed", "c": "three texts"} == texts(search)
    assert {} == counts(search.index([]))


def test_a_document_with_changed_metadata_is_replaced(search: SimilaritySearch) -> None:
    document = Document("a", "one text", {"year": 2020, "draft": True})
    search.index([document])

    assert {"unchanged_count": 1} == counts(search.index([replace(document, metadata={"draft": True, "year": 2020})]))
    assert {"replaced_count": 1} == counts(search.index([replace(document, metadata={"draft": True, "year": 2021})]))
    assert [2021] == [record.metadata["year"] for record in search.store.scan()]


def test_a_source_without_a_document_is_skipped_with_the_reason(search: SimilaritySearch) -> None:
    skipped = SkippedFile("some/file.bin", "binary")
    report = search.index(
        [Document("a", " ... "), Document("", "text"), skipped, Document("é" * 257, "text"), Document("b", "text")]
    )

    assert {"added_count": 1, "skipped": 4} == counts(report)
    assert [skipped, SkippedFile("a", "no words")] == sorted(report.skipped, key=lambda file: -len(file.path))[1:3]
    assert "514 bytes" in next(file.reason for file in report.skipped if file.path.startswith("é"))
    assert {"b": "text"} == texts(search)


@pytest.mark.parametrize("workers", slow_after(1, [1, 3]))
def test_progress_counts_every_source_once(workers: int, memory: SimilaritySearch) -> None:
    sources: list[Source] = [
        *documents("progress", 400, 10),
        SkippedFile("x", "y"),
        Document("doc7", "again"),
        Document("none", "-"),
    ]
    done: list[int] = []
    memory.index(documents("progress", 400, 10)[:100])
    memory.index(sources, workers=workers, progress=done.append)

    assert len(sources) == sum(done)


# --- repeated ids ---


@pytest.mark.parametrize("stored", slow_after(2, [None, "third", "first", "second"]))
@pytest.mark.parametrize("workers", slow_after(1, [1, 3]))
def test_the_last_document_with_an_id_is_stored(stored: str | None, workers: int, memory: SimilaritySearch) -> None:
    if stored:
        memory.index([Document("near", stored), Document("far", stored)])
    others = documents("duplicates", 400, 10)
    near = [Document("near", text) for text in ("first", "second", "third")]
    far = [Document("far", text) for text in ("first", "second", "third")]
    report = memory.index([far[0], *others[:200], *near, far[1], *others[200:], far[2]], workers=workers)

    assert 4 == report.repeated_id_count
    assert (400 if stored else 402) == report.added_count
    assert {"near": "third", "far": "third", **{document.id: document.text for document in others}} == texts(memory)


@pytest.mark.parametrize("between", [0, 200])
def test_a_last_document_without_words_also_counts(between: int, memory: SimilaritySearch) -> None:
    others = documents("wordless", between, 10)
    report = memory.index([Document("a", "some words"), *others, Document("a", "...")])

    assert ([SkippedFile("a", "no words")], 0) == (report.skipped, report.deleted_count)
    assert {document.id: document.text for document in others} == texts(memory)


# --- files ---


def test_a_file_is_read_again_only_if_size_or_time_differ(search: SimilaritySearch, folder: Path) -> None:
    set_time(folder / "a.txt", 1000)
    assert {"added_count": 2} == counts(search.index(read_corpus([folder])))
    write(folder, {"a.txt": "the TEXT is z"})
    set_time(folder / "a.txt", 1000)

    assert {"unchanged_count": 2} == counts(search.index(read_corpus([folder])))
    assert "the text of a" == texts(search)["a.txt"]
    assert {"unchanged_count": 1, "replaced_count": 1} == counts(search.index(read_corpus([folder]), checksum=True))
    assert "the TEXT is z" == texts(search)["a.txt"]


def test_a_file_of_another_size_or_time_is_compared(search: SimilaritySearch, folder: Path) -> None:
    set_time(folder / "a.txt", 1000)
    search.index(read_corpus([folder]))
    set_time(folder / "a.txt", 2000)
    before = everything(search)["a.txt"]
    assert {"unchanged_count": 2} == counts(search.index(read_corpus([folder])))
    touched = everything(search)["a.txt"]
    assert before[:-1] == touched[:-1]
    assert (str(folder), 13, 2000 * 10**9) == (touched[-1].root, touched[-1].size, touched[-1].mtime_ns)
    write(folder, {"a.txt": "the text of z"})
    set_time(folder / "a.txt", 3000)
    assert {"unchanged_count": 1, "replaced_count": 1} == counts(search.index(read_corpus([folder])))
    write(folder, {"a.txt": "a longer text"})
    set_time(folder / "a.txt", 3000)
    assert {"unchanged_count": 2} == counts(search.index(read_corpus([folder])))
    write(folder, {"a.txt": "an even longer text"})
    set_time(folder / "a.txt", 3000)
    assert {"unchanged_count": 1, "replaced_count": 1} == counts(search.index(read_corpus([folder])))
    assert "an even longer text" == texts(search)["a.txt"]


def test_a_file_that_lost_its_words_loses_its_document(search: SimilaritySearch, folder: Path) -> None:
    search.index(read_corpus([folder]))
    write(folder, {"a.txt": "... ...", "c.txt": "-"})
    report = search.index(read_corpus([folder]))

    assert {"unchanged_count": 1, "deleted_count": 1, "skipped": 2} == counts(report)
    assert ["sub/b.txt"] == list(texts(search))


# --- removing what vanished ---


def test_prune_removes_documents_only_below_the_folders_of_the_run(search: SimilaritySearch, tmp_path: Path) -> None:
    one = write(tmp_path / "one", {"a.txt": "text a", "b.txt": "text b"})
    two = write(tmp_path / "two", {"c.txt": "text c", "d.txt": "text d"})
    search.index([Document("jsonl", "from elsewhere"), *read_corpus([one, two])])
    (one / "a.txt").unlink()
    (two / "c.txt").unlink()

    assert {"unchanged_count": 1} == counts(search.index(read_corpus([one])))
    assert {"unchanged_count": 1} == counts(search.index([Document("jsonl", "from elsewhere")], prune=True))
    assert {"unchanged_count": 1, "deleted_count": 1} == counts(search.index(read_corpus([one]), prune=True))
    assert {"b.txt", "c.txt", "d.txt", "jsonl"} == set(texts(search))
    assert {"unchanged_count": 1, "deleted_count": 1} == counts(search.index(read_corpus([two]), prune=True))


# --- processes ---


@pytest.mark.slow
def test_results_do_not_depend_on_the_number_of_workers(tmp_path: Path) -> None:
    made = documents("workers", 330, 80)
    folder = write(tmp_path / "many", {f"{n % 7}/{document.id}.txt": document.text for n, document in enumerate(made)})
    (folder / "3" / "bad.txt").write_bytes(b"\0\1\2")
    write(folder, {"4/empty.txt": "..."})
    stored, reports = [], []
    for workers in (1, 3):
        search = SimilaritySearch(open_store(":memory:"))
        reports.append(asdict(search.index(read_corpus([folder]), workers=workers)))
        stored.append(everything(search))

    assert 330 == len(stored[0])
    assert stored[0] == stored[1]
    assert {**reports[0], "seconds": 0} == {**reports[1], "seconds": 0}


@pytest.mark.slow
def test_one_risky_file_starts_one_process(tmp_path: Path, memory: SimilaritySearch) -> None:
    (tmp_path / "a.pdf").write_bytes(pdf())
    in_background: list[int] = []
    memory.index(read_corpus([tmp_path]), workers=8, progress=lambda _: in_background.append(len(worker_processes())))

    assert [1] == in_background


@pytest.mark.parametrize("seconds", [0.0, 3600.0])
def test_workers_start_only_if_the_work_takes_long(
    seconds: float, memory: SimilaritySearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("simdoc_search.indexing.jobs._MIN_SECONDS_BEFORE_WORKERS", seconds)
    counts: list[int] = []
    memory.index(documents("long", 330, 20), workers=2, progress=lambda _: counts.append(len(worker_processes())))

    assert (2 if seconds == 0 else 0) == counts[-1]
