"""A run is killed with kill -9 before each change of the disk. A second run has the same result as without the kill."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import DropMethod, apply_plan, undo
from tests.support.duplicate_plans import contents, no_links_between, plan_of, tree
from tests.support.folders import posix_only
from tests.support.killed_processes import killed
from tests.support.slow_cases import slow_after

pytestmark = posix_only

FILES = {"kept.txt": "same", "sub/equal.txt": "same", "equal.txt": "same"}
MAX_STEPS = 1_000


class Trial:
    """A plan for some files that is applied and undone many times."""

    def __init__(self, folder: Path, method: DropMethod) -> None:
        self.folder, self.method, self.undo_file = folder, method, folder / "plan.undo"
        self.rows = plan_of(folder, FILES)
        shutil.copytree(folder / "docs", folder.parent / "first")
        self.before = self.state()
        self.apply()
        self.after = self.state()

    def state(self) -> dict[str, object]:
        """Return all files except the undo file, which may contain repeated lines."""
        files: dict[str, object] = {**tree(self.folder)}
        files.pop("plan.undo", None)
        return {**files, "inodes": len({path.stat().st_ino for path in self.folder.rglob("*.txt")})}

    def apply(self) -> None:
        assert [] == apply_plan(self.rows, self.method, self.undo_file, move_to=self.folder / "gone").left_alone

    def undo(self) -> None:
        if self.undo_file.exists():
            assert [] == undo(self.undo_file).not_restored

    def restart(self) -> None:
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        shutil.copytree(self.folder.parent / "first", self.folder / "docs")

    def check(self) -> None:
        """Check that the kept file is unchanged, and that no content is lost unless files are deleted."""
        assert self.before["docs/kept.txt"] == tree(self.folder)["docs/kept.txt"]
        assert self.method == "delete" or len(contents(self.folder)) >= len(self.rows)


@pytest.fixture(params=slow_after(0, ["delete", "move to another disk", "move", "hardlink"]))
def trial(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    method, _, far = request.param.partition(" ")
    if far:
        no_links_between(monkeypatch)
    (tmp_path / "trial").mkdir()
    return Trial(tmp_path / "trial", method)


def test_a_killed_apply_is_resumed_or_undone(trial: Trial) -> None:
    for step in range(MAX_STEPS):
        for finish, expected in ((trial.apply, trial.after), (trial.undo, trial.before)):
            trial.restart()
            was_killed = killed(step, trial.apply)
            trial.check()
            finish()
            assert expected == trial.state(), step
        if not was_killed:
            break
    assert step > 5


def test_a_killed_undo_is_resumed(trial: Trial) -> None:
    """In the end, all files are restored, and the undo file is removed."""
    for step in range(MAX_STEPS):
        trial.restart()
        trial.apply()
        was_killed = killed(step, trial.undo)
        trial.check()
        trial.undo()
        assert trial.before == trial.state(), step
        assert not trial.undo_file.exists()
        if not was_killed:
            break
    assert step > 5


def test_an_unfinished_line_of_the_undo_file_is_written_again(trial: Trial) -> None:
    """A power failure may leave the last line unfinished."""
    whole = trial.undo_file.read_bytes()
    for length in range(0, len(whole), 23):
        trial.restart()
        trial.undo_file.write_bytes(whole[:length])
        trial.apply()
        assert trial.after == trial.state(), length
        trial.undo()
        assert trial.before == trial.state(), length
