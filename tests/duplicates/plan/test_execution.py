"""Changes of files when a plan is applied and undone."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.plan import (
    DropMethod,
    ExpectedChanges,
    PlanError,
    apply_plan,
    expected_changes,
    rollback,
    undo,
    validation,
)
from simdoc_search.duplicates.plan.moves import make_folders
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.duplicate_plans import METHODS, no_links, no_links_between, plan_of, tree
from tests.support.folders import posix_only


@pytest.fixture
def rows(tmp_path: Path) -> list[PlanRow]:
    """A plan that keeps kept.txt, and drops two files with equal bytes and one with other bytes of the same size."""
    return plan_of(tmp_path, {"kept.txt": "same", "equal.txt": "same", "other.txt": "SAME", "sub/equal.txt": "same"})


def run(tmp_path: Path, rows: list[PlanRow], method: DropMethod, *, dry_run: bool = False) -> dict[str, str]:
    """Apply a plan. Returns the files that were left alone, and the reasons."""
    report = apply_plan(rows, method, tmp_path / "plan.undo", move_to=tmp_path / "gone", dry_run=dry_run)
    return {Path(name).relative_to(tmp_path / "docs").as_posix(): reason for name, reason, _ in report.left_alone}


@pytest.mark.parametrize("change_disk", [lambda _: None, no_links_between, no_links])
def test_files_are_moved_with_their_folders_and_moved_back(
    tmp_path: Path,
    rows: list[PlanRow],
    change_disk: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Content, modification time and permissions are preserved. Undo removes the undo file at the end."""
    change_disk(monkeypatch)
    before = tree(tmp_path)

    assert {} == run(tmp_path, rows, "move")
    assert ["equal.txt", "other.txt", "sub/equal.txt"] == sorted(tree(tmp_path / "gone"))
    assert ["kept.txt"] == sorted(tree(tmp_path / "docs"))
    assert before["docs/equal.txt"] == tree(tmp_path)["gone/equal.txt"]
    assert 3 == len(undo(tmp_path / "plan.undo").restored)
    assert before == tree(tmp_path)


def test_deleted_files_are_restored_if_the_kept_file_has_equal_bytes(tmp_path: Path, rows: list[PlanRow]) -> None:
    """Files that cannot be restored are still in the undo file."""
    before = tree(tmp_path)

    assert ExpectedChanges(
        file_count=3, freed_bytes=12, differing_file_count=1, fileless_document_count=0
    ) == expected_changes(rows)
    run(tmp_path, rows, "delete")
    assert {"docs/kept.txt", "plan.undo"} == set(tree(tmp_path))

    report = undo(tmp_path / "plan.undo")
    ((path, reason),) = report.not_restored
    assert (2, "other.txt") == (len(report.restored), Path(path).name)
    assert "is missing or has other bytes" in reason
    del before["docs/other.txt"]
    assert before == {name: file for name, file in tree(tmp_path).items() if name != "plan.undo"}


@posix_only
def test_only_files_with_equal_bytes_become_links_and_undo_makes_copies(tmp_path: Path, rows: list[PlanRow]) -> None:
    """A copy has the permissions and the modification time of the original file."""
    Path(rows[1].path or "").chmod(0o640)
    before = tree(tmp_path)

    assert "because the kept file has other bytes" in run(tmp_path, rows, "hardlink")["other.txt"]
    assert 3 == Path(rows[0].path or "").stat().st_nlink
    assert 2 == apply_plan(rows, "hardlink", tmp_path / "plan.undo").earlier_dropped_count
    undo(tmp_path / "plan.undo")
    assert before == tree(tmp_path)


@posix_only
def test_links_are_counted_as_dropped_earlier_even_after_their_content_was_changed(
    tmp_path: Path, rows: list[PlanRow]
) -> None:
    run(tmp_path, rows, "hardlink")
    (tmp_path / "docs/kept.txt").write_text("changed")
    report = apply_plan(rows[:2], "hardlink", tmp_path / "plan.undo")

    assert (1, []) == (report.earlier_dropped_count, report.left_alone)


