"""What a plan does to files: only what was looked at just before, and so that it can be undone."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import How, PlanError, apply_plan, expected, undo
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.plans import HOWS, no_links_between, plan_of, tree


@pytest.fixture
def rows(tmp_path: Path) -> list[PlanRow]:
    """A plan: kept.txt stays for an equal one, for another one of the same size, and for one in a folder."""
    return plan_of(tmp_path, {"kept.txt": "same", "equal.txt": "same", "other.txt": "SAME", "sub/equal.txt": "same"})


def run(tmp_path: Path, rows: list[PlanRow], how: How, *, dry_run: bool = False) -> dict[str, str]:
    """Apply a plan without a store; what was left, by the names of files."""
    report = apply_plan(rows, how, tmp_path / "plan.undo", to=tmp_path / "gone", dry_run=dry_run)
    return {Path(name).relative_to(tmp_path / "docs").as_posix(): reason for name, reason in report.left}


def test_files_move_with_their_tree_and_come_back(tmp_path: Path, rows: list[PlanRow]) -> None:
    """All that is known of them comes with them; the undo file is gone in the end."""
    before = tree(tmp_path)

    assert {} == run(tmp_path, rows, "move")
    assert ["equal.txt", "other.txt", "sub/equal.txt"] == sorted(tree(tmp_path / "gone"))
    assert ["kept.txt"] == sorted(tree(tmp_path / "docs"))
    assert 3 == len(undo(tmp_path / "plan.undo").restored)
    assert before == tree(tmp_path)


def test_deleted_files_come_back_if_one_of_their_bytes_stayed(tmp_path: Path, rows: list[PlanRow]) -> None:
    """The others do not, and that is known before; the undo file goes on naming them."""
    before = tree(tmp_path)

    assert (3, 12, 1, 0) == tuple(getattr(expected(rows), each) for each in ("files", "size", "unlike", "documents"))
    run(tmp_path, rows, "delete")
    assert ["docs/kept.txt"] == sorted(set(tree(tmp_path)) - {"plan.undo"})

    found = undo(tmp_path / "plan.undo")
    ((path, reason),) = found.left
    assert (2, "other.txt") == (len(found.restored), Path(path).name)
    assert "has other bytes" in reason
    assert {name: what for name, what in before.items() if "other" not in name} == {
        name: what for name, what in tree(tmp_path).items() if name != "plan.undo"
    }


@posix_only
def test_links_are_made_of_equal_bytes_only_and_undone_by_copies(tmp_path: Path, rows: list[PlanRow]) -> None:
    """With the permissions and the date that the file had."""
    Path(rows[1].path or "").chmod(0o640)
    before = tree(tmp_path)

    assert "has other bytes" in run(tmp_path, rows, "hardlink")["other.txt"]
    assert 3 == Path(rows[0].path or "").stat().st_nlink
    assert 2 == apply_plan(rows, "hardlink", tmp_path / "plan.undo").before
    undo(tmp_path / "plan.undo")
    assert before == tree(tmp_path)


@pytest.mark.parametrize("how", HOWS)
def test_a_dry_run_says_the_same_and_does_nothing(tmp_path: Path, rows: list[PlanRow], how: How) -> None:
    """Not even an undo file is made."""
    before = tree(tmp_path)
    dry = apply_plan(rows, how, tmp_path / "plan.undo", to=tmp_path / "gone", dry_run=True)

    assert before == tree(tmp_path)
    assert dry.done == apply_plan(rows, how, tmp_path / "plan.undo", to=tmp_path / "gone").done


def changed(path: Path) -> None:
    """The same size and date, other bytes."""
    info = path.stat()
    path.write_text("more")
    os.utime(path, ns=(info.st_atime_ns, info.st_mtime_ns))


def linked(path: Path) -> None:
    """A link in its place, to an equal file."""
    path.rename(path.with_suffix(".away"))
    path.symlink_to(path.with_suffix(".away"))


@posix_only
@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize(
    ("change", "reason"),
    [(changed, "content has changed"), (linked, "not a regular file but a link"), (Path.unlink, "is gone")],
)
def test_what_is_not_as_it_was_is_left_alone(
    tmp_path: Path, rows: list[PlanRow], how: How, change: Callable[[Path], None], reason: str
) -> None:
    """Of a file it concerns this file, of the kept one all that were to go for it."""
    change(tmp_path / "docs/equal.txt")
    assert reason in run(tmp_path, rows, how, dry_run=True)["equal.txt"]

    change(tmp_path / "docs/kept.txt")
    before = tree(tmp_path)
    left = run(tmp_path, rows, how)

    assert 3 == len(left)
    assert "kept.txt, which is to stay for it" in left["other.txt"]
    assert before == tree(tmp_path)


def test_one_that_stays_and_vanishes_meanwhile_is_said_to_be_gone(tmp_path: Path) -> None:
    """Also where another one was read before."""
    rows = plan_of(tmp_path, {"kept.txt": "same", "equal.txt": "same"})
    others = plan_of(tmp_path, {"other.txt": "more", "copy.txt": "more"})
    Path(others[0].path or "").unlink()
    left = run(tmp_path, [*rows, *(replace(each, group=2) for each in others)], "move")

    assert ["copy.txt"] == list(left)
    assert left["copy.txt"].endswith("other.txt, which is to stay for it: it is gone")


def test_nothing_is_moved_over_another_file(tmp_path: Path, rows: list[PlanRow]) -> None:
    """Nor is a name that leads out of the folder followed, which a person may have written."""
    (tmp_path / "gone").mkdir()
    (tmp_path / "gone/equal.txt").write_text("mine")
    out = PlanRow(rows[2].action, 1, type(rows[2].place)("../../out"), rows[2].path, rows[2].kept, rows[2].state)
    left = run(tmp_path, [rows[0], rows[1], out], "move")

    assert "is there already" in left["equal.txt"]
    assert "leads out of" in left["other.txt"]
    assert "mine" == (tmp_path / "gone/equal.txt").read_text()


def test_files_move_to_another_disk(tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch) -> None:
    """By a copy that is whole before it has its name; date and permissions come along, and back."""
    before = tree(tmp_path)
    no_links_between(monkeypatch)

    assert {} == run(tmp_path, rows, "move")
    assert before["docs/equal.txt"] == tree(tmp_path)["gone/equal.txt"]
    undo(tmp_path / "plan.undo")
    assert before == tree(tmp_path)


@pytest.mark.parametrize("one_disk", [True, False])
def test_what_cannot_leave_its_folder_is_in_one_place(
    tmp_path: Path, rows: list[PlanRow], one_disk: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Linked or copied already, but not to be removed where it was: it is as before, and the others move."""
    if not one_disk:
        no_links_between(monkeypatch)
    rename: Callable[[str, str], None] = os.rename

    def refusing(path: str, to: str) -> None:
        if Path(path).parent == tmp_path / "docs" / "sub":
            raise PermissionError(errno.EACCES, "Permission denied", path)
        rename(path, to)

    monkeypatch.setattr(os, "rename", refusing)

    assert {"sub/equal.txt": "that is not possible (Permission denied)"} == run(tmp_path, rows, "move")
    assert ["equal.txt", "other.txt"] == sorted(tree(tmp_path / "gone"))
    assert ["kept.txt", "sub/equal.txt"] == sorted(tree(tmp_path / "docs"))
    assert 2 == len(undo(tmp_path / "plan.undo").restored)


