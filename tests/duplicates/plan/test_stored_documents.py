"""Dropped documents are removed from all kinds of stores, whether they have files or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.corpus import read_corpus
from simdoc_search.duplicates.plan import ApplyReport, apply_plan, read_plan, write_plan
from simdoc_search.duplicates.plan.rows import PlanRow
from simdoc_search.errors import StoreLockedError
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import DOCUMENT_CHANGED, NOT_IN_STORE
from tests.support.cli import words, write
from tests.support.stores import ids

ONE, TWO = words(0, 60), words(100, 160)


def write_and_read_plan(store: Store, folder: Path, *documents: Document, **options: str) -> list[PlanRow]:
    """Return a plan for a folder with two equal files, and for other documents."""
    write(folder / "docs", {"file1": ONE, "file2": ONE})
    SimilaritySearch(store).index([*read_corpus([folder / "docs"]), *documents], workers=1)
    write_plan(SimilaritySearch(store).duplicates(**options), folder / "plan.tsv", store)  # type: ignore[arg-type]
    return read_plan(folder / "plan.tsv")


def apply_with_delete(store: Store | None, folder: Path, rows: list[PlanRow]) -> ApplyReport:
    return apply_plan(rows, "delete", folder / "plan.undo", store=store)


def test_dropped_documents_are_removed(store: Store, tmp_path: Path) -> None:
    """A second run counts documents that were dropped before."""
    without_files = [Document(id, TWO) for id in "abd"]
    rows = write_and_read_plan(store, tmp_path, *without_files, Document("c", words(900, 960)))

    report = apply_with_delete(store, tmp_path, rows)
    assert ([], 1, {}) == (report.left_alone, report.removed_count, report.not_removed)
    assert (3, 2) == (len(report.dropped), report.dropped_fileless_count)
    assert ["a", "c", "file1"] == ids(store)
    assert 3 == apply_with_delete(store, tmp_path, rows).earlier_dropped_count


def test_files_are_dropped_for_a_document_without_a_file(local_store: Store, tmp_path: Path) -> None:
    rows = write_and_read_plan(local_store, tmp_path, Document("a", ONE), keep="first", drop="same-text")

    assert [] == apply_with_delete(local_store, tmp_path, rows).left_alone
    assert (["a"], []) == (ids(local_store), list((tmp_path / "docs").iterdir()))


def test_a_file_is_only_dropped_if_the_kept_document_is_still_in_the_store(local_store: Store, tmp_path: Path) -> None:
    rows = write_and_read_plan(local_store, tmp_path, Document("a", ONE), keep="first", drop="same-text")
    assert [("keep", "a"), ("drop", "file1"), ("drop", "file2")] == [(row.action, row.key.id) for row in rows]

    SimilaritySearch(local_store).delete(["a"])
    for store in (None, local_store):
        left = apply_with_delete(store, tmp_path, rows).left_alone
        assert [("a should be kept instead, but the document is not in the index", True)] * 2 == [
            (document.reason, document.needs_new_plan) for document in left
        ]
    assert ["file1", "file2"] == sorted(path.name for path in (tmp_path / "docs").iterdir())


def test_a_document_that_was_deleted_by_others_is_not_counted_as_dropped(local_store: Store, tmp_path: Path) -> None:
    rows = write_and_read_plan(local_store, tmp_path, Document("a", TWO), Document("b", TWO))
    SimilaritySearch(local_store).delete(["b"])
    report = apply_with_delete(local_store, tmp_path, rows)

    assert [("b", NOT_IN_STORE, True)] == report.left_alone
    assert 0 == report.earlier_dropped_count


@pytest.mark.parametrize("id", ["a", "b"])
def test_a_document_with_other_metadata_is_not_removed(store: Store, tmp_path: Path, id: str) -> None:
    """Nor is it removed if the kept document has other metadata now."""
    rows = write_and_read_plan(store, tmp_path, *(Document(each, TWO, {"author": "Ada"}) for each in "ab"))
    SimilaritySearch(store).index([Document(id, TWO, {"author": "Bob"})], workers=1)

    [left_alone] = apply_with_delete(store, tmp_path, rows).left_alone
    assert left_alone.reason.endswith(DOCUMENT_CHANGED)
    assert left_alone.needs_new_plan
    assert ["a", "b", "file1"] == ids(store)


def test_documents_without_files_are_only_removed_with_delete_and_a_store(local_store: Store, tmp_path: Path) -> None:
    rows = write_and_read_plan(local_store, tmp_path, Document("a", TWO), Document("b", TWO))
    moved = apply_plan(rows, "move", tmp_path / "plan.undo", move_to=tmp_path / "gone", store=local_store)
    without_store = apply_plan(rows, "delete", tmp_path / "plan.undo")

    reason = "the document has no file; to remove it from the index, use --delete and --store"
    assert [("b", reason, False)] == moved.left_alone == without_store.left_alone
    assert ["a", "b", "file1"] == ids(local_store)


def test_a_document_that_was_indexed_again_is_not_removed(local_store: Store, tmp_path: Path) -> None:
    """The modification time of its file differs from the plan."""
    rows = write_and_read_plan(local_store, tmp_path)
    record = local_store.get("file2", load={"text"})
    assert record is not None
    assert record.origin is not None
    with local_store.writer() as writer:
        writer.put([replace(record, origin=replace(record.origin, mtime_ns=1))])

    assert 0 == apply_with_delete(local_store, tmp_path, rows).removed_count
    assert ["file1", "file2"] == ids(local_store)


def test_files_are_dropped_even_if_the_store_cannot_be_written(
    local_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked() -> None:
        raise StoreLockedError("another process writes")

    rows = write_and_read_plan(local_store, tmp_path, Document("a", TWO), Document("b", TWO))
    monkeypatch.setattr(local_store, "writer", locked)
    report = apply_with_delete(local_store, tmp_path, rows)

    assert [("b", "another process writes", False)] == report.left_alone
    assert ["another process writes"] == list(report.not_removed.values())
    assert ["file2"] == [Path(name).name for name, _ in report.dropped]
