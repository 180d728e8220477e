"""kill -9 before each thing that is done to the disk: a second run ends as if there had been none."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import How, apply_plan, undo
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.often import first
from tests.support.plans import contents, no_links_between, plan_of, tree
from tests.support.steps import killed

pytestmark = posix_only

FILES = {"kept.txt": "same", "sub/equal.txt": "same", "equal.txt": "same"}
_MOST_STEPS = 1_000

WAYS: list[tuple[How, bool, int, int]] = [
    ("move", True, 2, 2),
    ("move", True, 3, 1),
    ("delete", False, 3, 1),
    ("hardlink", False, 3, 1),
    ("move", False, 3, 1),
]
"""What is done, whether to another disk, with how many files, and that it is killed before each so manieth step."""


class Trial:
    """A plan for some files, applied and undone in one way, again and again."""

    def __init__(self, folder: Path, how: How, files: int, stride: int) -> None:
        self.folder, self.how, self.undo_file = folder, how, folder / "plan.undo"
        self.steps = range(0, _MOST_STEPS, stride)
        self.rows: list[PlanRow] = plan_of(folder, dict(list(FILES.items())[:files]))
        shutil.copytree(folder / "docs", folder.parent / "first")
        self.before = self.now()
        self.apply()
        self.after = self.now()

    def now(self) -> dict[str, object]:
        """All files, but for the undo file: how many times a line stands in it does not matter."""
        found: dict[str, object] = {**tree(self.folder)}
        found.pop("plan.undo", None)
        return {**found, "inodes": len({each.stat().st_ino for each in self.folder.rglob("*.txt")})}

    def apply(self) -> None:
        """All of it."""
        assert [] == apply_plan(self.rows, self.how, self.undo_file, to=self.folder / "gone").left

    def undo(self) -> None:
        """All of it, if anything was begun."""
        if self.undo_file.exists():
            assert [] == undo(self.undo_file).left

    def again(self) -> None:
        """As at first."""
        for each in self.folder.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        shutil.copytree(self.folder.parent / "first", self.folder / "docs")

    def check(self) -> None:
        """The kept file is untouched; what is not deleted has its content, if only under a hidden name."""
        assert self.before["docs/kept.txt"] == tree(self.folder)["docs/kept.txt"]
        assert self.how == "delete" or len(contents(self.folder)) >= len(self.rows)


@pytest.fixture(params=first(1, WAYS))
def trial(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Trial:
    """One for each way."""
    how, far, *numbers = request.param
    if far:
        no_links_between(monkeypatch)
    (tmp_path / "trial").mkdir()
    return Trial(tmp_path / "trial", how, *numbers)


@pytest.mark.slow
def test_a_killed_apply_is_gone_on_with(trial: Trial) -> None:
    """Nothing is lost, nothing is twice, no temporary file stays."""
    for step in trial.steps:
        trial.again()
        if not killed(step, trial.apply):
            break
        trial.check()
        trial.apply()
        assert trial.after == trial.now(), step
    assert step > 5


@pytest.mark.slow
def test_a_killed_apply_is_undone(trial: Trial) -> None:
    """From wherever it came to."""
    for step in trial.steps:
        trial.again()
        if not killed(step, trial.apply):
            break
        trial.undo()
        assert trial.before == trial.now(), step
    assert step > 5


def test_a_line_that_was_not_written_whole_is_written_anew(trial: Trial) -> None:
    """The power may go while the undo file is written."""
    whole = trial.undo_file.read_bytes()
    for length in range(0, len(whole), 7):
        trial.again()
        trial.undo_file.write_bytes(whole[:length])
        trial.apply()
        assert trial.after == trial.now(), length
        trial.undo()
        assert trial.before == trial.now(), length


@pytest.mark.slow
def test_a_killed_undo_is_gone_on_with(trial: Trial) -> None:
    """Until all is as it was, and the undo file is gone."""
    for step in trial.steps:
        trial.again()
        trial.apply()
        if not killed(step, trial.undo):
            break
        trial.check()
        trial.undo()
        assert trial.before == trial.now(), step
        assert not trial.undo_file.exists()
    assert step > 5
