"""The undo file: what it says is believed only while it is whole, and only if it is a file."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import PlanError, apply_plan, undo
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.plans import no_links_between, plan_of, tree


@pytest.fixture
def rows(tmp_path: Path) -> list[PlanRow]:
    """A plan for two copies of a file."""
    return plan_of(tmp_path, {"kept.txt": "same", "one.txt": "same", "two.txt": "same", "three.txt": "same"})


@pytest.fixture
def undo_file(tmp_path: Path) -> Path:
    """Of that plan."""
    return tmp_path / "plan.undo"


def sealed(act: dict[str, object]) -> bytes:
    """A line of an undo file that says so."""
    text = json.dumps(act).encode()
    return blake2b(text, digest_size=8).hexdigest().encode() + b" " + text + b"\n"


@pytest.mark.parametrize("damage", [b"x", b"\x00" * 40 + b"\n", b'{"act": "move"}\n', sealed({"act": "run"})])
def test_undo_stops_at_a_damaged_line_and_keeps_the_file(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path, damage: bytes
) -> None:
    """What stands before it comes back; what stands behind it is named, and comes back once the line is mended."""
    before = tree(tmp_path)
    apply_plan(rows, "move", undo_file, to=tmp_path / "gone")
    lines = undo_file.read_bytes().splitlines(keepends=True)
    damaged = b"".join([*lines[:3], damage, *lines[3:]])
    undo_file.write_bytes(damaged)

    found = undo(undo_file)
    assert ["one.txt", "two.txt"] == sorted(Path(each).name for each in found.restored)
    ((name, reason),) = found.left
    assert str(undo_file) == name
    count = len(damaged.splitlines())
    assert f"{undo_file} is damaged from line 4 of {count} on; what it says there is not undone" == reason
    assert damaged == undo_file.read_bytes()
    with pytest.raises(PlanError, match=r"is damaged from line 4 of .*; undo what stands before it, or move it away"):
        apply_plan(rows, "move", undo_file, to=tmp_path / "gone")

    undo_file.write_bytes(b"".join(lines))
    assert [] == undo(undo_file).left
    assert before == tree(tmp_path)


@posix_only
def test_an_undo_file_that_is_none_is_neither_followed_nor_waited_for(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path
) -> None:
    """A link, also one that leads nowhere, a pipe and a folder."""
    ways: list[tuple[Callable[[], None], str]] = [
        (lambda: undo_file.symlink_to(tmp_path / "elsewhere"), "is a symbolic link"),
        (lambda: os.mkfifo(undo_file), "is not a regular file"),
        (undo_file.mkdir, "cannot be read: is a directory"),
    ]
    for make, said in ways:
        make()
        with pytest.raises(PlanError, match=said):
            apply_plan(rows, "delete", undo_file)
        with pytest.raises(PlanError, match=said):
            undo(undo_file)
        assert not (tmp_path / "elsewhere").exists()
        shutil.rmtree(undo_file) if undo_file.is_dir() else undo_file.unlink()
    assert 4 == len(tree(tmp_path / "docs"))


@posix_only
@pytest.mark.parametrize("how", ["delete", "hardlink"])
def test_no_file_gets_more_than_permissions(tmp_path: Path, rows: list[PlanRow], undo_file: Path, how: str) -> None:
    """Whatever an undo file says that somebody else may have written: never the rights of its owner."""
    kept, one = Path(rows[0].path or ""), Path(rows[1].path or "")
    one.unlink()
    if how == "hardlink":
        one.hardlink_to(kept)
    state = rows[0].state
    assert state is not None
    told = str(state).split(":")
    act = {"act": how, "path": str(one), "other": str(kept), "token": "ab12", "mode": 0o6755}
    act["state"] = [int(told[1]), int(told[2]), told[3]]
    head = {"simdoc-search": "undo file of a plan", "version": 2}
    undo_file.write_bytes(sealed(head) + sealed(act))

    assert [str(one)] == undo(undo_file).restored
    assert 0o755 == one.stat().st_mode & 0o7777


@posix_only
def test_a_copy_on_another_disk_gets_no_rights_of_its_owner(
    tmp_path: Path, rows: list[PlanRow], undo_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever copies it may be another user than its owner."""
    no_links_between(monkeypatch)
    Path(rows[1].path or "").chmod(0o4755)
    apply_plan(rows[:2], "move", undo_file, to=tmp_path / "gone")
    assert 0o755 == (tmp_path / "gone/one.txt").stat().st_mode & 0o7777


@posix_only
def test_nothing_is_moved_through_a_link_below_the_folder(tmp_path: Path, undo_file: Path) -> None:
    """The folder itself may be one, as a person names it."""
    rows = plan_of(tmp_path, {"kept.txt": "same", "sub/copy.txt": "same"})
    (tmp_path / "out").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "gone").symlink_to(tmp_path / "real")
    (tmp_path / "real/sub").symlink_to(tmp_path / "out")

    ((_, reason),) = apply_plan(rows, "move", undo_file, to=tmp_path / "gone").left
    assert f"{tmp_path}/gone/sub is a symbolic link, and nothing is moved through one" == reason
    assert [] == list((tmp_path / "out").iterdir())

    (tmp_path / "real/sub").unlink()
    assert [] == apply_plan(rows, "move", undo_file, to=tmp_path / "gone").left
    assert "same" == (tmp_path / "real/sub/copy.txt").read_text()
