"""Applies a plan. Each document is checked again right before it is changed."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path, PurePosixPath
from stat import S_IMODE

from simdoc_search.documents import Place
from simdoc_search.duplicates.arrays import slices
from simdoc_search.duplicates.plan import files
from simdoc_search.duplicates.plan.files import FileIdentity, PinnedFile
from simdoc_search.duplicates.plan.journal import Change, Journal
from simdoc_search.duplicates.plan.lock import locked_trees
from simdoc_search.duplicates.plan.moves import delete, make_folders, move, recover, replace_by_link
from simdoc_search.duplicates.plan.rows import FileState, How, LeftAloneError, PlanError, PlanRow
from simdoc_search.duplicates.plan.stored_documents import check_document, forget_files, text_hashes
from simdoc_search.duplicates.plan.validation import Drop, check_groups
from simdoc_search.durable import sync_folder
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Removal

_DOCUMENTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class ExpectedChanges:
    """What a plan would do."""

    files: int  # number of files to drop
    size: int  # bytes freed by deleting them. Hard links of one file count once
    unlike: int  # number of these files whose bytes differ from the kept file. Once deleted, they cannot be restored
    documents: int  # number of documents without files to drop. They cannot be restored either


@dataclass(slots=True)
class ApplyReport:
    """What applying a plan has done."""

    # the name of each dropped file or document, and where it was moved to, or what is kept instead
    done: list[tuple[str, str]] = field(default_factory=list)
    before: int = 0  # number of documents that an earlier run dropped
    # the name of each document that was left alone, and the reason
    left: list[tuple[str, str]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)  # group to reason, of groups without a kept document
    forgotten: int = 0  # number of documents of dropped files that were removed from the store
    # place to reason, of documents that are still in the store although their files are gone
    not_forgotten: Mapping[Place, str] = field(default_factory=dict)


def expected_changes(rows: Iterable[PlanRow]) -> ExpectedChanges:
    """Return what a plan would do, without reading any file. Files that are gone do not count."""
    drops = check_groups(rows).drops
    existing: dict[str, FileIdentity] = {}
    for drop in drops:
        if drop.row.path is not None:
            with suppress(OSError, ValueError):
                existing[drop.row.path] = FileIdentity.of(os.lstat(drop.row.path))
    unlike = sum(not _has_equal_bytes(drop) for drop in drops if drop.row.path in existing)
    documents = sum(drop.row.path is None for drop in drops)
    return ExpectedChanges(len(existing), sum(files.freed_bytes(existing).values()), unlike, documents)


def apply_plan(
    rows: Iterable[PlanRow],
    how: How,
    undo_file: Path,
    *,
    to: str | Path | None = None,
    store: Store | None = None,
    dry_run: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> ApplyReport:
    """Apply a plan. After an interruption, run it again: nothing is done twice.

    Each change is written to the undo file before it is made. To `move`, a file gets the path of its id in the folder
    `to`. Documents without files are only dropped by `delete`. Dropped documents are removed from the store. A dry run
    checks everything, and changes nothing.

    Raises:
        PlanError: the undo file cannot be read or written, or another process uses it or the folders.
        StoreError: the store cannot be read.
    """
    plan = check_groups(rows)
    report = ApplyReport(refused=plan.refused)
    of_files = [drop for drop in plan.drops if drop.row.path is not None]
    with ExitStack() as held:
        journal = held.enter_context(Journal(undo_file))
        if journal.damage:
            raise PlanError(f"{journal.damage}; undo the changes before it, or move the file away and keep it")
        run = held.enter_context(closing(_Run(how, os.path.abspath(to or ""), store, journal, dry_run, report)))  # noqa: PTH100
        if not dry_run:
            held.enter_context(locked_trees(run.folders(plan.drops)))
        for number, drop in enumerate(of_files, 1):
            run.attempt(drop, run.drop_file)
            progress(number / len(of_files))
        run.drop_documents([drop for drop in plan.drops if drop.row.path is None])
        noted = (drop.row for drop in of_files if drop.row.path in journal.changes)
        dropped = [row for row in noted if not os.path.lexists(row.path or "")]
        if store is not None and dropped and not dry_run:
            try:
                report.forgotten, report.not_forgotten = forget_files(store, dropped)
            except StoreError as error:  # the files are changed already: report them
                report.not_forgotten = dict.fromkeys((row.place for row in dropped), str(error))
    return report


def _has_equal_bytes(drop: Drop) -> bool:
    """Say whether a file has the bytes of the kept one, according to the plan."""
    state, kept = drop.row.state, drop.kept.state
    return isinstance(state, FileState) and isinstance(kept, FileState) and state.hash == kept.hash


@dataclass(slots=True)
class _Run:
    how: How
    to: str
    store: Store | None
    journal: Journal
    dry_run: bool
    report: ApplyReport
    _pinned: PinnedFile | None = None  # the kept file that was read last

    def attempt(self, drop: Drop, act: Callable[[Drop], str]) -> None:
        """Drop a document, or report why not."""
        try:
            other = act(drop)
        except LeftAloneError as error:
            self.report.left.append((drop.row.name, str(error)))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            self.report.left.append((drop.row.name, f"cannot be changed ({reason})"))
        else:
            if other:
                self.report.done.append((drop.row.name, other))
            else:
                self.report.before += 1

    def folders(self, drops: Iterable[Drop]) -> set[str]:
        """Return the folders of all files concerned."""
        paths = {row.path for drop in drops for row in (drop.row, drop.kept) if row.path is not None}
        folders = {os.path.dirname(path) for path in paths}  # noqa: PTH120 - as text
        return folders | {self.to} if self.how == "move" else folders

    def close(self) -> None:
        """Close the kept file."""
        if self._pinned is not None:
            self._pinned.close()
            self._pinned = None

    def drop_file(self, drop: Drop) -> str:
        """Drop a file.

        Returns:
            Its new path, or what is kept instead; empty if an earlier run dropped it.
        """
        row, path, state, token = drop.row, drop.row.path or "", drop.row.state, self.journal.token
        earlier = self.journal.changes.get(path)
        if earlier and earlier.state and not self.dry_run:
            recover(earlier)
        if earlier and self._was_dropped(earlier):
            return ""
        if not isinstance(state, FileState):
            raise LeftAloneError(row.no_state)
        info = files.require_state(path, state)
        identity, check_kept = FileIdentity.of(info), partial(self._check_kept, drop.kept)
        check_kept()
        if drop.kept.path is not None and files.is_same_entry(path, drop.kept.path):
            raise LeftAloneError("it is the kept file, by another name")
        if earlier and earlier.act == "move" and earlier.other != path and files.has_state(earlier.other, state):
            if not self.dry_run:  # the move was cut short while the file was in both places
                sync_folder(Path(earlier.other).parent)
                delete(path, identity, check_kept=check_kept, token=earlier.token)
            return earlier.other
        other = self._destination(drop, info)
        if other and not self.dry_run:
            self.journal.note(Change(self.how, path, other, token, state, S_IMODE(info.st_mode)))
            match self.how:
                case "hardlink":
                    replace_by_link(path, other, identity, check_kept=check_kept, token=token)
                case "move":
                    make_folders(Path(other).parent)
                    move(path, other, state, identity, check_kept=check_kept, token=token)
                case "delete":
                    delete(path, identity, check_kept=check_kept, token=token)
        return other

    def drop_documents(self, drops: list[Drop]) -> None:
        """Remove documents without files from the store."""
        if self.how == "delete" and self.store is not None:
            for part in slices(len(drops), _DOCUMENTS_AT_ONCE):
                self._remove(drops[part], self.store)
            return
        reason = "it is a document without a file; only --delete removes it, from the store given by --store"
        self.report.left += [(drop.row.name, reason) for drop in drops]

    def _remove(self, drops: list[Drop], store: Store) -> None:
        hashes = text_hashes(store, {row.place for drop in drops for row in (drop.row, drop.kept)})
        removals: dict[Place, Removal] = {}

        def plan_removal(drop: Drop) -> str:
            if drop.row.name in self.journal.changes and drop.row.place not in hashes:
                return ""
            text_hash = check_document(hashes, drop.row)
            self._check_kept(drop.kept, hashes)
            kept = None if drop.kept.path is not None else (drop.kept.place, hashes[drop.kept.place])
            removals[drop.row.place] = Removal(text_hash, kept)
            return drop.kept.name

        for drop in drops:
            self.attempt(drop, plan_removal)
        if not removals or self.dry_run:
            return
        removed = {drop.row.place: drop for drop in drops if drop.row.place in removals}
        token = self.journal.token
        self.journal.note(*(Change("remove", drop.row.name, drop.kept.name, token) for drop in removed.values()))
        try:
            problems = store.remove(removals)
        except StoreError as error:
            problems = dict.fromkeys(removals, str(error))
        left = {removed[place].row.name: reason for place, reason in problems.items()}
        self.report.done = [done for done in self.report.done if done[0] not in left]
        self.report.left += left.items()

    def _was_dropped(self, earlier: Change) -> bool:
        if earlier.act == "hardlink":
            exist = os.path.exists(earlier.path) and os.path.exists(earlier.other)  # noqa: PTH110
            return self.how == "hardlink" and exist and os.path.samefile(earlier.path, earlier.other)  # noqa: PTH121
        return not os.path.lexists(earlier.path)

    def _check_kept(self, kept: PlanRow, hashes: Mapping[Place, str] | None = None) -> None:
        """Check that the kept document exists and is unchanged. A pinned file is not read again."""
        try:
            if kept.path is None:
                check_document(text_hashes(self.store, {kept.place}) if hashes is None else hashes, kept)
                return
            if self._pinned is not None and self._pinned.path == kept.path and self._pinned.is_unchanged():
                return
            self.close()
            if not isinstance(kept.state, FileState):
                raise LeftAloneError(kept.no_state)
            self._pinned = PinnedFile(kept.path, kept.state)
        except LeftAloneError as error:
            raise LeftAloneError(f"{kept.name}, which is kept instead: {error}") from None

    def _destination(self, drop: Drop, info: os.stat_result) -> str:
        """Return where the file is moved to, or what is kept instead; empty if it is a hard link of that already."""
        if self.how == "move":
            return self._new_path(drop.row)
        if self.how == "delete":
            return drop.kept.name
        if drop.kept.path is None or not _has_equal_bytes(drop):
            raise LeftAloneError("its bytes differ from the kept file, so it cannot become a link to it")
        kept = os.lstat(drop.kept.path)
        if os.path.samestat(kept, info):
            return ""
        if kept.st_dev != info.st_dev:
            raise LeftAloneError("the kept file is on another disk, so it cannot become a link to it")
        return drop.kept.path

    def _new_path(self, row: PlanRow) -> str:
        below = PurePosixPath(row.place.id)
        target = Path(self.to, *below.parts)
        if not below.parts or ".." in below.parts or not target.is_relative_to(self.to):
            raise LeftAloneError(f"its id names a path outside {self.to}")
        for folder in target.parents[: len(below.parts) - 1]:
            if folder.is_symlink():
                raise LeftAloneError(f"{folder} is a symbolic link; files are not moved through links")
        if os.path.lexists(target):
            raise LeftAloneError(f"{target} exists already")
        return str(target)
