"""A new plan drops nothing that has changed since it was indexed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch
from simdoc_search.corpus import read_corpus
from simdoc_search.duplicates.plan import read_plan, write_plan
from simdoc_search.stores.base import Store
from tests.support.cli import words, write

TEXT = words(0, 60)


def change_bytes(path: Path) -> None:
    """Change the bytes of a file, but not its size and modification time."""
    info = path.stat()
    path.write_text(TEXT.upper())
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def change_time(path: Path) -> None:
    os.utime(path, ns=(0, 0))


CHANGED = "the content of the file has changed"
NEWER = "the file has changed since it was indexed"


@pytest.mark.parametrize(
    ("name", "change", "expected"),
    [
        ("a.txt", lambda _: None, [("keep", ""), ("drop", "identical")]),
        ("b.txt", change_bytes, [("keep", ""), ("decide", f"identical; {CHANGED}")]),
        ("a.txt", change_bytes, [("keep", ""), ("decide", f"identical; {CHANGED}")]),
        ("b.txt", change_time, [("keep", ""), ("decide", f"identical; {NEWER}")]),
        (
            "a.txt",
            change_time,
            [("keep", NEWER), ("decide", f"identical; the document to keep has a problem: {NEWER}")],
        ),
        (
            "a.txt",
            Path.unlink,
            [
                ("decide", "the file is gone"),
                ("decide", "identical; the document to keep has a problem: the file is gone"),
            ],
        ),
    ],
)
def test_a_changed_file_is_left_to_the_user(
    local_store: Store, tmp_path: Path, name: str, change: Callable[[Path], object], expected: list[tuple[str, str]]
) -> None:
    write(tmp_path / "docs", {"a.txt": TEXT, "b.txt": TEXT})
    SimilaritySearch(local_store).index(read_corpus([tmp_path / "docs"]), workers=1)
    found = SimilaritySearch(local_store).duplicates(keep="first")
    change(tmp_path / "docs" / name)

    progress: list[float] = []

    assert 2 == write_plan(found, tmp_path / "plan.tsv", local_store, progress=progress.append)
    assert [1.0] == progress
    assert expected == [(row.action, row.note) for row in read_plan(tmp_path / "plan.tsv")]


@pytest.mark.parametrize("id", ["a", "b"])
@pytest.mark.parametrize(
    ("changed", "note"),
    [
        (Document("", TEXT, {"author": "Bob"}), "the content of the document has changed"),
        (Document("", words(100, 160)), "the text has changed since it was compared"),
    ],
)
def test_a_document_that_was_indexed_again_meanwhile_is_left_to_the_user(
    local_store: Store, tmp_path: Path, id: str, changed: Document, note: str
) -> None:
    search = SimilaritySearch(local_store)
    search.index([Document("a", TEXT), Document("b", TEXT)], workers=1)
    found = SimilaritySearch(local_store).duplicates()
    search.index([replace(changed, id=id)], workers=1)
    write_plan(found, tmp_path / "plan.tsv", local_store)

    row = read_plan(tmp_path / "plan.tsv")[1]
    assert "decide" == row.action
    assert note in row.note


def test_a_document_that_was_deleted_meanwhile_is_left_to_the_user(local_store: Store, tmp_path: Path) -> None:
    search = SimilaritySearch(local_store)
    search.index([Document("a", TEXT), Document("b", TEXT)], workers=1)
    found = SimilaritySearch(local_store).duplicates()
    search.delete(["b"])
    write_plan(found, tmp_path / "plan.tsv", local_store)

    assert [("keep", ""), ("decide", "identical; the document is not in the index")] == [
        (row.action, row.note) for row in read_plan(tmp_path / "plan.tsv")
    ]
