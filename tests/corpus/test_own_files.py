"""Files that simdoc-search wrote, and lock files of Microsoft Office, are not indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import answer, output, words, write


def test_plans_undo_files_and_pages_in_an_indexed_folder_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.txt": words(0, 60), "a (1).txt": words(0, 60), "b.txt": words(0, 59)})
    output("duplicates", ".", "--plan", "plan.tsv", "--html", "groups.html")
    output("apply", "plan.tsv", "--delete", "--yes")
    write(tmp_path, {"about.txt": "Notes. # This plan of simdoc-search lists duplicates."})
    skipped = {file["path"]: file["reason"] for file in answer("index", ".")["skipped"]}

    plan, page = "a plan of simdoc-search", "a page of simdoc-search"
    assert {"plan.tsv": plan, "plan.tsv.undo": plan, "groups.html": page, ".simdoc/": "hidden"} == {
        path.removeprefix("./"): reason for path, reason in skipped.items()
    }
    assert 1 == len(answer("duplicates", ".")["groups"])


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
    assert 2 == report["added_count"]
