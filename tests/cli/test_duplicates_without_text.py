"""`duplicates FOLDER` compares the bytes of files without text, such as photos and scans."""

from __future__ import annotations

import os
import shutil
import zipfile
from pathlib import Path

import pytest

from simdoc_search import SimilaritySearch, open_store, read_corpus
from tests.support.cli import answer, output, run, words, write
from tests.support.folders import posix_only
from tests.support.slow_cases import slow_after

pytestmark = pytest.mark.usefixtures("read_in_this_process")

JPEG, OTHER_JPEG = b"\xff\xd8\xff\xe0" + b"\0\1" * 90, b"\xff\xd8\xff\xe0" + b"\0\2" * 90
FILES: dict[str, str | bytes] = {
    "photo.jpg": JPEG,
    "trip/photo (1).jpg": JPEG,
    "same size.jpg": OTHER_JPEG,
    "broken.pdf": b"%PDF-1.4 and no more",
    "broken (1).pdf": b"%PDF-1.4 and no more",
    "empty.txt": b"",
    "empty too.txt": b"",
    ".hidden.jpg": JPEG,
    "text.txt": words(0, 80),
}
GROUPS = {"photo.jpg": ["trip/photo (1).jpg"], "broken.pdf": ["broken (1).pdf"]}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "docs", FILES)
    return tmp_path


def groups(*arguments: object) -> dict[str, list[str]]:
    return {group["kept_id"]: group["duplicate_ids"] for group in answer("duplicates", *arguments)["groups"]}


def test_files_with_equal_bytes_are_copies() -> None:
    """Empty, hidden and linked files are not."""
    (Path("docs") / "link.jpg").symlink_to("photo.jpg")

    assert GROUPS == groups("docs")
    [first, _] = answer("duplicates", "docs")["groups"]
    [copy] = first["duplicates"]
    assert ("identical", "drop", "identical", False) == tuple(
        copy[name] for name in ("kind", "action", "reason", "indexed")
    )
    assert len(JPEG) == copy["bytes_freed"]


def test_a_folder_needs_no_text() -> None:
    for name in ("text.txt", "empty.txt", "empty too.txt"):
        (Path("docs") / name).unlink()

    assert GROUPS == groups("docs")
    output("duplicates", "docs", "--plan", "plan.tsv")
    output("apply", "plan.tsv", "--move-to", "moved")
    assert "no duplicates among 0 documents and " in output("duplicates", "docs")
    undone = run("apply", "--undo", "plan.tsv.undo")
    assert undone.stdout.endswith("\n2 restored\n")
    assert "not in the index" not in undone.stderr


def test_several_folders_are_compared_with_each_other() -> None:
    write(Path("phone"), {"IMG_1.jpg": JPEG})

    assert "photo.jpg" in groups("docs", "phone")
    assert {"phone/IMG_1.jpg", "trip/photo (1).jpg"} == set(groups("docs", "phone")["photo.jpg"])
    assert {} == groups("phone")


def test_a_plan_moves_them_and_moves_them_back() -> None:
    before = {path: path.read_bytes() for path in Path("docs").rglob("*.*")}
    output("duplicates", "docs", "--plan", "plan.tsv")
    output("apply", "plan.tsv", "--move-to", "moved")

    assert {"photo (1).jpg", "broken (1).pdf"} == {path.name for path in Path("moved").rglob("*.*")}
    assert {} == groups("docs")
    output("apply", "--undo", "plan.tsv.undo")
    assert before == {path: path.read_bytes() for path in Path("docs").rglob("*.*")}


def test_a_file_that_changed_since_the_plan_is_left_alone() -> None:
    output("duplicates", "docs", "--plan", "plan.tsv")
    Path("docs/trip/photo (1).jpg").write_bytes(OTHER_JPEG)

    result = run("apply", "plan.tsv", "--move-to", "moved")
    assert "photo (1).jpg: the content of the file has changed" in result.stderr
    assert OTHER_JPEG == Path("docs/trip/photo (1).jpg").read_bytes()


