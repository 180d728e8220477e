"""Applies a plan. Each document is checked again just before it is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath
from stat import S_IMODE

from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.arrays import slices
from simdoc_search.duplicates.plan import files
from simdoc_search.duplicates.plan.files import FileIdentity, OpenKeptFile
from simdoc_search.duplicates.plan.journal import Change, Journal
from simdoc_search.duplicates.plan.lock import lock_trees
from simdoc_search.duplicates.plan.moves import delete, make_folders, move, recover, replace_with_link
from simdoc_search.duplicates.plan.rows import (
    ApplyReport,
    DropMethod,
    FileState,
    LeftAlone,
    LeftAloneError,
    PlanError,
    PlanRow,
)
from simdoc_search.duplicates.plan.stored_documents import (
    find_plan_index,
    read_content_hashes,
    remove_documents_of_files,
    require_content_hash,
)
from simdoc_search.duplicates.plan.validation import Drop, check_groups
from simdoc_search.durable import DISK_FULL_ADVICE, is_disk_full, sync_folder
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import CHANGE_REASONS, RemovalCondition

_DOCUMENTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ExpectedChanges:
    """The changes that a plan would make."""

    file_count: int  # number of files to drop
    freed_bytes: int  # bytes freed by deleting these files. Hard links to one file are counted once
    # number of these files whose bytes differ from those of the kept file. They cannot be restored after deletion
    differing_file_count: int
    # number of documents to drop that have no file. They cannot be restored after deletion
    fileless_document_count: int


def expected_changes(rows: Iterable[PlanRow]) -> ExpectedChanges:
    """Return the changes that a plan would make, without reading any file. Files that no longer exist do not count."""
    drops = check_groups(rows).drops
    existing: dict[str, FileIdentity] = {}
    for drop in drops:
        if drop.row.path is not None:
            with suppress(OSError, ValueError):
                existing[drop.row.path] = FileIdentity.from_stat(os.lstat(drop.row.path))
    differing = sum(not drop.has_equal_bytes for drop in drops if drop.row.path in existing)
    documents = sum(drop.row.path is None for drop in drops)
    return ExpectedChanges(len(existing), sum(files.count_freed_bytes(existing).values()), differing, documents)


def apply_plan(
    rows: Iterable[PlanRow],
    method: DropMethod,
    undo_file: Path,
    *,
    move_to: str | Path | None = None,
    store: Store | None = None,
    dry_run: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> ApplyReport:
    """Apply a plan. If a run is interrupted, call the function again to resume it.

    Each change is written to the undo file before it is made. Dropped documents are removed from the store.

    Args:
        rows: the rows of the plan.
        method: how to drop files. `delete` also removes dropped documents without files.
        undo_file: path of the undo file. It also names the store, if the store has the folders of the dropped files.
        move_to: for `move`, the folder to move files to. The id of a document becomes its path in this folder.
        store: the store of the documents; None to leave the store unchanged.
        dry_run: check everything, but change nothing.
        progress: called with the share of the files that is done, 0..1.

    Raises:
        PlanError: the undo file cannot be read or written, or another process is using it or the folders, or the disk
            is full.
        StoreError: the store cannot be read.
    """
    plan = check_groups(rows)
    report = ApplyReport(refused_groups=plan.refused_groups)
    file_drops = [drop for drop in plan.drops if drop.row.path is not None]
    with ExitStack() as stack:
        journal = stack.enter_context(Journal(undo_file))
        if journal.damage:
            raise PlanError(
                f"{journal.damage}; undo the changes before that line with the option --undo, or move the undo file to "
                "another folder and keep it there"
            )
        target = os.path.abspath(move_to or "")  # noqa: PTH100 - paths are strings
        run = stack.enter_context(closing(_PlanRun(method, target, store, journal, dry_run, report)))
        if not dry_run:
            stack.enter_context(lock_trees(run.folders(plan.drops)))
            journal.record_index(find_plan_index(store, (drop.row.path or "" for drop in file_drops)))
        for number, drop in enumerate(file_drops, 1):
            run.drop_or_report(drop, run.drop_file)
            progress(number / len(file_drops))
        run.drop_documents([drop for drop in plan.drops if drop.row.path is None])
        recorded = (drop.row for drop in file_drops if drop.row.path in journal.changes)
        dropped = [row for row in recorded if not os.path.lexists(row.path or "")]
        if store is not None and dropped and not dry_run:
            try:
                report.removed_count, report.not_removed = remove_documents_of_files(store, dropped)
            except StoreError as error:  # the files are changed already, so the report must list them
                report.not_removed = dict.fromkeys((row.key for row in dropped), str(error))
    return report


@dataclass(slots=True)
class _PlanRun:
    method: DropMethod
    move_to: str
    store: Store | None
    journal: Journal
    dry_run: bool
    report: ApplyReport
    _kept_file: OpenKeptFile | None = None  # the last kept file that was read

    def drop_or_report(self, drop: Drop, drop_document: Callable[[Drop], str]) -> None:
        """Drop a document, or report why it is left alone."""
        try:
            target = drop_document(drop)
        except LeftAloneError as error:
            self.report.left_alone.append(LeftAlone(drop.row.name, str(error), error.needs_new_plan))
        except (OSError, ValueError) as error:
            reason = files.describe_error(error, drop.row.name)
            if isinstance(error, OSError) and is_disk_full(error):
                folder = self.move_to if self.method == "move" else os.path.dirname(drop.row.path or "")  # noqa: PTH120
                raise PlanError(
                    f"no more changes are made, because {folder} cannot be written ({reason}); {DISK_FULL_ADVICE}"
                ) from None
            self.report.left_alone.append(LeftAlone(drop.row.name, f"cannot be changed ({reason})"))
        else:
            if target:
                self.report.dropped.append((drop.row.name, target))
                self.report.dropped_fileless_count += drop.row.path is None
                if self.method == "delete" and not drop.has_equal_bytes:
                    self.report.irrecoverable.add(drop.row.name)
            else:
                self.report.earlier_dropped_count += 1

    def folders(self, drops: Iterable[Drop]) -> set[str]:
        """Return the folders of all files to drop or keep, and the folder to move files to."""
        paths = {row.path for drop in drops for row in (drop.row, drop.kept_row) if row.path is not None}
        folders = {os.path.dirname(path) for path in paths}  # noqa: PTH120 - paths are strings
        return folders | {self.move_to} if self.method == "move" else folders

    def close(self) -> None:
        """Close the kept file that was read last."""
        if self._kept_file is not None:
            self._kept_file.close()
            self._kept_file = None

    def drop_file(self, drop: Drop) -> str:
        """Drop a file. Return the same as `_choose_target`, or an empty string if an earlier run dropped the file."""
        row, path, state, run_id = drop.row, drop.row.path or "", drop.row.state, self.journal.run_id
        earlier = self.journal.changes.get(path)
        if earlier and earlier.state and not self.dry_run:
            recover(earlier)
        if earlier and self._was_dropped(earlier):
            return ""
        if not isinstance(state, FileState):
            raise row.missing_state_error()
        info = files.require_state(path, state)
        identity, check_kept = FileIdentity.from_stat(info), partial(self._check_kept_document, drop.kept_row)
        check_kept()
        if drop.kept_row.path is not None and files.is_same_entry(path, drop.kept_row.path):
            raise LeftAloneError("this path and the path of the kept file lead to the same file")
        if earlier and earlier.action == "move" and earlier.target != path and files.has_state(earlier.target, state):
            if not self.dry_run:  # an earlier run was interrupted before it removed the file from the old path
                sync_folder(Path(earlier.target).parent)
                delete(path, identity, check_kept=check_kept, run_id=earlier.run_id)
            return earlier.target
        target = self._choose_target(drop, info)
        if target and not self.dry_run:
            self.journal.append(Change(self.method, path, target, run_id, state, S_IMODE(info.st_mode)))
            match self.method:
                case "hardlink":
                    replace_with_link(path, target, identity, check_kept=check_kept, run_id=run_id)
                case "move":
                    make_folders(Path(target).parent, self.journal.append_folders)
                    move(path, target, state, identity, check_kept=check_kept, run_id=run_id)
                case "delete":
                    delete(path, identity, check_kept=check_kept, run_id=run_id)
        return target

    def drop_documents(self, drops: list[Drop]) -> None:
        """Remove documents without files from the store."""
        if self.method == "delete" and self.store is not None:
            for part in slices(len(drops), _DOCUMENTS_AT_ONCE):
                self._remove(drops[part], self.store)
            return
        self.report.left_alone += [LeftAlone.without_file(drop.row.name) for drop in drops]

    def _remove(self, drops: list[Drop], store: Store) -> None:
        hashes = read_content_hashes(store, {row.key for drop in drops for row in (drop.row, drop.kept_row)})
        removals: dict[DocumentKey, RemovalCondition] = {}

        def add_removal(drop: Drop) -> str:
            if drop.row.name in self.journal.changes and drop.row.key not in hashes:
                return ""
            content_hash = require_content_hash(hashes, drop.row)
            self._check_kept_document(drop.kept_row, hashes)
            kept = None if drop.kept_row.path is not None else (drop.kept_row.key, hashes[drop.kept_row.key])
            removals[drop.row.key] = RemovalCondition(content_hash, kept_key_and_hash=kept)
            return drop.kept_row.name

        for drop in drops:
            self.drop_or_report(drop, add_removal)
        if not removals or self.dry_run:
            return
        removed = {drop.row.key: drop for drop in drops if drop.row.key in removals}
        run_id = self.journal.run_id
        self.journal.append(*(Change("remove", drop.row.name, drop.kept_row.name, run_id) for drop in removed.values()))
        try:
            problems = store.remove(removals)
        except StoreError as error:
            problems = dict.fromkeys(removals, str(error))
        not_removed = {removed[key].row.name: reason for key, reason in problems.items()}
        self.report.dropped = [dropped for dropped in self.report.dropped if dropped[0] not in not_removed]
        self.report.irrecoverable -= not_removed.keys()
        self.report.dropped_fileless_count -= len(not_removed)
        self.report.left_alone += [
            LeftAlone(name, reason, reason in CHANGE_REASONS) for name, reason in not_removed.items()
        ]

    def _was_dropped(self, earlier_change: Change) -> bool:
        if earlier_change.action == "hardlink":
            both_exist = os.path.exists(earlier_change.path) and os.path.exists(earlier_change.target)  # noqa: PTH110
            is_link = both_exist and os.path.samefile(earlier_change.path, earlier_change.target)  # noqa: PTH121
            return self.method == "hardlink" and is_link
        return not os.path.lexists(earlier_change.path)

    def _check_kept_document(self, kept_row: PlanRow, hashes: Mapping[DocumentKey, str] | None = None) -> None:
        """Check that the kept document exists and is unchanged. The file that was checked last is not read again."""
        try:
            if kept_row.path is None:
                require_content_hash(
                    read_content_hashes(self.store, {kept_row.key}) if hashes is None else hashes, kept_row
                )
                return
            kept_file = self._kept_file
            if kept_file is not None and kept_file.path == kept_row.path and kept_file.is_unchanged():
                return
            self.close()
            if not isinstance(kept_row.state, FileState):
                raise kept_row.missing_state_error()
            self._kept_file = OpenKeptFile(kept_row.path, kept_row.state)
        except LeftAloneError as error:
            message = f"{kept_row.name} should be kept instead, but {error}"
            raise LeftAloneError(message, needs_new_plan=error.needs_new_plan) from None

    def _choose_target(self, drop: Drop, info: os.stat_result) -> str:
        """Return what replaces the file: its new path, the name of the kept document, or the path to link to.

        The result is empty if the file is already linked to the kept file.
        """
        if self.method == "move":
            return self._new_path(drop.row)
        if self.method == "delete":
            return drop.kept_row.name
        if drop.kept_row.path is None or not drop.has_equal_bytes:
            raise LeftAloneError("a hard link cannot replace the file, because the kept file has other bytes")
        kept = os.lstat(drop.kept_row.path)
        if os.path.samestat(kept, info):
            return ""
        if kept.st_dev != info.st_dev:
            raise LeftAloneError("a hard link cannot replace the file, because the kept file is on another disk")
        return drop.kept_row.path

    def _new_path(self, row: PlanRow) -> str:
        relative = PurePosixPath(row.key.id)
        target = Path(self.move_to, *relative.parts)
        if not relative.parts or ".." in relative.parts or not target.is_relative_to(self.move_to):
            raise LeftAloneError(f"the id leads to a path outside {self.move_to}")
        for folder in target.parents[: len(relative.parts) - 1]:
            if folder.is_symlink():
                raise LeftAloneError(f"{folder} is a symbolic link; files are not moved through links")
        if os.path.lexists(target):
            raise LeftAloneError(f"{target} already exists")
        return str(target)
