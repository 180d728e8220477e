"""The undo file is only read as far as it is undamaged, and only if it is a regular file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from simdoc_search import open_store
from simdoc_search.duplicates.plan import PlanError, PlanIndex, apply_plan, read_index, undo
from simdoc_search.duplicates.plan.rows import FileState, PlanRow
from tests.support.cli import output, write
from tests.support.duplicate_plans import no_links_between, plan_of, tree
from tests.support.folders import posix_only


@pytest.fixture
def rows(tmp_path: Path) -> list[PlanRow]:
    """A plan that drops three copies of a file."""
    return plan_of(tmp_path, {"kept.txt": "same", "one.txt": "same", "two.txt": "same", "three.txt": "same"})


@pytest.fixture
def undo_file(tmp_path: Path) -> Path:
    return tmp_path / "plan.undo"


def line_with_checksum(line: dict[str, object]) -> bytes:
    """Return a line of an undo file, with its checksum."""
    text = json.dumps(line).encode()
    return blake2b(text, digest_size=8).hexdigest().encode() + b" " + text + b"\n"


@pytest.mark.parametrize(
    "damage",
    [
        b"x",
        b"\x00" * 40 + b"\n",
        line_with_checksum({"act": "run"}),
        line_with_checksum({"act": "delete", "path": "a", "other": "b", "token": "../c", "state": None, "mode": 0}),
    ],
)
def test_undo_stops_at_a_damaged_line_and_keeps_the_file(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path, damage: bytes
) -> None:
    """The changes before the damaged line are undone. The others are undone after the line is repaired.

    A token is part of a file name, so one with a path is damage, too.
    """
    before = tree(tmp_path)
    apply_plan(rows, "move", undo_file, move_to=tmp_path / "gone")
    lines = undo_file.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:4], damage, *lines[4:]])
    undo_file.write_bytes(damaged)

    report = undo(undo_file)
    assert ["one.txt", "two.txt"] == sorted(Path(path).name for path in report.restored)
    reason = f"{undo_file} is damaged, starting at line 5 of {len(damaged.splitlines())}"
    assert [
        (str(undo_file), f"{reason}; the changes in that line and the lines after it are not undone")
    ] == report.not_restored
    assert damaged == undo_file.read_bytes()
    with pytest.raises(
        PlanError,
        match=r"is damaged, starting at line 5 of .*; undo the changes before that line with the option --undo",
    ):
        apply_plan(rows, "move", undo_file, move_to=tmp_path / "gone")

    undo_file.write_bytes(b"".join(lines))
    assert [] == undo(undo_file).not_restored
    assert before == tree(tmp_path)


@posix_only
@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path: path.symlink_to(path.with_name("elsewhere")), "is a symbolic link"),
        (os.mkfifo, "is not a regular file"),
        (Path.mkdir, "cannot be read: is a directory"),
        (lambda path: path.write_text("mine\n"), "is not an undo file"),
    ],
)
def test_a_file_that_is_not_an_undo_file_is_refused(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path, make: Callable[[Path], object], message: str
) -> None:
    make(undo_file)
    for run in (lambda: apply_plan(rows, "delete", undo_file), lambda: undo(undo_file)):
        with pytest.raises(PlanError, match=message):
            run()
    assert not (tmp_path / "elsewhere").exists()
    assert not undo_file.is_file() or undo_file.read_text() == "mine\n"
    assert 4 == len(tree(tmp_path / "docs"))


@pytest.mark.parametrize("version", [1, 3])
def test_an_undo_file_of_another_version_is_refused(undo_file: Path, version: int) -> None:
    header = line_with_checksum({"simdoc-search": "undo file of a plan", "version": version})
    undo_file.write_bytes(header)

    with pytest.raises(PlanError, match=rf"by another version of simdoc-search \(format {version}, not 2\)"):
        undo(undo_file)
    assert header == undo_file.read_bytes()


def test_the_undo_file_names_the_index_of_the_files(tmp_path: Path, undo_file: Path) -> None:
    """A store without the folders of the files is not named, nor is one that applies the rest of the plan."""
    rows = plan_of(tmp_path, {"kept.txt": "one two", "one.txt": "one two", "two.txt": "one two"})
    write(tmp_path / "other", {"text.txt": "three four"})
    for name in ("other", "docs"):
        output("index", tmp_path / name, "--store", tmp_path / f"index of {name}")
    stores = {name: open_store(tmp_path / f"index of {name}") for name in ("other", "docs")}
    gone = tmp_path / "gone"
    apply_plan(rows[:2], "move", undo_file, move_to=gone, store=stores["other"])
    without = read_index(undo_file)
    undo(undo_file)
    apply_plan(rows[:2], "move", undo_file, move_to=gone, store=stores["docs"])
    apply_plan(rows, "move", undo_file, move_to=gone, store=stores["other"])

    index = PlanIndex(str(tmp_path / "index of docs"), {str(tmp_path / "docs"): ""})
    assert PlanIndex() == without
    assert (index, index) == (read_index(undo_file), undo(undo_file).index)


def test_nothing_can_be_undone_without_an_undo_file(undo_file: Path) -> None:
    with pytest.raises(PlanError, match="does not exist"):
        undo(undo_file)


@posix_only
@pytest.mark.parametrize("method", ["delete", "hardlink"])
def test_undo_restores_permissions_but_no_set_uid_bit(rows: list[PlanRow], undo_file: Path, method: str) -> None:
    """Another user may have written the undo file."""
    kept, one = Path(rows[0].path or ""), Path(rows[1].path or "")
    one.unlink()
    if method == "hardlink":
        one.hardlink_to(kept)
    state = rows[0].state
    assert isinstance(state, FileState)
    change = {"act": method, "path": str(one), "other": str(kept), "token": "ab12", "mode": 0o6755}
    change["state"] = [state.size, state.mtime_ns, state.hash]
    header = {"simdoc-search": "undo file of a plan", "version": 2}
    undo_file.write_bytes(line_with_checksum(header) + line_with_checksum(change))

    assert [str(one)] == undo(undo_file).restored
    assert 0o755 == one.stat().st_mode & 0o7777


@posix_only
def test_a_copy_on_another_disk_has_no_set_uid_bit(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another user may own the copy."""
    no_links_between(monkeypatch)
    Path(rows[1].path or "").chmod(0o4755)
    apply_plan(rows[:2], "move", undo_file, move_to=tmp_path / "gone")
    assert 0o755 == (tmp_path / "gone/one.txt").stat().st_mode & 0o7777


@posix_only
def test_no_file_is_moved_through_a_symbolic_link_in_the_target_folder(tmp_path: Path, undo_file: Path) -> None:
    """The target folder itself may be a symbolic link, because a person chose it."""
    rows = plan_of(tmp_path, {"kept.txt": "same", "sub/copy.txt": "same"})
    shutil.copytree(tmp_path / "docs/sub", tmp_path / "real")
    (tmp_path / "out").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "real")
    (tmp_path / "real/sub").symlink_to(tmp_path / "out")

    ((_, reason, _),) = apply_plan(rows, "move", undo_file, move_to=tmp_path / "gone").left_alone
    assert f"{tmp_path}/gone/sub is a symbolic link; files are not moved through links" == reason
    assert [] == list((tmp_path / "out").iterdir())

    (tmp_path / "real/sub").unlink()
    assert [] == apply_plan(rows, "move", undo_file, move_to=tmp_path / "gone").left_alone
    assert "same" == (tmp_path / "real/sub/copy.txt").read_text()
