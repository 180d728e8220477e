"""In which order were several documents written, and which is the newest, if the evidence says so?

The order is that of the first kind of evidence that all dated documents have. The newest is claimed only if some
evidence says of each other document that it is older, and none says the opposite.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from simdoc_search.display import counted
from simdoc_search.versions.evidence import KINDS, SAME_COPY, STRONG, By, Dated, DateEvidence, DateSources

Propose = Callable[[Sequence[int]], Sequence[int]]

_OUTWEIGH_FILES: tuple[By, ...] = ("modified", "version control")
"""A program writes these when the text changes. A file time that contradicts them was set by a copy."""

_SAID: Mapping[By, str] = {
    "modified": "modification date in its metadata",
    "date": "date in its metadata",
    "name": "date in its name",
    "version": "version in its name",
    "version control": "last commit of its file",
    "dates": "date in its metadata, name or commits",
    "created": "creation date in its metadata",
    "modification time": "modification time of its file",
}
_SAID_OF_ALL: Mapping[By, str] = {
    "modified": "modification date in their metadata",
    "date": "date in their metadata",
    "name": "date in their names",
    "version": "version in their names",
    "version control": "last commit of their files, or a change since",
    "dates": "dates in their metadata, names or commits",
    "created": "creation date in their metadata",
    "modification time": "modification time of their files",
    "texts": "texts alone",
}


class OrderStatement(NamedTuple):
    """What one kind of evidence says of two documents, where another kind contradicts it.

    Attributes:
        by: the kind of evidence.
        later: the number of the document that is later by it.
        earlier: that of the other one.
        shown: the evidence of the two, for people.
        counts: whether it keeps the newest from being claimed; file times do not count against modification dates and
            commits.
    """

    by: By
    later: int
    earlier: int
    shown: tuple[str, str]
    counts: bool = True


@dataclass(frozen=True, slots=True)
class Timeline:
    """Documents in their order.

    Attributes:
        order: the numbers of the dated documents, the oldest first.
        undated: those that have no evidence while the others do; they are not in `order`.
        by: what orders them.
        certain: whether the evidence says the place of each dated document, and does not contradict itself.
        newest: the number of the newest; None: the evidence does not say, or contradicts itself.
        conflict: what contradicts each other, two statements for each contradiction; empty: nothing does.
        reason: what orders them, and why nothing better does, for people.
        dates: of each document, by its number, when it was written: by what orders them, or else by the best that is
            known of it; None: nothing is.
    """

    order: tuple[int, ...]
    undated: tuple[int, ...]
    by: By
    certain: bool
    newest: int | None
    conflict: tuple[OrderStatement, ...]
    reason: str
    dates: tuple[Dated | None, ...]


def named_kind(by: By) -> str:
    """A kind of evidence of several documents, for people."""
    return _SAID_OF_ALL[by]


def timeline(documents: Sequence[DateSources], propose: Propose) -> Timeline:
    """Put documents in order, place the undated aside, and say which is the newest if the evidence agrees.

    Documents with the same date are ordered by the next kind of evidence that all of these have, and so on. What
    nothing orders stands as it is proposed, and the newest is then not claimed among these.

    Args:
        documents: all of them.
        propose: puts some of them, by their numbers, into an order, the oldest first.
    """
    evidence = DateEvidence(documents)
    undated = _undated(evidence, len(documents))
    dated = [each for each in range(len(documents)) if each not in undated]
    remarks: list[str] = []
    by, groups = _groups(evidence, dated, remarks)
    order, unsure = _joined(evidence, by, groups, propose)
    newest = _newest(evidence, order)
    conflict = tuple(_conflicts(evidence, order, by))
    certain = len(dated) < 2 or not (unsure or conflict or newest is None)
    dates = tuple((evidence.of(by)[each] if by != "texts" else None) or evidence.best(each)
                  for each in range(len(documents)))  # fmt: skip
    reason = _reason(by, remarks, len(unsure) if by != "texts" else 0)
    return Timeline(tuple(order), tuple(sorted(undated)), by, certain, newest, conflict, reason, dates)


def _undated(evidence: DateEvidence, count: int) -> set[int]:
    """The documents without strong evidence where half of the others have some; else those without any."""
    for kinds in (STRONG, KINDS):
        has = {each for by in kinds for each in _told_apart(evidence, by)}
        if 2 * len(has) >= count and has:
            return set(range(count)) - has
    return set()


def _told_apart(evidence: DateEvidence, by: By) -> set[int]:
    """The documents that a kind of evidence compares with others, if it tells any two of them apart."""
    groups: dict[object, list[int]] = {}
    for number, each in enumerate(evidence.of(by)):
        if each is not None:
            groups.setdefault(each.key[0] if by == "version" else None, []).append(number)
    told: set[int] = set()
    for group in groups.values():
        group.sort(key=lambda each: evidence.of(by)[each].key)  # type: ignore[union-attr]
        if any(evidence.compare(by, each, before) for before, each in pairwise(group)):
            told.update(group)
    return told


# --- the newest ---


def _newest(evidence: DateEvidence, order: Sequence[int]) -> int | None:
    """The document that is later than each other one, by evidence that nothing contradicts."""
    if len(order) < 2:
        return None
    return order[-1] if all(_is_later(evidence, order[-1], each) for each in order[:-1]) else None


def _is_later(evidence: DateEvidence, one: int, other: int) -> bool:
    verdicts = dict(_verdicts(evidence, one, other))
    return bool(verdicts) and min(verdicts.values()) > 0


def _verdicts(evidence: DateEvidence, one: int, other: int) -> Iterator[tuple[By, int]]:
    """What each kind of evidence that counts says of two documents: 1 if the first is later, -1 if the second is."""
    found: dict[By, int] = {}
    for by in KINDS:
        if (by == "created" and "modified" in found) or (by == "dates" and found):
            continue
        if verdict := evidence.compare(by, one, other):
            found[by] = verdict
    if found.keys() == {"modification time"} and evidence.has_date(one) != evidence.has_date(other):
        return  # the file of the undated one may be a fresh copy
    outweighed = any(found.get(each, 0) == -found.get("modification time", 0) != 0 for each in _OUTWEIGH_FILES)
    yield from (each for each in found.items() if not (each[0] == "modification time" and outweighed))


def _conflicts(evidence: DateEvidence, order: Sequence[int], by: By) -> Iterator[OrderStatement]:
    """Where kinds of evidence contradict each other: of each kind the contradiction that concerns the latest."""
    for kind in KINDS:
        if kind == "dates":
            continue
        for later, earlier in _inversions(evidence, kind, order):
            against = next(
                (each for each in (by, *KINDS) if each not in ("texts", kind)
                 and evidence.compare(each, earlier, later) == 1), None)  # fmt: skip
            if against is None or (kind == "created" and against == "modified"):
                continue
            counts = (kind, -1) in _verdicts(evidence, earlier, later)
            yield OrderStatement(against, earlier, later, _shown(evidence, against, earlier, later))
            yield OrderStatement(kind, later, earlier, _shown(evidence, kind, later, earlier), counts)
            break


def _shown(evidence: DateEvidence, by: By, one: int, other: int) -> tuple[str, str]:
    a, b = (found.shown if (found := evidence.of(by)[each]) else "" for each in (one, other))
    return a, b


def _inversions(evidence: DateEvidence, by: By, order: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Documents that a kind of evidence calls later than one that stands after them, the latest of the order first."""
    having = [each for each in order if evidence.of(by)[each] is not None]
    latest: list[int] = []
    for each in having:
        latest.append(each if not latest or evidence.compare(by, each, latest[-1]) == 1 else latest[-1])
    for before, each in zip(reversed(latest[:-1]), reversed(having[1:]), strict=True):
        if evidence.compare(by, before, each) == 1:
            yield before, each


