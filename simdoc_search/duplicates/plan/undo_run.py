"""What was done by a plan, undone as far as that is possible."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.duplicates.plan.files import as_it_was, is_as_it_was, one_file, seen
from simdoc_search.duplicates.plan.journal import Act, Journal
from simdoc_search.duplicates.plan.lock import locked_trees
from simdoc_search.duplicates.plan.moves import copy_new, delete, make_folders, move, recover, replace_by_copy
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError, PlanError


@dataclass(slots=True)
class Undone:
    """What was undone.

    Attributes:
        restored: the files that are again as they were.
        before: how many were so already.
        left: what is not as it was, each with the reason.
    """

    restored: list[str] = field(default_factory=list)
    before: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)


def undo(undo_file: Path, progress: Callable[[float], None] = lambda _: None) -> Undone:
    """Undo what was done by a plan, the last act first; the undo file is removed once all is as it was.

    Moved files come back, and a link becomes a file of its own. A deleted file comes back if the kept one has the same
    bytes. If a run is interrupted, the next one resumes. If the undo file is damaged, all acts before the damaged
    line are undone and the file is kept.

    Raises:
        PlanError: the undo file does not exist, cannot be read, is not an undo file, or another process is using it or
            its folders.
    """
    if not os.path.lexists(undo_file):
        raise PlanError(f"{undo_file} does not exist, so there is nothing to undo; apply writes it beside the plan")
    report = Undone()
    with Journal(undo_file) as journal:
        acts = list(journal.acts.values())
        paths = (path for act in acts if act.state is not None for path in (act.path, act.other))
        with locked_trees(os.path.dirname(each) for each in paths):  # noqa: PTH120 - as text
            for number, act in enumerate(reversed(acts), 1):
                _attempt(act, journal, report)
                progress(number / len(acts))
            if journal.damage:
                report.left.append((str(undo_file), f"{journal.damage}; what it says there is not undone"))
            elif not journal.acts:
                journal.remove()
    return report


def _attempt(act: Act, journal: Journal, report: Undone) -> None:
    """Undo an act, or say why not."""
    try:
        changed = _undo(act)
    except LeftAloneError as error:
        report.left.append((act.path, str(error)))
    except (OSError, ValueError) as error:
        report.left.append((act.path, f"cannot be restored ({getattr(error, 'strerror', None) or error})"))
    else:
        if not journal.damage:
            journal.note_undone(act)
        report.before += not changed
        report.restored += [act.path] * changed


def _undo(act: Act) -> bool:
    """Undo one act; whether anything was to be done."""
    state = act.state
    if state is None:
        raise LeftAloneError("a document that was deleted from its store cannot be restored")
    recover(act)
    is_there = os.path.lexists(act.path)
    if act.how == "hardlink":
        return _separate(act, state)
    if is_there and not is_as_it_was(act.path, state):
        raise LeftAloneError("another file is there now")
    if act.how == "delete":
        if not is_there:
            _restore(act, state)
        return not is_there
    if is_there:
        return _remove_second(act, state)
    try:
        known = as_it_was(act.other, state)
    except LeftAloneError as error:
        raise LeftAloneError(f"it was moved to {act.other}, and of that: {error}") from None
    make_folders(Path(act.path).parent)
    move(act.other, act.path, state, seen(known), check=lambda: None, token=act.token)
    return True


def _remove_second(act: Act, state: FileState) -> bool:
    """A move, there or back, was cut short while the file was in both places."""
    if not is_as_it_was(act.other, state) or one_file(act.path, act.other):
        return False
    known = seen(as_it_was(act.other, state))
    delete(act.other, known, check=lambda: as_it_was(act.path, state), token=act.token)
    return True


def _restore(act: Act, state: FileState) -> None:
    if not is_as_it_was(act.other, state):
        raise LeftAloneError(f"it was deleted, and {act.other}, which was kept for it, has other bytes")
    make_folders(Path(act.path).parent)
    copy_new(act.other, act.path, state, act.token, act.mode)


def _separate(act: Act, state: FileState) -> bool:
    known = seen(as_it_was(act.path, state))
    if not os.path.exists(act.other) or not os.path.samefile(act.path, act.other):  # noqa: PTH110, PTH121
        return False
    replace_by_copy(act.path, state, known, act.token, act.mode)
    return True