def test_undo_leaves_alone_what_is_not_as_it_was_left(tmp_path: Path, rows: list[PlanRow]) -> None:
    """A new file in the old place, and a moved one that was changed; the rest is undone, later these."""
    run(tmp_path, rows, "move")
    (tmp_path / "docs/equal.txt").write_text("new")
    changed(tmp_path / "gone/other.txt")
    found = undo(tmp_path / "plan.undo")

    assert ["equal.txt", "other.txt"] == sorted(Path(name).name for name, _ in found.left)
    assert "new" == (tmp_path / "docs/equal.txt").read_text()
    (tmp_path / "docs/equal.txt").unlink()
    (tmp_path / "gone/other.txt").write_text("SAME")
    assert [] == undo(tmp_path / "plan.undo").left
    assert not (tmp_path / "plan.undo").exists()


def test_what_was_undone_can_be_done_again(tmp_path: Path, rows: list[PlanRow]) -> None:
    """In another way, too; the last act of each file is the one that is undone."""
    before = tree(tmp_path)
    for how in HOWS:
        report = apply_plan(rows[:2], how, tmp_path / "plan.undo", to=tmp_path / how)
        assert 1 == len(report.done)
        assert 1 == len(undo(tmp_path / "plan.undo").restored)
        assert before == tree(tmp_path)


def test_a_file_that_is_no_undo_file_is_refused(tmp_path: Path, rows: list[PlanRow]) -> None:
    """Nothing is done beside it, and nothing is written over it; nor is there anything to undo without one."""
    (tmp_path / "plan.undo").write_text("mine\n")
    for act in (lambda: run(tmp_path, rows, "move"), lambda: undo(tmp_path / "plan.undo")):
        with pytest.raises(PlanError, match="is not an undo file"):
            act()
    with pytest.raises(PlanError, match="does not exist"):
        undo(tmp_path / "other.undo")
    assert "mine\n" == (tmp_path / "plan.undo").read_text()


def test_a_full_disk_stops_before_a_file_is_touched(
    tmp_path: Path, rows: list[PlanRow], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written down is not done."""

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(PlanError, match="cannot be written, so no more is done: no space left"):
        run(tmp_path, rows, "delete")
    assert 4 == len(tree(tmp_path / "docs"))