# --- the order ---


def _joined(
    evidence: DateEvidence, by: By, groups: Sequence[list[int]], propose: Propose
) -> tuple[list[int], set[int]]:
    """Those of all groups in order, and which of them are where they are proposed."""
    if by == "texts":
        return [each for group in groups for each in propose(group)], {each for group in groups for each in group}
    parts = [_ordered(evidence, group, propose) for group in groups]
    return [each for some, _ in parts for each in some], {each for _, unsure in parts for each in unsure}


def _ordered(evidence: DateEvidence, numbers: list[int], propose: Propose) -> tuple[list[int], set[int]]:
    """Those of one date in order, and which of them are where they are proposed."""
    if len(numbers) == 1:
        return numbers, set()
    by, groups = _groups(evidence, numbers, [])
    return _joined(evidence, by, groups, propose)


def _groups(evidence: DateEvidence, numbers: list[int], remarks: list[str]) -> tuple[By, list[list[int]]]:
    """The first kind that tells some of them apart, and those of each date, the oldest first; else they are one."""
    for by in KINDS:
        there = [found for each in numbers if (found := evidence.of(by)[each])]
        if len(there) < len(numbers):
            if there and by != "dates":
                remarks.append(_lack(by, len(numbers) - len(there), len(numbers)))
            continue
        if by == "dates" and len({each.by for each in there}) == 1:
            continue
        if by == "version" and len({each.key[0] for each in there}) > 1:
            remarks.append("the versions in their names do not compare, as the rest of the names differs")
            continue
        keys = _alike(by, [each.key for each in there])
        if len(distinct := sorted(set(keys))) > 1:
            return by, [[each for each, key in zip(numbers, keys, strict=True) if key == one] for one in distinct]
        if len(keys) > 1 and by != "dates":
            remarks.append(_same(by, [each.shown for each in there]))
    return "texts", [numbers]


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
    said = "nothing says which is newer" if by == "texts" else f"by the {_SAID_OF_ALL[by]}"
    if unsure:
        said += f"; {counted(unsure, 'document')} of the same date, which nothing orders"
    return f"{said}; {'; '.join(remarks)}" if remarks else said
