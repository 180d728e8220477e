"""What was done by a plan, undone as far as that is possible."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.duplicates.plan.acts import copy_new, delete, discard_scratch, move, replace_by_copy
from simdoc_search.duplicates.plan.files import as_it_was, is_as_it_was, one_file, seen
from simdoc_search.duplicates.plan.journal import Act, Journal
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError, PlanError

__all__ = ["Undone", "undo"]


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

    Moved files come back; a link becomes a file of its own; of what was deleted comes back what has the same bytes as
    the one that stayed. A run that was killed is gone on with by another one.

    Raises:
        PlanError: the undo file is not there, cannot be read, or is none.
    """
    if not undo_file.exists():
        raise PlanError(f"{undo_file} is not there, so there is nothing to undo; apply writes it beside the plan")
    journal, report = Journal(undo_file), Undone()
    acts = list(journal.acts.values())
    for number, act in enumerate(reversed(acts), 1):
        try:
            changed = _undo(act)
        except LeftAloneError as error:
            report.left.append((act.path, str(error)))
        except (OSError, ValueError) as error:
            report.left.append((act.path, f"that is not possible ({getattr(error, 'strerror', None) or error})"))
        else:
            journal.note_undone(act)
            report.before += not changed
            report.restored += [act.path] * changed
        progress(number / len(acts))
    if not journal.acts:
        undo_file.unlink()
    return report


def _undo(act: Act) -> bool:
    """Undo one act; whether anything was to be done."""
    state = act.state
    if state is None:
        raise LeftAloneError("a document that was deleted from its store cannot be restored")
    discard_scratch(act.path)
    is_there = os.path.lexists(act.path)
    if act.how == "hardlink":
        return _separate(act, state)
    if is_there and not is_as_it_was(act.path, state):
        raise LeftAloneError("another file is there now")
    if act.how == "delete":
        if not is_there:
            _restore(act, state)
        return not is_there
    discard_scratch(act.other)
    if is_there:
        return _remove_second(act, state)
    try:
        known = as_it_was(act.other, state)
    except LeftAloneError as error:
        raise LeftAloneError(f"it was moved to {act.other}, and of that: {error}") from None
    move(act.other, act.path, state, seen(known))
    return True


def _remove_second(act: Act, state: FileState) -> bool:
    """A move, there or back, was cut short while the file was in both places."""
    if not is_as_it_was(act.other, state) or one_file(act.path, act.other):
        return False
    delete(act.other, seen(as_it_was(act.other, state)))
    return True


def _restore(act: Act, state: FileState) -> None:
    if not is_as_it_was(act.other, state):
        raise LeftAloneError(f"it was deleted, and {act.other}, which stayed for it, has other bytes")
    copy_new(act.other, act.path, state, act.mode)


def _separate(act: Act, state: FileState) -> bool:
    as_it_was(act.path, state)
    if not os.path.exists(act.other) or not os.path.samefile(act.path, act.other):  # noqa: PTH110, PTH121
        return False
    replace_by_copy(act.path, state, act.mode)
    return True
