"""Files that simdoc-search wrote, and lock files of Microsoft Office, are not indexed."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import answer, output, run, words, write


def test_plans_undo_files_and_pages_in_an_indexed_folder_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, {"a.txt": words(0, 60), "a (1).txt": words(0, 60), "b.txt": words(0, 59)})
    output("duplicates", ".", "--plan", "plan.tsv", "--html", "groups.html")
    output("apply", "plan.tsv", "--delete", "--yes")
    write(tmp_path, {"about.txt": "Notes. # This plan of simdoc-search lists duplicates."})
    skipped = {file["path"]: file["reason"] for file in answer("index", ".")["skipped"]}

    plan, page = "a plan that simdoc-search wrote", "an HTML page that simdoc-search wrote"
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


def test_a_page_overwrites_only_another_page(tmp_path: Path) -> None:
    """A mistyped `--html` does not replace a document."""
    write(tmp_path, {"docs/a.txt": words(0, 60), "mine.txt": words(0, 60), "empty.html": ""})
    mine, page = tmp_path / "mine.txt", tmp_path / "page.html"
    for command in (
        ("passages", "--file", mine, "--in", tmp_path / "docs", "--store", tmp_path / "s"),
        ("versions", "--file", mine, "--store", tmp_path / "s"),
        ("compare", mine, tmp_path / "docs" / "a.txt"),
    ):
        assert "mine.txt, because it is not a page that simdoc-search wrote" in run(*command, "--html", mine).stderr
        assert words(0, 60) == mine.read_text("utf-8")
        for target in (page, page, tmp_path / "empty.html"):
            output(*command, "--html", target)
            assert target.read_text("utf-8").startswith("<!DOCTYPE html>")
