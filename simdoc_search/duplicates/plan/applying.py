"""A plan, applied: each document is looked at again right before it goes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from stat import S_IMODE

from simdoc_search.documents import Place
from simdoc_search.duplicates.plan.acts import delete, move, replace_by_link, split_move
from simdoc_search.duplicates.plan.documents import check_document, forget_files, text_hashes
from simdoc_search.duplicates.plan.files import Seen, as_it_was, is_as_it_was, one_file, seen
from simdoc_search.duplicates.plan.journal import Act, Journal
from simdoc_search.duplicates.plan.judging import Drop, judged
from simdoc_search.duplicates.plan.rows import FileState, How, LeftAloneError, Row
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store

_DOCUMENTS_AT_ONCE = 500

__all__ = ["Applied", "Expected", "apply_plan", "expected"]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a plan would do, by what it says itself.

    Attributes:
        files: how many files would go.
        size: their bytes.
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


def expected(rows: Iterable[Row]) -> Expected:
    """What a plan would do; no file is read, but those that are gone do not count."""
    drops = judged(rows).drops
    files = [each for each in drops if each.row.path is not None and os.path.lexists(each.row.path)]
    sizes = [each.row.state.size for each in files if isinstance(each.row.state, FileState)]
    unlike = sum(not _is_copy(each) for each in files)
    return Expected(len(files), sum(sizes), unlike, sum(each.row.path is None for each in drops))


def apply_plan(
    rows: Iterable[Row],
    how: How,
    undo_file: Path,
    *,
    to: str | Path | None = None,
    store: Store | None = None,
    dry_run: bool = False,
    progress: Callable[[float], None] = lambda _: None,
) -> Applied:
    """Do what a plan says; a run that was killed is gone on with by another one, and nothing is done twice.

    Args:
        rows: of the plan.
        how: `move`, `delete` or `hardlink`. Documents without files go only by `delete`, out of the store.
        undo_file: where each act is written down before it is done; what an earlier run wrote there stays.
        to: for `move`, the folder below which a file gets the path of its id.
        store: its documents of files that are gone are removed, and those without files; None: there is none.
        dry_run: look at everything, do nothing.
        progress: called with the share that is done, 0..1.

    Raises:
        PlanError: the undo file cannot be read or written; what was done until then stands in it.
        StoreError: the store cannot be read.
    """
    found, report = judged(rows), Applied()
    report.refused = found.refused
    run = _Run(how, os.path.abspath(to or ""), store, Journal(undo_file), dry_run, report)  # noqa: PTH100
    files = [each for each in found.drops if each.row.path is not None]
    for number, drop in enumerate(files, 1):
        run.attempt(drop, run.file)
        progress(number / len(files))
    run.documents([each for each in found.drops if each.row.path is None])
    gone = [each.row for each in files if _is_gone(each.row) and (each.row.path or "") in run.journal.acts]
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


def _is_gone(row: Row) -> bool:
    return row.path is not None and not os.path.lexists(row.path)


def _seen(path: str) -> Seen | None:
    """What tells a file from another one; None: it is gone."""
    try:
        return seen(os.lstat(path))
    except FileNotFoundError:
        return None


@dataclass(slots=True)
class _Run:
    """One run; `report` says what was done so far."""

    how: How
    to: str
    store: Store | None
    journal: Journal
    dry_run: bool
    report: Applied
    _kept: tuple[str, Seen] | None = None  # the last one that was read
    _hashes: dict[Place, str] = field(default_factory=dict)  # of documents without files that are looked at now

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

    def file(self, drop: Drop) -> str:
        """Let a file go; where it is now, or what stays for it. Empty: it had gone before."""
        row, path, state = drop.row, drop.row.path or "", drop.row.state
        earlier = self.journal.acts.get(path)
        if self._had_gone(path, earlier):
            return ""
        if not isinstance(state, FileState):
            raise LeftAloneError(row.unknown)
        info = as_it_was(path, state)
        self._check_kept(drop.kept)
        if drop.kept.path is not None and one_file(path, drop.kept.path):
            raise LeftAloneError("it is the one that stays, by another name")
        if earlier and earlier.how == "move" and earlier.other != path and is_as_it_was(earlier.other, state):
            if not self.dry_run:
                split_move(path, earlier.other, seen(info))
            return earlier.other
        if self.how == "hardlink":
            kept = self._linkable(drop, info)
            return kept and self._act(drop, kept, info, lambda: replace_by_link(path, kept, seen(info), self._known))
        if self.how == "move":
            target = self._target(row)
            return self._act(drop, target, info, lambda: move(path, target, state, seen(info)))
        return self._act(drop, drop.kept.name, info, lambda: delete(path, seen(info)))

    def documents(self, drops: list[Drop]) -> None:
        """Let documents without files go."""
        if self.how != "delete" or self.store is None:
            why = "it is a document without a file; only --delete removes it, from the store that --store names"
            self.report.left += [(each.row.name, why) for each in drops]
            return
        for start in range(0, len(drops), _DOCUMENTS_AT_ONCE):
            some = drops[start : start + _DOCUMENTS_AT_ONCE]
            self._hashes = text_hashes(self.store, {row.place for drop in some for row in (drop.row, drop.kept)})
            self._remove(some, self.store)

    def _remove(self, drops: list[Drop], store: Store) -> None:
        wanted: dict[Place, str] = {}

        def look(drop: Drop) -> str:
            if drop.row.name in self.journal.acts and drop.row.place not in self._hashes:
                return ""
            known = check_document(self._hashes, drop.row)
            self._check_kept(drop.kept)
            wanted[drop.row.place] = known
            return drop.kept.name

        for each in drops:
            self.attempt(each, look)
        if not wanted or self.dry_run:
            return
        ready = {each.row.place: each for each in drops if each.row.place in wanted}
        self.journal.note(*(Act("remove", each.row.name, each.kept.name) for each in ready.values()))
        try:
            left = store.remove(wanted)
        except StoreError as error:
            left = dict.fromkeys(wanted, str(error))
        names = {ready[place].row.name: reason for place, reason in left.items()}
        self.report.done = [each for each in self.report.done if each[0] not in names]
        self.report.left += names.items()

    def _act(self, drop: Drop, other: str, info: os.stat_result, act: Callable[[], None]) -> str:
        state = drop.row.state
        if not self.dry_run and isinstance(state, FileState):
            self.journal.note(Act(self.how, drop.row.path or "", other, state, S_IMODE(info.st_mode)))
            act()
        return other

    def _had_gone(self, path: str, earlier: Act | None) -> bool:
        if earlier is None:
            return False
        if earlier.how == "hardlink":
            there = os.path.exists(path) and os.path.exists(earlier.other)  # noqa: PTH110
            return self.how == "hardlink" and there and os.path.samefile(path, earlier.other)  # noqa: PTH121
        return not os.path.lexists(path)

    def _check_kept(self, kept: Row) -> None:
        """Make sure that what stays is there, and as it was; what was read just now is not read again."""
        try:
            if kept.path is None:
                known = self._hashes if kept.place in self._hashes else text_hashes(self.store, {kept.place})
                check_document(known, kept)
                return
            if self._kept is not None and self._kept == (kept.path, _seen(kept.path)):
                return
            if not isinstance(kept.state, FileState):
                raise LeftAloneError(kept.unknown)
            self._kept = kept.path, seen(as_it_was(kept.path, kept.state))
        except LeftAloneError as error:
            raise LeftAloneError(f"of {kept.name}, which is to stay for it: {error}") from None

    @property
    def _known(self) -> Seen:
        return self._kept[1] if self._kept else (0, 0, 0, 0)

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

    def _target(self, row: Row) -> str:
        below = PurePosixPath(row.place.id)
        target = Path(self.to, *below.parts)
        if not below.parts or ".." in below.parts or not target.is_relative_to(self.to):
            raise LeftAloneError(f"its id leads out of {self.to}")
        if os.path.lexists(target):
            raise LeftAloneError(f"{target} is there already")
        return str(target)
