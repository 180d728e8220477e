"""Several runs use the same files at the same time. No content is lost, whichever step each run has reached."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import DropMethod, PlanError, apply_plan, undo
from simdoc_search.duplicates.plan.files import OpenKeptFile
from tests.support.duplicate_plans import METHODS, contents, plan_of, tree
from tests.support.folders import posix_only
from tests.support.killed_processes import Process

pytestmark = posix_only

FILES = {"one.txt": "same", "sub/two.txt": "same"}
MAX_STEPS, STRIDE = 200, 61
METHOD_PAIRS: list[tuple[DropMethod, DropMethod]] = [
    ("delete", "delete"),
    ("move", "move"),
    ("hardlink", "delete"),
    ("delete", "hardlink"),
    ("move", "delete"),
]


class TwoPlans:
    """Two plans for the same two files. Each plan keeps the file that the other one drops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        one, two = plan_of(folder, FILES)
        self.rows = (
            [one, two],
            [replace(two, action="keep", kept_name=""), replace(one, action="drop", kept_name=two.name)],
        )
        self.undo_files = folder / "plan0.undo", folder / "plan1.undo"
        self.kept, self.dropped = Path(one.path or ""), Path(two.path or "")  # in the first plan

    def apply(self, number: int, method: DropMethod) -> Callable[[], object]:
        rows, undo_file = self.rows[number], self.undo_files[number]
        return lambda: apply_plan(rows, method, undo_file, move_to=self.folder / f"gone{number}")

    def reason(self, method: DropMethod) -> str:
        """Apply the first plan, and return why it leaves its file alone."""
        report = apply_plan(self.rows[0], method, self.undo_files[0], move_to=self.folder / "gone")
        return report.left_alone[0].reason

    def restart(self) -> None:
        for path in self.folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        plan_of(self.folder, FILES)

    def visible(self) -> list[str]:
        return [name for name in tree(self.folder) if name.endswith(".txt")]

    def hidden(self) -> list[str]:
        return [name for name in tree(self.folder) if "/.simdoc-" in name]