@pytest.mark.parametrize("options", [["--filter", "path=t"], ["--new"]])
def test_options_that_choose_documents_exclude_them(options: list[str]) -> None:
    """They have no metadata, and it is unknown when they were first seen."""
    assert {} == groups("docs", *options)


def test_only_recent_ones_are_found_with_a_date() -> None:
    for name in GROUPS["broken.pdf"] + ["broken.pdf"]:
        os.utime(Path("docs") / name, (86400, 86400))

    assert ["photo.jpg"] == list(groups("docs", "--since", "2020-01-01"))


def test_hard_links_of_one_photo_free_nothing() -> None:
    os.link("docs/photo.jpg", "docs/linked.jpg")

    [first, *_] = answer("duplicates", "docs")["groups"]
    assert {"hard link", "identical"} == {copy["kind"] for copy in first["duplicates"]}


def test_python_takes_the_skipped_files_of_a_report() -> None:
    search = SimilaritySearch(open_store("index", create=True))
    report = search.index(read_corpus(["docs"]))

    assert 0 == search.duplicates().group_count
    assert set(GROUPS) == {group.kept.id for group in search.duplicates(skipped=report.skipped)}


# --- archives ---


def write_archives(members: dict[str, str | bytes]) -> None:
    """Write two equal archives, and one with the same members but other bytes."""
    for name, comment in (("x.zip", b""), ("y.zip", b"other")):
        with zipfile.ZipFile(f"docs/{name}", "w") as archive:
            archive.comment = comment
            for member, content in members.items():
                archive.writestr(member, content)
    shutil.copyfile("docs/x.zip", "docs/x (1).zip")


def test_archives_with_equal_bytes_are_copies_and_their_members_are_listed_once() -> None:
    write_archives({"a.txt": words(200, 280), "b.txt": words(300, 380)})
    output("index", "docs", "--archives")

    found = groups("docs")
    assert ["x (1).zip"] == found.pop("x.zip")
    assert {"x.zip!a.txt": ["y.zip!a.txt"], "x.zip!b.txt": ["y.zip!b.txt"], **GROUPS} == found
    assert "x.zip" in groups("docs", "--keep-in", "x.zip")
    assert ["x.zip"] == groups("docs", "--keep-in", "x (1).zip")["x (1).zip"]
    assert {"x (1).zip!a.txt", "y.zip!a.txt"} == set(groups()["x.zip!a.txt"])


@posix_only
@pytest.mark.slow
def test_the_members_of_a_linked_archive_are_left_out() -> None:
    write_archives({"a.txt": words(200, 280)})
    Path("docs/link.zip").symlink_to("x.zip")
    output("index", "docs", "--archives")

    result = answer("duplicates", "docs")
    assert [("link.zip!a.txt", "the path is a symbolic link")] == [
        (document["id"], document["reason"]) for document in result["left_out"]
    ]
    assert ["y.zip!a.txt"] == groups("docs")["x.zip!a.txt"]


def test_archives_without_text_are_copies(tmp_path: Path) -> None:
    write_archives({"a.jpg": JPEG})
    (tmp_path / "simdoc.toml").write_text("[index]\narchives = true\n")

    assert {"x.zip": ["x (1).zip"], **GROUPS} == groups("docs")


@pytest.mark.parametrize("method", slow_after(1, [["--move-to", "moved"], ["--delete", "--yes"]]))
def test_a_plan_removes_the_members_of_an_archive_from_the_index_and_undo_adds_them(method: list[str]) -> None:
    write_archives({"a.txt": words(200, 280), "b.txt": words(300, 380)})
    output("index", "docs", "--archives")
    before = output("list", "--json")
    output("duplicates", "docs", "--plan", "plan.tsv")

    assert "2 documents removed from the index" in output("apply", "plan.tsv", *method)
    assert {"x.zip", "y.zip"} == {path.name for path in Path("docs").glob("*.zip")}
    assert 5 == len(output("list", "--json").splitlines())
    output("apply", "--undo", "plan.tsv.undo")
    assert before == output("list", "--json")
