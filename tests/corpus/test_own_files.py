"""Files that simdoc-search wrote, and lock files of Microsoft Office, are not indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from simdoc_search.corpus.own_files import is_own_file
from tests.support.cli import answer, output, words, write


def test_plans_undo_files_and_pages_in_an_indexed_folder_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.txt": words(0, 60), "a (1).txt": words(0, 60), "b.txt": words(0, 59)})
    output("duplicates", ".", "--plan", "plan.tsv", "--html", "groups.html")
    output("apply", "plan.tsv", "--delete", "--yes")
    output("compare", "./a.txt", "./b.txt", "--html", "pair.html")
    output("passages", "a", "--html", "sources.html")
    skipped = {file["path"]: file["reason"] for file in answer("index", ".")["skipped"]}

    written = ("plan.tsv", "plan.tsv.undo", "groups.html", "pair.html", "sources.html")
    assert dict.fromkeys(written, "written by simdoc-search") == {name: skipped.get(name) for name in written}
    assert 1 == len(answer("duplicates", ".")["groups"])


def test_files_about_simdoc_search_are_documents() -> None:
    page = b"<!DOCTYPE html><html><head><meta name='generator' content='mkdocs'></head><p>simdoc-search"

    assert not any(map(is_own_file, (page, b"# This plan of ours", b"", b"\n# This plan of simdoc-search lists")))


def test_a_lock_file_of_office_is_not_a_damaged_document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(
        tmp_path,
        {"docs/~$nual report.DOCX": "Ada", "docs/~$folder.doc/a.txt": words(0, 9), "docs/~$5 a day.txt": "Save 5."},
    )
    report = answer("index", "docs")

    assert [("docs/~$nual report.DOCX", "a lock file of Microsoft Office")] == [
        (file["path"], file["reason"]) for file in report["skipped"]
    ]
    assert 2 == report["indexed"]