@pytest.fixture
def plans(tmp_path: Path) -> TwoPlans:
    return TwoPlans(tmp_path)


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make locks succeed always, as on a file system without locks."""
    for module in ("lock", "journal"):
        monkeypatch.setattr(f"simdoc_search.duplicates.plan.{module}.lock_file", lambda *_, **__: True)


@pytest.mark.slow
@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(("one", "two"), METHOD_PAIRS)
def test_two_plans_never_remove_both_files(plans: TwoPlans, one: DropMethod, two: DropMethod) -> None:
    """Each run is paused before one of its steps, while the other run continues."""
    for step in range(MAX_STEPS):
        for second_step in range(step % STRIDE, MAX_STEPS, STRIDE):
            plans.restart()
            first, second = Process(step, plans.apply(0, one)), Process(second_step, plans.apply(1, two))
            stopped = first.stopped, second.stopped
            first.end()
            second.end()

            assert [False, False] == [first.failed, second.failed]
            assert plans.visible(), (step, second_step)
            assert [] == plans.hidden(), (step, second_step)
            if not stopped[1]:
                break
        if not stopped[0]:
            break
    assert step > 5


@pytest.mark.slow
@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(("one", "two"), METHOD_PAIRS)
def test_nothing_is_lost_if_one_of_two_runs_is_killed(plans: TwoPlans, one: DropMethod, two: DropMethod) -> None:
    """Undo restores the file that the killed run has hidden."""
    for step in range(MAX_STEPS):
        plans.restart()
        first = Process(step, plans.apply(0, one))
        assert not Process(None, plans.apply(1, two)).failed
        stopped = first.stopped
        first.end(signal.SIGKILL)

        assert contents(plans.folder), step
        if plans.undo_files[0].exists():
            undo(plans.undo_files[0])
        assert plans.visible(), step
        assert [] == [name for name in plans.hidden() if not name.endswith(".tmp")], step
        if not stopped:
            break
    assert step > 5


def test_a_second_run_in_the_same_folders_or_with_the_same_undo_file_is_refused(plans: TwoPlans) -> None:
    first = Process("os.rename", plans.apply(0, "delete"))
    assert first.stopped

    try:
        for folder in ("docs", "docs/sub", "."):
            rows = [replace(row, path=str(plans.folder / folder / row.action)) for row in plans.rows[1]]
            with pytest.raises(
                PlanError, match=r"another run of `apply` is changing files in .*; wait until that run ends"
            ):
                apply_plan([rows[0], replace(rows[1], kept_name=rows[0].name)], "delete", plans.undo_files[1])
        others = plan_of(plans.folder / "elsewhere", FILES)
        with pytest.raises(PlanError, match=r"another run of `apply` is changing files in .*docs"):
            apply_plan(others, "move", plans.undo_files[1], move_to=plans.folder / "docs")
        shutil.rmtree(plans.folder / "elsewhere")
        shutil.copy(plans.undo_files[0], plans.undo_files[1])
        with pytest.raises(PlanError, match="another run of `apply` is changing files"):
            undo(plans.undo_files[1])
        for again in (plans.apply(0, "delete"), lambda: undo(plans.undo_files[0])):
            with pytest.raises(
                PlanError, match=r"another run of `apply` is using .*plan0\.undo; wait until that run ends"
            ):
                again()
    finally:
        first.end()
    assert ["docs/one.txt"] == plans.visible()
    assert [] == apply_plan(plans.rows[0], "delete", plans.undo_files[0]).left_alone


@pytest.mark.parametrize("method", METHODS)
def test_nothing_is_dropped_if_the_kept_file_is_replaced_during_the_run(
    plans: TwoPlans, method: DropMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kept file is replaced after it was read, by a file with the same size and modification time."""
    info = plans.kept.stat()
    is_unchanged: Callable[[OpenKeptFile], bool] = OpenKeptFile.is_unchanged

    def replaced(kept_file: OpenKeptFile) -> bool:
        plans.kept.unlink()
        plans.kept.write_text("SAME")
        os.utime(plans.kept, ns=(info.st_atime_ns, info.st_mtime_ns))
        return is_unchanged(kept_file)

    monkeypatch.setattr(OpenKeptFile, "is_unchanged", replaced)
    reason = plans.reason(method)

    assert "content of the file has changed" in reason or "changed during this run" in reason
    assert ["SAME", "same"] == [plans.kept.read_text(), plans.dropped.read_text()]
    assert [] == plans.hidden()


@pytest.mark.parametrize("method", METHODS)
def test_a_file_that_a_program_saves_during_the_run_is_not_dropped(
    plans: TwoPlans, method: DropMethod, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename: Callable[[str, str], None] = os.rename

    def saved(path: str, to: str) -> None:
        if to.endswith(".away"):
            Path(path).write_text("a new text")
        rename(path, to)

    monkeypatch.setattr(os, "rename", saved)

    assert "the file changed during this run" == plans.reason(method)
    assert "a new text" == plans.dropped.read_text()
    assert (["docs/one.txt", "docs/sub/two.txt"], []) == (plans.visible(), plans.hidden())


def test_undo_restores_a_hidden_file_after_its_name_was_taken_by_another_file(
    plans: TwoPlans, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_unchanged: Callable[[OpenKeptFile], bool] = OpenKeptFile.is_unchanged

    def taken(kept_file: OpenKeptFile) -> bool:
        plans.kept.rename(plans.kept.with_suffix(".moved"))
        plans.dropped.write_text("a new file")
        return is_unchanged(kept_file)

    monkeypatch.setattr(OpenKeptFile, "is_unchanged", taken)
    reason = plans.reason("delete")
    (hidden,) = plans.hidden()
    assert f"another file is now at this path; the original file was renamed to {plans.folder / hidden}" == reason
    assert "a new file" == plans.dropped.read_text()
    assert [(str(plans.dropped), reason)] == undo(plans.undo_files[0]).not_restored

    plans.dropped.unlink()
    assert [] == undo(plans.undo_files[0]).not_restored
    assert "same" == plans.dropped.read_text()
    assert not plans.undo_files[0].exists()