def in_both_places(tmp_path: Path, rows: list[PlanRow]) -> tuple[Path, Path]:
    """Move a file, and copy it back as if the move was interrupted. Return both paths."""
    run(tmp_path, rows[:2], "move")
    path, moved = tmp_path / "docs/equal.txt", tmp_path / "gone/equal.txt"
    shutil.copy2(moved, path)
    return path, moved


def test_a_move_that_was_interrupted_in_both_places_is_finished(tmp_path: Path, rows: list[PlanRow]) -> None:
    path, moved = in_both_places(tmp_path, rows)

    assert [(str(path), str(moved))] == apply_plan(rows[:2], "move", tmp_path / "plan.undo").dropped
    assert [False, True] == [path.exists(), moved.exists()]


def test_undo_finishes_a_move_that_was_interrupted_in_both_places(tmp_path: Path, rows: list[PlanRow]) -> None:
    path, moved = in_both_places(tmp_path, rows)

    assert [str(path)] == undo(tmp_path / "plan.undo").restored
    assert [True, False] == [path.exists(), moved.exists()]


def test_a_moved_file_is_not_lost_if_the_disk_fails_after_the_move(
    tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(folder: Path) -> None:
        if folder == tmp_path / "docs":
            raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("simdoc_search.duplicates.plan.moves.sync_folder", failing)

    assert {"equal.txt": "cannot be changed (Input/output error)"} == run(tmp_path, rows[:2], "move")
    assert ["equal.txt"] == sorted(tree(tmp_path / "gone"))


def test_undo_counts_the_files_that_are_in_their_original_state(tmp_path: Path, rows: list[PlanRow]) -> None:
    run(tmp_path, rows, "move")
    for name in ("equal.txt", "sub/equal.txt"):
        (tmp_path / "gone" / name).rename(tmp_path / "docs" / name)
    report = undo(tmp_path / "plan.undo")

    assert (2, [str(tmp_path / "docs/other.txt")], []) == (report.unchanged_count, report.restored, report.not_restored)


@pytest.mark.parametrize("method", METHODS)
def test_a_dry_run_reports_the_same_and_changes_nothing(
    tmp_path: Path, rows: list[PlanRow], method: DropMethod
) -> None:
    before = tree(tmp_path)
    dry = apply_plan(rows, method, tmp_path / "plan.undo", move_to=tmp_path / "gone", dry_run=True)

    assert before == tree(tmp_path)
    assert dry.dropped == apply_plan(rows, method, tmp_path / "plan.undo", move_to=tmp_path / "gone").dropped


def change_bytes(path: Path) -> None:
    """Change the bytes of a file, but not its size and modification time."""
    info = path.stat()
    path.write_text("more")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def replace_with_symbolic_link(path: Path) -> None:
    """Replace a file with a symbolic link to an equal file."""
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


@posix_only
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (change_bytes, "content of the file has changed"),
        (replace_with_symbolic_link, "the path leads to a link, a folder or a device"),
        (Path.unlink, "is gone"),
    ],
)
def test_changed_files_and_the_duplicates_of_a_changed_kept_file_are_left_alone(
    tmp_path: Path, rows: list[PlanRow], method: DropMethod, change: Callable[[Path], None], reason: str
) -> None:
    change(tmp_path / "docs/equal.txt")
    assert reason in run(tmp_path, rows, method, dry_run=True)["equal.txt"]

    change(tmp_path / "docs/kept.txt")
    before = tree(tmp_path)
    left = run(tmp_path, rows, method)

    assert 3 == len(left)
    assert "kept.txt should be kept instead, but" in left["other.txt"]
    assert before == tree(tmp_path)


def test_the_reason_is_reported_if_a_file_cannot_be_read(tmp_path: Path, rows: list[PlanRow]) -> None:
    shutil.rmtree(tmp_path / "docs/sub")
    (tmp_path / "docs/sub").write_text("a file instead of the folder")

    assert {"sub/equal.txt": "the file cannot be read (Not a directory)"} == run(tmp_path, rows, "delete")


