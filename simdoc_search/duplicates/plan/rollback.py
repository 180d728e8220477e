"""Undoes the changes of a plan, as far as possible."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.duplicates.plan.files import (
    FileIdentity,
    describe_error,
    has_state,
    is_same_entry,
    require_state,
)
from simdoc_search.duplicates.plan.journal import Change, Journal, PlanIndex
from simdoc_search.duplicates.plan.lock import lock_trees
from simdoc_search.duplicates.plan.moves import copy_to_new_path, delete, make_folders, move, recover, replace_with_copy
from simdoc_search.duplicates.plan.rows import FileState, LeftAloneError, PlanError


@dataclass(slots=True)
class UndoReport:
    """The files that were restored, and those that were not."""

    index: PlanIndex = field(default_factory=PlanIndex)  # the index that has, or had, the documents of the files
    restored: list[str] = field(default_factory=list)  # paths of the restored files
    earlier_restored: list[str] = field(default_factory=list)  # paths that an interrupted run may have restored
    unchanged_count: int = 0  # number of files that were in their original state already
    # the name of each file or document that was not restored, and the reason
    not_restored: list[tuple[str, str]] = field(default_factory=list)


def undo(undo_file: Path, progress: Callable[[float], None] = lambda _: None) -> UndoReport:
    """Undo the changes of a plan, starting with the last one. The undo file is removed when all changes are undone.

    Moved files are moved back. Then the folders that were made for them are removed if they are empty. Hard links
    become independent copies. A deleted file is restored if the kept file has the same bytes. If a run is interrupted,
    call the function again to resume it. If a line of the undo file is damaged, the changes before this line are
    undone, and the undo file is kept.

    Args:
        undo_file: path of the undo file.
        progress: called with the share of the changes that is done, 0..1.

    Raises:
        PlanError: the undo file does not exist, cannot be read, is not an undo file, or another process is using it or
            its folders.
    """
    if not os.path.lexists(undo_file):
        raise PlanError(
            f"{undo_file} does not exist, so there is nothing to undo. A complete undo removes this file, so the plan "
            "may be undone already. Otherwise, choose the file PLAN.undo next to the plan"
        )
    report = UndoReport()
    with Journal(undo_file) as journal:
        report.index = journal.index
        report.earlier_restored = sorted(filter(os.path.isfile, journal.undone_paths))
        last_first = list(journal.changes.values())[::-1]
        folders = [change for change in last_first if change.action == "folder"]
        changes = [change for change in last_first if change.action != "folder"] + folders
        paths = (path for change in changes if change.state is not None for path in (change.path, change.target))
        with lock_trees(os.path.dirname(path) for path in paths):  # noqa: PTH120 - paths are strings
            for number, change in enumerate(changes, 1):
                _attempt(change, journal, report)
                progress(number / len(changes))
            if journal.damage:
                reason = f"{journal.damage}; the changes in that line and the lines after it are not undone"
                report.not_restored.append((str(undo_file), reason))
            elif not journal.changes:
                journal.remove()
    return report


def _attempt(change: Change, journal: Journal, report: UndoReport) -> None:
    if change.action == "folder":
        with suppress(OSError):  # other files are in the folder
            os.rmdir(change.path)  # noqa: PTH106 - paths are strings
        if not (journal.damage or report.not_restored):  # else, another run removes the folder
            journal.append_undone(change)
        return
    try:
        is_restored = _undo(change)
    except LeftAloneError as error:
        report.not_restored.append((change.path, str(error)))
    except (OSError, ValueError) as error:
        report.not_restored.append((change.path, f"cannot be restored ({describe_error(error, change.path)})"))
    else:
        if not journal.damage:
            journal.append_undone(change)
        report.unchanged_count += not is_restored
        report.restored += [change.path] * is_restored


def _undo(change: Change) -> bool:
    """Undo one change. Returns False if the file was in its original state already."""
    state, path, target, run_id = change.state, change.path, change.target, change.run_id
    if state is None:
        raise LeftAloneError("a document that was deleted from the index cannot be restored; index the document again")
    recover(change)
    exists = os.path.lexists(path)
    if change.action == "hardlink":
        identity = FileIdentity.from_stat(require_state(path, state))
        is_link = os.path.exists(target) and os.path.samefile(path, target)  # noqa: PTH110, PTH121
        if is_link:
            replace_with_copy(path, state, identity, run_id, change.mode)
        return is_link
    if exists and not has_state(path, state):
        raise LeftAloneError("another file is now at this path")
    if change.action == "delete":
        if not exists:
            _restore_deleted(change, state)
        return not exists
    if exists:
        return _finish_interrupted_move(change, state)
    try:
        identity = FileIdentity.from_stat(require_state(target, state))
    except LeftAloneError as error:
        raise LeftAloneError(f"the moved file {target} cannot be moved back: {error}") from None
    make_folders(Path(path).parent)
    move(target, path, state, identity, check_kept=lambda: None, run_id=run_id)
    return True


def _finish_interrupted_move(change: Change, state: FileState) -> bool:
    """Finish a move, or the undoing of a move, that was interrupted while the file was in both places."""
    if not has_state(change.target, state) or is_same_entry(change.path, change.target):
        return False
    identity = FileIdentity.from_stat(require_state(change.target, state))
    delete(change.target, identity, check_kept=lambda: require_state(change.path, state), run_id=change.run_id)
    return True


def _restore_deleted(change: Change, state: FileState) -> None:
    if not has_state(change.target, state):
        raise LeftAloneError(
            f"the deleted file cannot be restored from {change.target}, which is missing or has other bytes"
        )
    make_folders(Path(change.path).parent)
    copy_to_new_path(change.target, change.path, state, change.run_id, change.mode)
