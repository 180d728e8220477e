"""Several runs at work on the same files: whichever step each of them has reached, no content is lost."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from simdoc_search.duplicates.plan import How, PlanError, apply_plan, undo
from simdoc_search.duplicates.plan.files import PinnedFile
from simdoc_search.duplicates.plan.rows import PlanRow
from tests.support.folders import posix_only
from tests.support.plans import HOWS, contents, plan_of, tree
from tests.support.steps import Process

pytestmark = posix_only

FILES = {"one.txt": "same", "sub/two.txt": "same"}
MOST_STEPS, EVERY = 200, 13
PAIRS: list[tuple[How, How]] = [
    ("delete", "delete"),
    ("move", "move"),
    ("hardlink", "delete"),
    ("delete", "hardlink"),
    ("move", "delete"),
]


class Pair:
    """Two plans for the same two files: each keeps the file that the other one drops."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        one, two = plan_of(folder, FILES)
        self.plans = [one, two], [replace(two, action="keep", kept=""), replace(one, action="drop", kept=two.name)]

    def apply(self, number: int, how: How) -> Callable[[], object]:
        """What a process does by one of the plans."""
        return lambda: apply_plan(self.plans[number], how, self.undo_file(number), to=self.folder / f"gone{number}")

    def undo_file(self, number: int) -> Path:
        """Of one of the plans."""
        return self.folder / f"plan{number}.undo"

    def again(self) -> None:
        """As at first."""
        for each in self.folder.iterdir():
            shutil.rmtree(each) if each.is_dir() else each.unlink()
        plan_of(self.folder, FILES)

    def shown(self) -> list[str]:
        """The files that a person sees."""
        return [name for name in tree(self.folder) if name.endswith(".txt")]

    def hidden(self) -> list[str]:
        """What runs have hidden or left."""
        return [name for name in tree(self.folder) if "/.simdoc-" in name]


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    """Two plans."""
    return Pair(tmp_path)


