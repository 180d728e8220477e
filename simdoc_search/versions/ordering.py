"""Which of several documents is the newest? By the best of what is known of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from simdoc_search.documents import MetadataValue
from simdoc_search.showing import counted
from simdoc_search.versions.dates import Date, iso, of_nanoseconds, shown
from simdoc_search.versions.fields import date_in_metadata
from simdoc_search.versions.history import commit_dates
from simdoc_search.versions.names import NamedVersion, named_date, named_versions

__all__ = ["By", "Dated", "Known", "Timeline", "timeline"]

By = Literal["modified", "date", "name", "version", "created", "version control", "modification time", "proposed"]
"""What says when: of the metadata a date of change, a date or that of publication; the date in the name; the version
there; of the metadata the date of creation, which a new version often inherits; the last commit of the file; the time
of its last change; or nothing, and the order is proposed."""

_BY_FILES: tuple[By, ...] = ("version control", "modification time", "proposed")

Propose = Callable[[Sequence[int]], Sequence[int]]

SAME_COPY = 60
"""Seconds within which the files of a folder are written that is copied or unpacked."""

_SAID: Mapping[By, str] = {
    "modified": "date of change in its metadata",
    "date": "date in its metadata",
    "name": "date in its name",
    "version": "version in its name",
    "created": "date of creation in its metadata",
    "version control": "last commit of its file",
    "modification time": "time of change of its file",
}
_SAID_OF_ALL: Mapping[By, str] = {
    "modified": "date of change in their metadata",
    "date": "date in their metadata",
    "name": "date in their names",
    "version": "version in their names",
    "created": "date of creation in their metadata",
    "version control": "last commit of their files, or a change since",
    "modification time": "time of change of their files",
}
_PROPOSED = (
    "by the order in which least changes from one to the next; a version mostly adds text, changes most at first, and "
    "names the latest day"
)


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a document beside its text.

    Attributes:
        name: its path.
        metadata: its metadata; names of fields count without signs and letter case, the part after the last dot.
        mtime_ns: when its file was changed, in nanoseconds since 1970; None: it has none.
        path: where that file lies on this machine; None: it does not, or version control is not to be asked.
    """

    name: str = ""
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)
    mtime_ns: int | None = None
    path: Path | None = None


class Dated(NamedTuple):
    """When a document was written.

    Attributes:
        by: what says so.
        key: greater for later ones; to be compared only with one by the same.
        shown: for people: `12 Mar 2021`, `v2`.
        iso: ISO 8601; of a version in a name None.
    """

    by: By
    key: tuple[object, ...]
    shown: str
    iso: str | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """Documents in their order.

    Attributes:
        order: their numbers, the oldest first.
        by: what orders them.
        certain: whether dates or versions say the place of each; else at least some are where a proposal puts them.
        newest_certain: whether they say which is the last.
        reason: what orders them, and why nothing better does, for people.
        dates: of each document, by its number, when it was written: by what orders them, or else by the best that is
            known of it; None: nothing is.
    """

    order: tuple[int, ...]
    by: By
    certain: bool
    newest_certain: bool
    reason: str
    dates: tuple[Dated | None, ...]


def timeline(documents: Sequence[Known], propose: Propose) -> Timeline:
    """Put documents in order by the first kind of date that all of them have and that is not the same for all.

    Those of them that have the same date are ordered by the next kind that all of these have, and so on. Where only
    their files say when, or nothing does, a date in metadata or names counts that half of them have, so that one
    without any does not decide for all: it stands where it is proposed, after the one that is before it there.

    Args:
        documents: all of them; version control is asked only if what is in metadata and names does not do.
        propose: puts some of them, by their numbers, into an order, the oldest first.
    """
    dates = _Dates(documents)
    numbers = list(range(len(documents)))
    remarks: list[str] = []
    by, groups = _groups(dates, numbers, remarks)
    without: list[int] = []
    if by in _BY_FILES and (of_most := _of_most(dates, numbers)):
        by, without = of_most
        remarks.clear()
        _, groups = _groups(dates, [each for each in numbers if each not in set(without)], [], first=by)
    order, unsure = _joined(dates, by, groups, propose)
    if is_guess := dates.names_differ(by, order):
        remarks.append("the rest of their names is not the same, so that may be no order of all")
    if without:
        remarks.append(f"{_lack(by, len(without), len(numbers))} and {'is' if len(without) == 1 else 'are'} proposed")
        order = _inserted(order, without, propose(numbers))
    found = tuple((dates.of(by)[each] if by != "proposed" else None) or dates.best(each) for each in numbers)
    certain = len(documents) < 2 or not (unsure or without or is_guess)
    newest_certain = certain or not (without or is_guess or order[-1] in unsure)
    return Timeline(tuple(order), by, certain, newest_certain, _reason(by, remarks, len(unsure)), found)


def _of_most(dates: _Dates, numbers: Sequence[int]) -> tuple[By, list[int]] | None:
    """The first kind in metadata or names that half of them have, not the same for all; and those without it."""
    for by in get_args(By)[: get_args(By).index(_BY_FILES[0])]:
        found = dates.of(by)
        keys = [each.key for each in found if each is not None]
        if 2 * len(keys) >= len(numbers) and len(set(_alike(by, keys))) > 1:
            return by, [each for each in numbers if found[each] is None]
    return None


