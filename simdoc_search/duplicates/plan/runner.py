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
from simdoc_search.duplicates.plan.documents import check_document, forget_files, text_hashes
from simdoc_search.duplicates.plan.files import FileNow, Pinned, as_it_was, freed, is_as_it_was, one_file, seen
from simdoc_search.duplicates.plan.journal import Act, Journal
from simdoc_search.duplicates.plan.lock import locked_trees
from simdoc_search.duplicates.plan.moves import delete, finish_move, make_folders, move, recover, replace_by_link
from simdoc_search.duplicates.plan.rows import FileState, How, LeftAloneError, PlanError, PlanRow
from simdoc_search.duplicates.plan.validation import Drop, check_groups
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.removal import Removal

_DOCUMENTS_AT_ONCE = 500


@dataclass(frozen=True, slots=True)
class Expected:
    """What a plan would do, without reading any file.

    Attributes:
        files: number of files to drop.
        size: bytes freed by deleting them. Hard links of one file count once.
        unlike: number of these files whose bytes differ from the kept file. Once deleted, they cannot be restored.
        documents: number of documents without files to drop. They cannot be restored either.
    """

    files: int
    size: int
    unlike: int
    documents: int


@dataclass(slots=True)
class Applied:
    """What applying a plan has done.

    Attributes:
        done: the name of each dropped file or document, and where it was moved to, or what is kept instead.
        before: how many were dropped by an earlier run.
        left: the name of each document that was left alone, and the reason.
        refused: group to reason, of groups without a kept document.
        forgotten: how many documents of dropped files were removed from the store.
        not_forgotten: place to reason, of documents that are still in the store though their files are gone.
    """

    done: list[tuple[str, str]] = field(default_factory=list)
    before: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    forgotten: int = 0
    not_forgotten: Mapping[Place, str] = field(default_factory=dict)


def expected(rows: Iterable[PlanRow]) -> Expected:
    """What a plan would do. Files that are gone do not count."""
    drops = check_groups(rows).drops
    there: dict[str, FileNow] = {}
    for each in drops:
        if each.row.path is not None:
            with suppress(OSError, ValueError):
                there[each.row.path] = FileNow.of(os.lstat(each.row.path))
    unlike = sum(not _is_copy(each) for each in drops if each.row.path in there)
    return Expected(len(there), sum(freed(there).values()), unlike, sum(each.row.path is None for each in drops))