@pytest.fixture
def no_locks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a file system without locks."""
    for module in ("lock", "journal"):
        monkeypatch.setattr(f"simdoc_search.duplicates.plan.{module}.lock_file", lambda *_, **__: True)


@pytest.mark.slow
@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_two_plans_never_remove_both_files(pair: Pair, one: How, two: How) -> None:
    """Even without locks: each run is stopped once, before one of its steps, while the other one goes on."""
    for at in range(MOST_STEPS):
        for then in range(at % EVERY, MOST_STEPS, EVERY):
            pair.again()
            first, second = Process(at, pair.apply(0, one)), Process(then, pair.apply(1, two))
            stopped = first.stopped, second.stopped
            first.end()
            second.end()

            assert [False, False] == [first.failed, second.failed]
            assert pair.shown(), (at, then)
            assert [] == pair.hidden(), (at, then)
            if not stopped[1]:
                break
        if not stopped[0]:
            break
    assert at > 5


@pytest.mark.slow
@pytest.mark.usefixtures("no_locks")
@pytest.mark.parametrize(("one", "two"), PAIRS)
def test_a_run_that_is_killed_beside_another_one_loses_nothing(pair: Pair, one: How, two: How) -> None:
    """Undoing what it had begun brings its hidden file back."""
    for at in range(MOST_STEPS):
        pair.again()
        first = Process(at, pair.apply(0, one))
        assert not Process(None, pair.apply(1, two)).failed
        stopped = first.stopped
        first.end(signal.SIGKILL)

        assert contents(pair.folder), at
        if pair.undo_file(0).exists():
            undo(pair.undo_file(0))
        assert pair.shown(), at
        assert [] == [each for each in pair.hidden() if not each.endswith(".tmp")], at
        if not stopped:
            break
    assert at > 5


def test_one_run_at_a_time_works_on_a_tree(pair: Pair) -> None:
    """A second one is refused, with another plan, in a folder above or below, and for the same undo file."""
    first = Process("os.rename", pair.apply(0, "delete"))
    assert first.stopped

    def plan_in(folder: Path) -> list[PlanRow]:
        kept, dropped = (replace(each, path=str(folder / each.action)) for each in pair.plans[0])
        return [kept, replace(dropped, kept=kept.name)]

    try:
        for rows in (pair.plans[1], plan_in(pair.folder / "docs/sub"), plan_in(pair.folder)):
            with pytest.raises(PlanError, match=r"another apply is running in .*; wait until it has ended"):
                apply_plan(rows, "delete", pair.undo_file(1))
        for again in (pair.apply(0, "delete"), lambda: undo(pair.undo_file(0))):
            with pytest.raises(PlanError, match=r"another apply is using .*plan0\.undo; wait until it has ended"):
                again()
        (pair.folder / "other").mkdir()
        assert 1 == len(apply_plan(plan_in(pair.folder / "other"), "delete", pair.undo_file(1)).left)
    finally:
        first.end()
    assert ["docs/one.txt"] == pair.shown()
    assert [] == apply_plan(pair.plans[0], "delete", pair.undo_file(0)).left


def test_a_kept_file_that_another_program_replaces_is_seen(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """After it was read, and by a file of the same size and time: the other one stays."""
    kept, dropped = (Path(each.path or "") for each in pair.plans[0])
    info = kept.stat()
    is_unchanged: Callable[[PinnedFile], bool] = PinnedFile.is_unchanged

    def replaced(pinned: PinnedFile) -> bool:
        kept.unlink()
        kept.write_text("SAME")
        os.utime(kept, ns=(info.st_atime_ns, info.st_mtime_ns))
        return is_unchanged(pinned)

    monkeypatch.setattr(PinnedFile, "is_unchanged", replaced)
    for how in HOWS:
        ((_, reason),) = apply_plan(pair.plans[0], how, pair.undo_file(0), to=pair.folder / "gone").left
        assert "content has changed" in reason or "has changed just now" in reason
        assert ["SAME", "same"] == [kept.read_text(), dropped.read_text()]
        assert [] == pair.hidden()
        kept.write_text("same")


@pytest.mark.parametrize("how", HOWS)
def test_a_file_that_a_program_saves_meanwhile_stays(pair: Pair, how: How, monkeypatch: pytest.MonkeyPatch) -> None:
    """Right before it is removed: what was saved is what stays."""
    dropped = Path(pair.plans[0][1].path or "")
    rename: Callable[[str, str], None] = os.rename

    def saved(path: str, to: str) -> None:
        if to.endswith(".away"):
            Path(path).write_text("a new text")
        rename(path, to)

    monkeypatch.setattr(os, "rename", saved)
    ((_, reason),) = apply_plan(pair.plans[0], how, pair.undo_file(0), to=pair.folder / "gone").left

    assert "it has changed just now" == reason
    assert "a new text" == dropped.read_text()
    assert ["docs/one.txt", "docs/sub/two.txt"] == pair.shown()
    assert [] == pair.hidden()


def test_a_name_that_is_taken_meanwhile_is_not_taken_back(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hidden file is named, and undo brings it back once the name is free."""
    kept, dropped = (Path(each.path or "") for each in pair.plans[0])
    is_unchanged: Callable[[PinnedFile], bool] = PinnedFile.is_unchanged

    def taken(pinned: PinnedFile) -> bool:
        kept.rename(kept.with_suffix(".moved"))
        dropped.write_text("a new file")
        return is_unchanged(pinned)

    monkeypatch.setattr(PinnedFile, "is_unchanged", taken)
    ((_, reason),) = apply_plan(pair.plans[0], "delete", pair.undo_file(0)).left
    (hidden,) = pair.hidden()
    assert f"another file has its name now; it is {pair.folder / hidden}" == reason
    assert "a new file" == dropped.read_text()
    assert [(str(dropped), reason)] == undo(pair.undo_file(0)).left

    dropped.unlink()
    assert [] == undo(pair.undo_file(0)).left
    assert "same" == dropped.read_text()
    assert not pair.undo_file(0).exists()