def _inserted(order: Sequence[int], others: Sequence[int], proposed: Sequence[int]) -> list[int]:
    """An order with others put after the one that is before them in a proposed one, or else in front."""
    after: dict[int | None, list[int]] = {None: []}
    last: int | None = None
    for each in proposed:
        if each in set(others):
            after[last].append(each)
        else:
            last = each
            after[each] = []
    return [*after[None], *(each for known in order for each in (known, *after[known]))]


def _joined(dates: _Dates, by: By, groups: Sequence[list[int]], propose: Propose) -> tuple[list[int], set[int]]:
    """Those of all groups in order, and which of them are where they are proposed."""
    if by == "proposed":
        return [each for group in groups for each in propose(group)], {each for group in groups for each in group}
    parts = [_ordered(dates, group, propose) for group in groups]
    return [each for some, _ in parts for each in some], {each for _, unsure in parts for each in unsure}


def _ordered(dates: _Dates, numbers: list[int], propose: Propose) -> tuple[list[int], set[int]]:
    """Those of one date in order, and which of them are where they are proposed."""
    if len(numbers) == 1:
        return numbers, set()
    by, groups = _groups(dates, numbers, [])
    order, unsure = _joined(dates, by, groups, propose)
    return order, set(numbers) if dates.names_differ(by, numbers) else unsure


def _groups(
    dates: _Dates, numbers: list[int], remarks: list[str], *, first: By = "modified"
) -> tuple[By, list[list[int]]]:
    """The first kind that tells some of them apart, and those of each date, the oldest first; else they are one."""
    for by in get_args(By)[get_args(By).index(first) : -1]:
        found = dates.of(by)
        there = [found[each] for each in numbers]
        keys = [each.key for each in there if each is not None]
        if len(keys) < len(numbers):
            if keys:
                remarks.append(_lack(by, len(numbers) - len(keys), len(numbers)))
            continue
        keys = _alike(by, keys)
        if len(distinct := sorted(set(keys))) > 1:
            return by, [[each for each, key in zip(numbers, keys, strict=True) if key == one] for one in distinct]
        if len(keys) > 1:
            remarks.append(_same(by, [each.shown for each in there if each is not None]))
    return "proposed", [numbers]


def _alike(by: By, keys: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Keys that can be compared: dates as exact as the least exact; times that lie close together are one."""
    if by == "version":
        return list(keys)
    if by != "modification time":
        exact = min(map(len, keys), default=0)
        return [key[:exact] for key in keys]
    groups: dict[tuple[object, ...], tuple[object, ...]] = {}
    last: tuple[object, ...] | None = None
    for key in sorted(set(keys)):
        is_near = last is not None and key[0] - last[0] < SAME_COPY * 10**9  # type: ignore[operator]
        groups[key] = groups[last] if is_near and last is not None else key
        last = key
    return [groups[key] for key in keys]


class _Dates:
    """What is known of each document, looked up when it is first needed."""

    def __init__(self, documents: Sequence[Known]) -> None:
        self._documents = documents
        self._found: dict[By, list[Dated | None]] = {}

    def of(self, by: By) -> list[Dated | None]:
        """Of all documents by their numbers."""
        if by not in self._found:
            self._found[by] = self._looked_up(by)
        return self._found[by]

    def names_differ(self, by: By, numbers: Sequence[int]) -> bool:
        """Whether some are ordered by numbers in their names that are called differently otherwise."""
        found = [each for number in numbers if (each := self._named[number])] if by == "version" else []
        return any(each.bare for each in found) and len({each.stem for each in found}) > 1

    def best(self, number: int) -> Dated | None:
        """The best that is known of one."""
        return next((found for by in get_args(By)[:-1] if (found := self.of(by)[number])), None)

    @cached_property
    def _named(self) -> list[NamedVersion | None]:
        return named_versions([each.name for each in self._documents])

    def _looked_up(self, by: By) -> list[Dated | None]:
        if by == "version":
            return [None if each is None else Dated(by, each.key, each.shown, None) for each in self._named]
        if by == "version control":
            return [_dated(by, each) for each in commit_dates([document.path for document in self._documents])]
        if by == "modification time":
            return [_of_file(each.mtime_ns) for each in self._documents]
        if by == "name":
            return [_dated(by, named_date(each.name)) for each in self._documents]
        return [_dated(by, date_in_metadata(each.metadata, by)) for each in self._documents]


def _dated(by: By, date: Date | None) -> Dated | None:
    return None if date is None else Dated(by, date, shown(date), iso(date))


def _of_file(mtime_ns: int | None) -> Dated | None:
    date = None if mtime_ns is None else of_nanoseconds(mtime_ns)
    return None if date is None else Dated("modification time", (mtime_ns,), shown(date), iso(date))


def _lack(by: By, some: int, all_: int) -> str:
    lack = f"has no {_SAID[by]}" if some == 1 else f"have no {_SAID_OF_ALL[by]}"
    return f"{some:,} of {counted(all_, 'document')} {lack}"


def _same(by: By, shown: Sequence[str]) -> str:
    if by == "version":
        return f"no version in their names is later than another ({', '.join(dict.fromkeys(filter(None, shown)))})"
    if by == "modification time":
        return f"all files were written within {SAME_COPY} seconds of another, as when a folder is copied or unpacked"
    return f"all have the same {_SAID_OF_ALL[by]}"


def _reason(by: By, remarks: Sequence[str], unsure: int) -> str:
    said = _PROPOSED if by == "proposed" else f"by the {_SAID_OF_ALL[by]}"
    if by != "proposed" and unsure:
        said += f"; {counted(unsure, 'document')} of the same date in a proposed order"
    return f"{said}; {'; '.join(remarks)}" if remarks else said