def apply_plan(
    rows: Iterable[PlanRow],
    how: How,
    undo_file: Path,
    *,
    to: str | Path | None = None,
    store: Store | None = None,
    dry_run: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Applied:
    """Apply a plan. After an interruption, run it again: nothing is done twice.

    Args:
        rows: of the plan.
        how: `move`, `delete` or `hardlink`. Documents without files are only dropped by `delete`.
        undo_file: each change is recorded there before it is made. Records of earlier runs are kept.
        to: for `move`, the folder below which a file gets the path of its id.
        store: dropped documents are removed from it; None: there is none.
        dry_run: check everything, change nothing.
        progress: called with the share that is done, 0..1.

    Raises:
        PlanError: the undo file cannot be read or written, or another process uses it or the folders.
        StoreError: the store cannot be read.
    """
    found, report = check_groups(rows), Applied()
    report.refused = found.refused
    files = [each for each in found.drops if each.row.path is not None]
    with ExitStack() as held:
        journal = held.enter_context(Journal(undo_file, read_only=dry_run))
        if journal.damage:
            raise PlanError(f"{journal.damage}; undo what stands before it, or move it away and keep it")
        run = held.enter_context(closing(_PlanRun(how, os.path.abspath(to or ""), store, journal, dry_run, report)))  # noqa: PTH100
        if not dry_run:
            held.enter_context(locked_trees(run.folders(found.drops)))
        for number, drop in enumerate(files, 1):
            run.attempt(drop, run.file)
            progress(number / len(files))
        run.documents([each for each in found.drops if each.row.path is None])
        gone = [each.row for each in files if _is_gone(each.row) and (each.row.path or "") in journal.acts]
        if store is not None and gone and not dry_run:
            try:
                report.forgotten, report.not_forgotten = forget_files(store, gone)
            except StoreError as error:  # the files are changed already: report them
                report.not_forgotten = dict.fromkeys((each.place for each in gone), str(error))
    return report


def _is_copy(drop: Drop) -> bool:
    """Whether a file has the bytes of the kept one, according to the plan."""
    mine, other = drop.row.state, drop.kept.state
    return isinstance(mine, FileState) and isinstance(other, FileState) and mine.hash == other.hash


def _is_gone(row: PlanRow) -> bool:
    return row.path is not None and not os.path.lexists(row.path)


@dataclass(slots=True)
class _PlanRun:
    """One run of a plan. `report` has what was done so far."""

    how: How
    to: str
    store: Store | None
    journal: Journal
    dry_run: bool
    report: Applied
    _kept: Pinned | None = None  # the last one that was read

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
        """The folders of all files concerned."""
        paths = {row.path for drop in drops for row in (drop.row, drop.kept) if row.path is not None}
        found = {os.path.dirname(each) for each in paths}  # noqa: PTH120 - as text
        return found | {self.to} if self.how == "move" else found

    def close(self) -> None:
        """Close the kept file."""
        if self._kept is not None:
            self._kept.close()
            self._kept = None

    def file(self, drop: Drop) -> str:
        """Drop a file.

        Returns:
            Its new path, or what is kept instead; empty if an earlier run dropped it.
        """
        row, path, state = drop.row, drop.row.path or "", drop.row.state
        earlier = self.journal.acts.get(path)
        if earlier and earlier.state and not self.dry_run:
            recover(earlier)
        if self._was_dropped(path, earlier):
            return ""
        if not isinstance(state, FileState):
            raise LeftAloneError(row.unknown)
        info = as_it_was(path, state)
        known, check = seen(info), partial(self._check_kept, drop.kept)
        check()
        if drop.kept.path is not None and one_file(path, drop.kept.path):
            raise LeftAloneError("it is the kept file, by another name")
        if earlier and earlier.how == "move" and earlier.other != path and is_as_it_was(earlier.other, state):
            if not self.dry_run:
                finish_move(path, earlier.other, known, check=check, token=earlier.token)
            return earlier.other
        if self.how == "hardlink":
            other = self._linkable(drop, info)
        else:
            other = self._target(row) if self.how == "move" else drop.kept.name
        if other and not self.dry_run:
            token = self.journal.token
            self.journal.note(Act(self.how, path, other, token, state, S_IMODE(info.st_mode)))
            match self.how:
                case "hardlink":
                    replace_by_link(path, other, known, check=check, token=token)
                case "move":
                    make_folders(Path(other).parent)
                    move(path, other, state, known, check=check, token=token)
                case "delete":
                    delete(path, known, check=check, token=token)
        return other

    def documents(self, drops: list[Drop]) -> None:
        """Remove documents without files."""
        if self.how != "delete" or self.store is None:
            why = "it is a document without a file; only --delete removes it, from the store given by --store"
            self.report.left += [(each.row.name, why) for each in drops]
            return
        for start in range(0, len(drops), _DOCUMENTS_AT_ONCE):
            self._remove(drops[start : start + _DOCUMENTS_AT_ONCE], self.store)

    def _remove(self, drops: list[Drop], store: Store) -> None:
        hashes = text_hashes(store, {row.place for drop in drops for row in (drop.row, drop.kept)})
        wanted: dict[Place, Removal] = {}

        def look(drop: Drop) -> str:
            if drop.row.name in self.journal.acts and drop.row.place not in hashes:
                return ""
            known = check_document(hashes, drop.row)
            self._check_kept(drop.kept, hashes)
            kept = None if drop.kept.path is not None else (drop.kept.place, hashes[drop.kept.place])
            wanted[drop.row.place] = Removal(known, kept)
            return drop.kept.name

        for each in drops:
            self.attempt(each, look)
        if not wanted or self.dry_run:
            return
        ready = {each.row.place: each for each in drops if each.row.place in wanted}
        token = self.journal.token
        self.journal.note(*(Act("remove", each.row.name, each.kept.name, token) for each in ready.values()))
        try:
            left = store.remove(wanted)
        except StoreError as error:
            left = dict.fromkeys(wanted, str(error))
        names = {ready[place].row.name: reason for place, reason in left.items()}
        self.report.done = [each for each in self.report.done if each[0] not in names]
        self.report.left += names.items()

    def _was_dropped(self, path: str, earlier: Act | None) -> bool:
        if earlier is None:
            return False
        if earlier.how == "hardlink":
            there = os.path.exists(path) and os.path.exists(earlier.other)  # noqa: PTH110
            return self.how == "hardlink" and there and os.path.samefile(path, earlier.other)  # noqa: PTH121
        return not os.path.lexists(path)

    def _check_kept(self, kept: PlanRow, hashes: Mapping[Place, str] | None = None) -> None:
        """Check that the kept document is there and unchanged. An open file is not read again."""
        try:
            if kept.path is None:
                check_document(text_hashes(self.store, {kept.place}) if hashes is None else hashes, kept)
                return
            if self._kept is not None and self._kept.path == kept.path and self._kept.is_unchanged():
                return
            self.close()
            if not isinstance(kept.state, FileState):
                raise LeftAloneError(kept.unknown)
            self._kept = Pinned(kept.path, kept.state)
        except LeftAloneError as error:
            raise LeftAloneError(f"{kept.name}, which is kept instead: {error}") from None

    @staticmethod
    def _linkable(drop: Drop, info: os.stat_result) -> str:
        """The path of the kept file to link to; empty if the file is a hard link of it already."""
        if drop.kept.path is None or not _is_copy(drop):
            raise LeftAloneError("its bytes differ from the kept file, so it cannot become a link to it")
        kept = os.lstat(drop.kept.path)
        if os.path.samestat(kept, info):
            return ""
        if kept.st_dev != info.st_dev:
            raise LeftAloneError("the kept file is on another disk, so it cannot become a link to it")
        return drop.kept.path

    def _target(self, row: PlanRow) -> str:
        below = PurePosixPath(row.place.id)
        target = Path(self.to, *below.parts)
        if not below.parts or ".." in below.parts or not target.is_relative_to(self.to):
            raise LeftAloneError(f"its id names a path outside {self.to}")
        for each in target.parents[: len(below.parts) - 1]:
            if each.is_symlink():
                raise LeftAloneError(f"{each} is a symbolic link; files are not moved through links")
        if os.path.lexists(target):
            raise LeftAloneError(f"{target} exists already")
        return str(target)
