"""A plan, applied: each document is looked at again right before it goes."""

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
    """What a plan would do, by what it says itself.

    Attributes:
        files: how many files would go.
        size: bytes that are free when they are deleted; hard links of one file count once.
        unlike: how many of them have other bytes than what stays for them: deleted, they cannot be restored.
        documents: how many documents without files would go, for good.
    """

    files: int
    size: int
    unlike: int
    documents: int


@dataclass(slots=True)
class Applied:
    """What was done by a plan.

    Attributes:
        done: each file that went, or document without a file by its name; and where it was moved to, or what stays
            for it.
        before: how many had gone by an earlier run.
        left: what was left as it is, each with the reason.
        refused: group to reason, of groups that would leave nothing.
        forgotten: how many documents of files that are gone were removed from the store.
        not_forgotten: where documents stayed in the store although their files are gone, and why.
    """

    done: list[tuple[str, str]] = field(default_factory=list)
    before: int = 0
    left: list[tuple[str, str]] = field(default_factory=list)
    refused: dict[int, str] = field(default_factory=dict)
    forgotten: int = 0
    not_forgotten: Mapping[Place, str] = field(default_factory=dict)


def expected(rows: Iterable[PlanRow]) -> Expected:
    """What a plan would do; no file is read, but those that are gone do not count."""
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
    """Do what a plan says; run it again after an interruption; nothing is done twice.

    Args:
        rows: of the plan.
        how: `move`, `delete` or `hardlink`. Documents without files go only by `delete`, out of the store.
        undo_file: where each act is written down before it is done; what an earlier run wrote there stays.
        to: for `move`, the folder below which a file gets the path of its id.
        store: its documents of files that are gone are removed, and those without files; None: there is none.
        dry_run: look at everything, do nothing.
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
            except StoreError as error:  # what was done to files is done, and to be told
                report.not_forgotten = dict.fromkeys((each.place for each in gone), str(error))
    return report


def _is_copy(drop: Drop) -> bool:
    """Whether a file has the bytes of the one that stays, by what the plan says."""
    mine, other = drop.row.state, drop.kept.state
    return isinstance(mine, FileState) and isinstance(other, FileState) and mine.hash == other.hash


def _is_gone(row: PlanRow) -> bool:
    return row.path is not None and not os.path.lexists(row.path)


@dataclass(slots=True)
class _PlanRun:
    """One run; `report` says what was done so far."""

    how: How
    to: str
    store: Store | None
    journal: Journal
    dry_run: bool
    report: Applied
    _kept: Pinned | None = None  # the last one that was read

    def attempt(self, drop: Drop, act: Callable[[Drop], str]) -> None:
        """Do it, or say why not."""
        try:
            other = act(drop)
        except LeftAloneError as error:
            self.report.left.append((drop.row.name, str(error)))
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            self.report.left.append((drop.row.name, f"that is not possible ({reason})"))
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
        """Remove a file; where it is now, or what is kept for it. Empty: an earlier run has removed it."""
        row, path, state = drop.row, drop.row.path or "", drop.row.state
        earlier = self.journal.acts.get(path)
        if earlier and earlier.state and not self.dry_run:
            recover(earlier)
        if self._had_gone(path, earlier):
            return ""
        if not isinstance(state, FileState):
            raise LeftAloneError(row.unknown)
        info = as_it_was(path, state)
        known, check = seen(info), partial(self._check_kept, drop.kept)
        check()
        if drop.kept.path is not None and one_file(path, drop.kept.path):
            raise LeftAloneError("it is the one that stays, by another name")
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
            why = "it is a document without a file; only --delete removes it, from the store that --store names"
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

    def _had_gone(self, path: str, earlier: Act | None) -> bool:
        if earlier is None:
            return False
        if earlier.how == "hardlink":
            there = os.path.exists(path) and os.path.exists(earlier.other)  # noqa: PTH110
            return self.how == "hardlink" and there and os.path.samefile(path, earlier.other)  # noqa: PTH121
        return not os.path.lexists(path)

    def _check_kept(self, kept: PlanRow, hashes: Mapping[Place, str] | None = None) -> None:
        """Make sure that what is kept is there, and as it was; a file that is open is not read again."""
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
            raise LeftAloneError(f"of {kept.name}, which is to stay for it: {error}") from None

    @staticmethod
    def _linkable(drop: Drop, info: os.stat_result) -> str:
        """The path of the one that stays, of which a file can become another name; empty if it is one already."""
        if drop.kept.path is None or not _is_copy(drop):
            raise LeftAloneError("it has other bytes than the one that stays, so it cannot become a link to it")
        kept = os.lstat(drop.kept.path)
        if os.path.samestat(kept, info):
            return ""
        if kept.st_dev != info.st_dev:
            raise LeftAloneError("it is on another disk than the one that stays, and links do not lead there")
        return drop.kept.path

    def _target(self, row: PlanRow) -> str:
        below = PurePosixPath(row.place.id)
        target = Path(self.to, *below.parts)
        if not below.parts or ".." in below.parts or not target.is_relative_to(self.to):
            raise LeftAloneError(f"its id leads out of {self.to}")
        for each in target.parents[: len(below.parts) - 1]:
            if each.is_symlink():
                raise LeftAloneError(f"{each} is a symbolic link, and nothing is moved through one")
        if os.path.lexists(target):
            raise LeftAloneError(f"{target} is there already")
        return str(target)
