"""Moves the duplicates of the plan into a folder, and moves them back. Only `serve --allow-apply` offers this."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from starlette.exceptions import HTTPException

from simdoc_search.display import quote_command
from simdoc_search.duplicates.plan import (
    ApplyReport,
    PlanIndex,
    UndoReport,
    apply_plan,
    find_plan_index,
    read_index,
    undo,
    undo_path,
)
from simdoc_search.duplicates.plan.table import write_table
from simdoc_search.errors import QuerySyntaxError, SimdocError, StoreNotFoundError
from simdoc_search.indexing.restored_files import RestoredFiles, arguments_to_index, index_restored_files
from simdoc_search.stores import open_store
from simdoc_search.stores.base import Store
from simdoc_search.stores.location import is_same_location
from simdoc_search.web.background_job import Progress
from simdoc_search.web.duplicates import require_review
from simdoc_search.web.local_access import LocalAccess
from simdoc_search.web.request import PageRequest
from simdoc_search.web.response import Page, Redirect
from simdoc_search.web.review import DuplicatesReview

_PLAN_NAME, _FILES_FOLDER_NAME = "plan.tsv", "files"
_RUN_NAME = re.compile(r"\d{4}-\d\d-\d\d_\d{6}")
_MAX_LISTED_FILES, _MAX_RUNS = 200, 20


@dataclass(frozen=True, slots=True)
class FileChanges:
    """The files that the server moved."""

    folder: Path  # of this run: it contains the plan, the undo file and the moved files
    move_report: ApplyReport | None = None  # if files were moved into the folder
    undo_report: UndoReport | None = None  # if files were moved back
    index: PlanIndex = field(default_factory=PlanIndex)  # of the files that were moved back
    not_indexed: Sequence[str] = ()  # the files that were moved back, but not indexed again
    problem: str = ""  # why no file could be indexed again


@dataclass(frozen=True, slots=True)
class UndoableRun:
    """A run whose files can be moved back."""

    id: str
    file_count: int  # number of files that were moved and are not back at their original path
    other_index: str  # the location of the index that had the files; empty for the index of this server


def show_changes(request: PageRequest) -> Page:
    """Return the page with the progress, the files that were moved, and the runs that can be undone."""
    local, folder = _require_moving_allowed(request)
    job = request.served_store.file_changes
    values: dict[str, Any] = {
        "changes": None,
        "problem": job.problem,
        "stage": "",
        "share": 0.0,
        "max_listed": _MAX_LISTED_FILES,
    }
    if page := job.make_running_page(request, "apply.html", values):
        return page
    changes = None if job.problem else job.result
    runs = _list_runs(local, folder)
    as_json = {
        "state": "done" if changes else "none",
        "problem": job.problem or None,
        "undoable_runs": [run.id for run in runs if not run.other_index],
        "undoable_runs_of_other_indices": {run.id: run.other_index for run in runs if run.other_index},
    }
    index_command = other_index = ""
    if changes and changes.undo_report:
        index = changes.index
        other_index = _find_other_index(local, index)
        arguments = arguments_to_index(changes.not_indexed, index.folders)
        index_command = quote_command("duplicates", *arguments, "--store", index.location or "INDEX")
    values |= {"changes": changes, "runs": runs, "folder": folder}
    values |= {"index_command": index_command, "other_index": other_index}
    return Page("apply.html", values, as_json)


def move_files(request: PageRequest) -> Redirect:
    """Start moving the duplicates of the plan into a new folder."""
    local, folder = _require_moving_allowed(request, is_change=True)
    review, served_store = require_review(request), request.served_store
    store = served_store.search().store

    def move(progress: Progress) -> FileChanges:
        changes = _move_files(review, store, _choose_parent(store, folder), local, progress)
        served_store.invalidate_info()
        if served_store.duplicates.result is review:
            served_store.duplicates.result = None  # this result still contains the moved documents
        return changes

    return served_store.file_changes.start(move)


def undo_changes(request: PageRequest) -> Redirect:
    """Start moving the files of a run back."""
    local, folder = _require_moving_allowed(request, is_change=True)
    run, served_store = request.value("run"), request.served_store
    store = served_store.search().store
    if not any(run == listed.id for listed in _list_runs(local, folder)):
        raise QuerySyntaxError(f"there are no changes to undo with the id {run[:40]!r}; reload the page")
    run_folder = _find_run(folder, run)

    def move_back(progress: Progress) -> FileChanges:
        restored = undo(run_folder / undo_path(_PLAN_NAME), lambda share: progress("undoing", share))
        _remove_finished_run(run_folder)
        progress("indexing", 0.0)
        paths = restored.restored + restored.earlier_restored
        index = restored.index
        if _find_other_index(local, index):
            indexed = _index_in_other_index(index, paths, local)
        else:
            index = index if index.location else find_plan_index(store, paths)
            indexed = index_restored_files(store, paths, index.folders, local.exclude)
            served_store.invalidate_info()
        return FileChanges(
            run_folder,
            undo_report=restored,
            index=index,
            not_indexed=indexed.not_indexed_paths,
            problem=indexed.problem,
        )

    return served_store.file_changes.start(move_back)


def _index_in_other_index(index: PlanIndex, paths: Sequence[str], local: LocalAccess) -> RestoredFiles:
    """Index files again in the index that had them, which is not the index of this server."""
    location = index.location
    if "://" in location:  # another user may have written the URL, to get passwords or texts
        return RestoredFiles(0, list(paths), f"they belong to the index {location}, which this server does not use")
    try:
        with open_store(location) as store:
            return index_restored_files(store, paths, index.folders, local.exclude)
    except StoreNotFoundError:
        return RestoredFiles(0, list(paths), f"{location} is not an index")
    except SimdocError as error:
        return RestoredFiles(0, list(paths), str(error))


def _find_other_index(local: LocalAccess, index: PlanIndex) -> str:
    """Return the location of an index, or an empty string if it is the index of this server or not known."""
    is_own = not index.location or is_same_location(index.location, local.store_location)
    return "" if is_own else index.location


def _require_moving_allowed(request: PageRequest, *, is_change: bool = False) -> tuple[LocalAccess, Path]:
    """Return the local features and the folder for moved files."""
    local = request.local
    if local is None or local.removed_files_folder is None:
        raise HTTPException(
            403, "this server does not move files; to allow moving files, restart it with the option --allow-apply"
        )
    if is_change and not local.has_form_token(request.value("form_token")):
        raise HTTPException(403, "the form is from an earlier run of the server; reload the page, then try again")
    return local, local.removed_files_folder


def _move_files(
    review: DuplicatesReview, store: Store, parent: Path, local: LocalAccess, progress: Progress
) -> FileChanges:
    rows = list(review.plan_rows(store, lambda share: progress("hashing", share)))
    folder = parent / f"{datetime.now(timezone.utc).astimezone():%Y-%m-%d_%H%M%S}"
    plan = folder / _PLAN_NAME
    folder.mkdir(parents=True)
    command = local.command("apply", str(plan), "--move-to", str(folder / _FILES_FOLDER_NAME))
    write_table(plan, rows, command, review.duplicates.drop_scope)
    moved = apply_plan(
        rows, "move", Path(undo_path(plan)), move_to=folder / _FILES_FOLDER_NAME, store=store,
        progress=lambda share: progress("applying", share),
    )  # fmt: skip
    moved.left_alone += review.find_left_alone(rows)
    return FileChanges(folder, move_report=moved)


def _visible_and_hidden_folders(folder: Path) -> tuple[Path, Path]:
    """Return the folder for moved files, and the hidden folder that may be used instead."""
    return folder, folder.with_name(f".{folder.name}")


def _choose_parent(store: Store, folder: Path) -> Path:
    """Return the folder for moved files. In an indexed folder, use the hidden one, so that `index` skips it."""
    visible, hidden = _visible_and_hidden_folders(folder)
    return hidden if any(store.count(str(parent)) for parent in folder.parents) else visible


def _find_run(folder: Path, run: str) -> Path:
    """Return the folder of a run."""
    visible, hidden = (parent / run for parent in _visible_and_hidden_folders(folder))
    return visible if (visible / undo_path(_PLAN_NAME)).exists() else hidden


def _remove_finished_run(run_folder: Path) -> None:
    """Remove the folder of a run if only the plan is left in it. Then all its changes are undone."""
    with suppress(OSError):  # then the folder remains, which is harmless
        plan = run_folder / _PLAN_NAME
        if [plan] == list(run_folder.iterdir()):
            plan.unlink()
            run_folder.rmdir()
            run_folder.parent.rmdir()  # if it is the last run


def _count_files(run_folder: Path) -> int:
    """Return the number of files that a run moved and that are not back at their original path."""
    return sum(len(names) for _, _, names in os.walk(run_folder / _FILES_FOLDER_NAME))


def _list_runs(local: LocalAccess, folder: Path) -> list[UndoableRun]:
    """Return the runs that can be undone, the latest first. Those of other indices are at the end."""
    names = {
        undo_file.parent.name
        for parent in _visible_and_hidden_folders(folder)
        for undo_file in parent.glob(f"*/{undo_path(_PLAN_NAME)}")
        if _RUN_NAME.fullmatch(undo_file.parent.name)
    }
    own: list[UndoableRun] = []
    others: list[UndoableRun] = []
    for name in sorted(names, reverse=True):
        run_folder = _find_run(folder, name)
        other_index = _find_other_index(local, read_index(run_folder / undo_path(_PLAN_NAME)))
        listed = others if other_index else own
        if len(listed) < _MAX_RUNS:
            listed.append(UndoableRun(name, _count_files(run_folder), other_index))
    return own + others