@posix_only
@pytest.mark.parametrize("method", METHODS)
def test_a_file_is_not_dropped_for_itself(tmp_path: Path, method: DropMethod, monkeypatch: pytest.MonkeyPatch) -> None:
    """The check of the plan may miss that two paths lead to one file, for example if a folder is mounted twice."""
    monkeypatch.setattr(validation, "directory_entry", lambda path: path)
    kept, _ = plan_of(tmp_path, {"kept.txt": "same", "equal.txt": "same"})
    (tmp_path / "link").symlink_to("docs")
    same = replace(kept, action="drop", path=str(tmp_path / "link/kept.txt"), kept_name=kept.name)
    report = apply_plan([kept, same], method, tmp_path / "plan.undo", move_to=tmp_path / "gone")

    assert ["this path and the path of the kept file lead to the same file"] == [
        document.reason for document in report.left_alone
    ]
    assert "same" == (tmp_path / "docs/kept.txt").read_text()


def test_only_a_changed_document_needs_a_new_plan(
    tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The reasons of other documents can contain the word `changed` too."""

    def deny(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("simdoc_search.duplicates.plan.execution.delete", deny)
    (tmp_path / "docs/other.txt").write_text("changed")
    report = apply_plan(rows, "delete", tmp_path / "undo")
    reasons = {Path(name).name: (reason, needs_new_plan) for name, reason, needs_new_plan in report.left_alone}

    assert ("the content of the file has changed since the plan was written", True) == reasons.pop("other.txt")
    assert {("cannot be changed (Permission denied)", False)} == set(reasons.values())


def test_a_missing_kept_file_is_noticed_after_another_kept_file_was_read(tmp_path: Path) -> None:
    rows = plan_of(tmp_path, {"kept.txt": "same", "equal.txt": "same"})
    others = plan_of(tmp_path, {"other.txt": "more", "copy.txt": "more"})
    Path(others[0].path or "").unlink()
    left = run(tmp_path, [*rows, *(replace(row, group=2) for row in others)], "move")

    assert ["copy.txt"] == list(left)
    assert left["copy.txt"].endswith("other.txt should be kept instead, but the file is gone")


def test_undo_overwrites_no_file_on_a_disk_without_hard_links(
    tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file appears after it was checked that its path is free."""
    no_links(monkeypatch)
    run(tmp_path, rows[:2], "move")

    def taken(folder: Path) -> None:
        make_folders(folder)
        (folder / "equal.txt").write_text("mine")

    monkeypatch.setattr(rollback, "make_folders", taken)
    path = tmp_path / "docs/equal.txt"

    assert [(str(path), f"{path} already exists")] == undo(tmp_path / "plan.undo").not_restored
    assert ["mine", "same"] == [path.read_text(), (tmp_path / "gone/equal.txt").read_text()]


def test_no_file_is_moved_over_another_file_or_out_of_the_folder(tmp_path: Path, rows: list[PlanRow]) -> None:
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/equal.txt").write_text("mine")
    left = run(tmp_path, [rows[0], rows[1], replace(rows[2], key=DocumentKey("../../out"))], "move")

    assert "already exists" in left["equal.txt"]
    assert "leads to a path outside" in left["other.txt"]
    assert "mine" == (tmp_path / "gone/equal.txt").read_text()


def test_the_path_that_prevents_a_move_is_named(tmp_path: Path, rows: list[PlanRow]) -> None:
    (tmp_path / "gone").write_text("a file")

    left = run(tmp_path, rows[:2], "move")["equal.txt"]
    assert f"cannot be changed (File exists: {tmp_path / 'gone'})" == left


@pytest.mark.parametrize("one_disk", [True, False])
def test_a_file_that_cannot_be_removed_is_not_moved(
    tmp_path: Path, rows: list[PlanRow], one_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not one_disk:
        no_links_between(monkeypatch)
    rename: Callable[[str, str], None] = os.rename

    def refusing(path: str, to: str) -> None:
        if Path(path).parent == tmp_path / "docs" / "sub":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        rename(path, to)

    monkeypatch.setattr(os, "rename", refusing)

    assert {"sub/equal.txt": "cannot be changed (Permission denied)"} == run(tmp_path, rows, "move")
    assert ["equal.txt", "other.txt"] == sorted(tree(tmp_path / "gone"))
    assert ["kept.txt", "sub/equal.txt"] == sorted(tree(tmp_path / "docs"))
    assert 2 == len(undo(tmp_path / "plan.undo").restored)


def test_undo_leaves_files_alone_that_changed_after_the_move(tmp_path: Path, rows: list[PlanRow]) -> None:
    """One path has a new file, and one moved file was changed. Both changes can be undone later."""
    run(tmp_path, rows, "move")
    (tmp_path / "docs/equal.txt").write_text("new")
    change_bytes(tmp_path / "gone/other.txt")

    assert ["equal.txt", "other.txt"] == sorted(
        Path(name).name for name, _ in undo(tmp_path / "plan.undo").not_restored
    )
    assert "new" == (tmp_path / "docs/equal.txt").read_text()
    (tmp_path / "docs/equal.txt").unlink()
    (tmp_path / "gone/other.txt").write_text("SAME")
    assert [] == undo(tmp_path / "plan.undo").not_restored
    assert not (tmp_path / "plan.undo").exists()


def test_undo_names_the_place_of_a_moved_file_that_is_gone(tmp_path: Path, rows: list[PlanRow]) -> None:
    run(tmp_path, rows[:2], "move")
    moved = tmp_path / "gone/equal.txt"
    moved.unlink()

    reason = f"the moved file {moved} cannot be moved back: the file is gone"
    assert [(str(tmp_path / "docs/equal.txt"), reason)] == undo(tmp_path / "plan.undo").not_restored


def test_undo_reports_why_a_file_cannot_be_restored(tmp_path: Path, rows: list[PlanRow]) -> None:
    """A file is in the place of its folder. The moved file is not lost, and can be restored later."""
    run(tmp_path, rows, "move")
    (tmp_path / "docs/sub").rmdir()
    (tmp_path / "docs/sub").write_text("mine")

    ((path, reason),) = undo(tmp_path / "plan.undo").not_restored
    assert str(tmp_path / "docs/sub/equal.txt") == path
    assert re.fullmatch(r"cannot be restored \((File exists|Not a directory): .*docs/sub.*\)", reason)
    (tmp_path / "docs/sub").unlink()
    assert [path] == undo(tmp_path / "plan.undo").restored


def test_a_plan_can_be_applied_again_after_undo(tmp_path: Path, rows: list[PlanRow]) -> None:
    before = tree(tmp_path)
    for method in METHODS:
        assert 1 == len(apply_plan(rows[:2], method, tmp_path / "plan.undo", move_to=tmp_path / method).dropped)
        assert 1 == len(undo(tmp_path / "plan.undo").restored)
        assert before == tree(tmp_path)


def test_a_full_disk_stops_before_a_file_is_changed(
    tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PlanError, match="cannot be written, so no more changes are made: no space left"):
        run(tmp_path, rows, "delete")
    assert 4 == len(tree(tmp_path / "docs"))


def test_a_full_target_stops_the_run(tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names the folder, and the next run resumes."""

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("simdoc_search.duplicates.plan.execution.move", full)
        with pytest.raises(
            PlanError, match=r"no more changes are made, because .*gone cannot be written .*; free some"
        ):
            run(tmp_path, rows, "move")
    assert 4 == len(tree(tmp_path / "docs"))
    run(tmp_path, rows, "move")
    assert ["equal.txt", "other.txt", "sub/equal.txt"] == sorted(tree(tmp_path / "gone"))
