"""Moved and renamed files are recognised by their content, so that no document of a missing file remains."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.archives import packed_zip
from tests.support.cli import answer, output, run, words, write


@pytest.fixture(autouse=True)
def docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed folder with five documents, in the current folder."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", {f"{name}.txt": words(n, n + 20) for n, name in enumerate("abcde")})
    output("index", "docs")
    return tmp_path / "docs"


def ids() -> list[str]:
    return sorted(json.loads(line)["id"] for line in output("list", "--json").splitlines())


def test_the_index_follows_moved_and_renamed_files(docs: Path) -> None:
    (docs / "2026").mkdir()
    (docs / "a.txt").rename(docs / "2026" / "a.txt")
    (docs / "b.txt").rename(docs / "renamed.txt")
    done = run("index", "docs")

    assert ["2026/a.txt", "c.txt", "d.txt", "e.txt", "renamed.txt"] == ids()
    assert done.stdout.startswith("2 indexed, 3 unchanged, 2 removed from the index in ")
    assert (
        "2 moved or renamed files were recognised by content: indexed at the new paths and removed at the old paths\n"
        == done.stderr
    )
    assert ("", 5) == (run("index", "docs").stderr, answer("index", "docs")["unchanged_count"])


def test_a_moved_file_is_removed_once_with_prune(docs: Path) -> None:
    (docs / "a.txt").rename(docs / "renamed.txt")

    assert 1 == answer("index", "docs", "--prune")["deleted_count"]


def test_a_renamed_folder_is_followed(docs: Path) -> None:
    write(docs, {f"old/{n}.txt": words(100 + n, 130 + n) for n in range(20)})
    output("index", "docs")
    (docs / "old").rename(docs / "new")
    output("index", "docs")

    assert 25 == len(ids())
    assert [] == [id for id in ids() if id.startswith("old/")]


def test_a_copy_removes_no_document(docs: Path) -> None:
    shutil.copy(docs / "a.txt", docs / "copy.txt")
    done = run("index", "docs")

    assert 6 == len(ids())
    assert "" == done.stderr


def test_a_deleted_or_edited_file_is_no_moved_file(docs: Path) -> None:
    (docs / "a.txt").unlink()
    (docs / "b.txt").rename(docs / "edited.txt")
    write(docs, {"edited.txt": words(50, 90), "new.txt": words(200, 230)})
    done = run("index", "docs")

    assert {"a.txt", "b.txt", "edited.txt", "new.txt"} < {*ids()}
    assert "2 files of an" not in done.stderr
    assert "2 indexed files are missing from " in done.stderr


def test_a_file_moved_between_two_indexed_folders_is_followed(docs: Path) -> None:
    write(docs.parent / "archive", {"z.txt": words(300, 330)})
    output("index", "docs", "archive")
    (docs / "a.txt").rename(docs.parent / "archive" / "a_2025.txt")
    output("index", "docs", "archive")

    assert ["a_2025.txt", "b.txt", "c.txt", "d.txt", "e.txt", "z.txt"] == ids()


@pytest.mark.usefixtures("read_in_this_process")
def test_a_member_of_an_archive_does_not_move(docs: Path) -> None:
    """Its path never exists as a file."""
    write(docs, {"old.zip": packed_zip({"m.txt": words(400, 430)})})
    output("index", "docs", "--archives")
    write(docs, {"m.txt": words(400, 430)})
    output("index", "docs", "--archives")

    assert {"m.txt", "old.zip!m.txt"} < {*ids()}


def test_a_folder_that_lost_all_files_keeps_its_documents(docs: Path) -> None:
    """It may be a mount point without its disk."""
    other = docs.parent / "other"
    write(other, {"z.txt": words(300, 330)})
    output("index", "docs", "other")
    for file in docs.iterdir():
        shutil.copy(file, other / f"copy_{file.name}")
        file.unlink()
    run("index", "docs", "other")

    assert {"a.txt", "copy_a.txt"} < {*ids()}
