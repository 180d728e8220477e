"""Orders documents by their evidence, and names the newest if the evidence agrees.

The order is that of the first kind of evidence that all dated documents have. The newest is named only if some evidence
says of each other document that it is older, and no evidence says the opposite.
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
"""Programs write these dates when the text changes. A copy set a file time that contradicts them."""

_TITLES: Mapping[By, str] = {
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
    """A statement about two documents that another kind of evidence contradicts.

    Attributes:
        by: the kind of evidence.
        later: number of the document that is later by it.
        earlier: number of the other document.
        shown: the evidence of both, for people.
        counts: whether it is a reason not to name the newest. File times do not count against modification dates and
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
        order: numbers of the dated documents, the oldest first.
        undated: numbers of the documents without evidence, if the others have some.
        by: the evidence that the order is based on.
        certain: whether the evidence determines the whole order without a contradiction.
        newest: number of the newest document; None if the evidence does not name it, or conflicts.
        conflict: contradicting statements, two per contradiction.
        reason: the evidence of the order, for people.
        dates: the date of each document: by the evidence of the order, or else by its best evidence.
    """

    order: tuple[int, ...]
    undated: tuple[int, ...]
    by: By
    certain: bool
    newest: int | None
    conflict: tuple[OrderStatement, ...]
    reason: str
    dates: tuple[Dated | None, ...]


def evidence_title(by: By) -> str:
    """Return a kind of evidence for people."""
    return _TITLES[by]


def timeline(documents: Sequence[DateSources], propose: Propose) -> Timeline:
    """Order documents, set the undated ones apart, and name the newest if the evidence agrees.

    Documents with the same date are ordered by the next kind of evidence that all of them have, and so on. What no
    evidence orders is in the proposed order.

    Args:
        documents: the evidence of each document.
        propose: returns some documents, given by their numbers, in an order, the oldest first.
    """
    evidence = DateEvidence(documents)
    undated = _undated(evidence, len(documents))
    dated = [number for number in range(len(documents)) if number not in undated]
    by, groups = _groups_by_date(evidence, dated)
    order, unsure = _joined(evidence, by, groups, propose)
    newest = _newest(evidence, order)
    conflict = tuple(_conflicts(evidence, order, by))
    return Timeline(
        tuple(order),
        tuple(sorted(undated)),
        by,
        len(dated) < 2 or not (unsure or conflict or newest is None),
        newest,
        conflict,
        _reason(by, len(unsure)),
        tuple(
            (None if by == "texts" else evidence.of(by)[number]) or evidence.best(number)
            for number in range(len(documents))
        ),
    )


def _undated(evidence: DateEvidence, count: int) -> set[int]:
    """Return the documents without strong evidence if half of all have some; else those without any evidence."""
    for kinds in (STRONG, KINDS):
        dated = {number for by in kinds for number in _compared(evidence, by)}
        if 2 * len(dated) >= count and dated:
            return set(range(count)) - dated
    return set()


def _compared(evidence: DateEvidence, by: By) -> set[int]:
    """Return the documents that a kind of evidence compares with others, if it distinguishes any two of them."""
    groups: dict[object, list[int]] = {}
    for number, dated in enumerate(evidence.of(by)):
        if dated is not None:
            groups.setdefault(dated.key[0] if by == "version" else None, []).append(number)
    compared: set[int] = set()
    for group in groups.values():
        group.sort(key=lambda number: evidence.of(by)[number].key)  # type: ignore[union-attr]
        if any(evidence.compare(by, number, before) for before, number in pairwise(group)):
            compared.update(group)
    return compared


# --- the newest ---


def _newest(evidence: DateEvidence, order: Sequence[int]) -> int | None:
    """Return the last document if uncontradicted evidence says that it is later than each other one."""
    if len(order) < 2:
        return None
    return order[-1] if all(_is_later(evidence, order[-1], other) for other in order[:-1]) else None


def _is_later(evidence: DateEvidence, one: int, other: int) -> bool:
    verdicts = _verdicts(evidence, one, other)
    return bool(verdicts) and min(verdicts.values()) > 0


def _verdicts(evidence: DateEvidence, one: int, other: int) -> dict[By, int]:
    """Return what each kind of evidence that counts says: 1 if the first document is later, -1 if the second is."""
    found: dict[By, int] = {}
    for by in KINDS:
        if (by == "created" and "modified" in found) or (by == "dates" and found):
            continue
        if verdict := evidence.compare(by, one, other):
            found[by] = verdict
    if found.keys() == {"modification time"} and evidence.has_date(one) != evidence.has_date(other):
        return {}  # the file of the undated document may be a fresh copy
    by_file = found.get("modification time", 0)
    if by_file and any(found.get(by) == -by_file for by in _OUTWEIGH_FILES):
        del found["modification time"]
    return found


def _conflicts(evidence: DateEvidence, order: Sequence[int], by: By) -> Iterator[OrderStatement]:
    """Yield two statements for each kind of evidence that contradicts another: about the latest such documents."""
    for kind in KINDS:
        for later, earlier in _inversions(evidence, kind, order) if kind != "dates" else ():
            against = next(
                (
                    other
                    for other in (by, *KINDS)
                    if other not in ("texts", kind) and evidence.compare(other, earlier, later) == 1
                ),
                None,
            )
            if against is None or (kind == "created" and against == "modified"):
                continue
            counts = _verdicts(evidence, earlier, later).get(kind) == -1
            yield OrderStatement(against, earlier, later, _shown(evidence, against, earlier, later))
            yield OrderStatement(kind, later, earlier, _shown(evidence, kind, later, earlier), counts)
            break


def _shown(evidence: DateEvidence, by: By, one: int, other: int) -> tuple[str, str]:
    a, b = (dated.shown if (dated := evidence.of(by)[number]) else "" for number in (one, other))
    return a, b


def _inversions(evidence: DateEvidence, by: By, order: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield documents that are later by this evidence than one after them in the order, the last of the order first."""
    dated = [number for number in order if evidence.of(by)[number] is not None]
    latest: list[int] = []
    for number in dated:
        latest.append(number if not latest or evidence.compare(by, number, latest[-1]) == 1 else latest[-1])
    for before, number in zip(reversed(latest[:-1]), reversed(dated[1:]), strict=True):
        if evidence.compare(by, before, number) == 1:
            yield before, number


# --- the order ---


def _joined(
    evidence: DateEvidence, by: By, groups: Sequence[list[int]], propose: Propose
) -> tuple[list[int], set[int]]:
    """Return all documents in order, and those whose place is only proposed."""
    order: list[int] = []
    unsure: set[int] = set()
    for group in groups:
        if by == "texts":
            ordered, proposed = list(propose(group)), set(group)
        elif len(group) == 1:
            ordered, proposed = group, set()
        else:
            ordered, proposed = _joined(evidence, *_groups_by_date(evidence, group), propose)
        order += ordered
        unsure |= proposed
    return order, unsure


def _groups_by_date(evidence: DateEvidence, numbers: list[int]) -> tuple[By, list[list[int]]]:
    """Return the first kind of evidence that all documents have and that distinguishes some, and those of each date.

    The oldest date comes first. If no evidence distinguishes them, they are one group.
    """
    for by in KINDS:
        dated = [found for number in numbers if (found := evidence.of(by)[number])]
        if len(dated) < len(numbers) or (by == "dates" and len({found.by for found in dated}) == 1):
            continue
        if by == "version" and len({found.key[0] for found in dated}) > 1:
            continue
        keys = _comparable(by, [found.key for found in dated])
        if len(dates := sorted(set(keys))) > 1:
            return by, [[number for number, key in zip(numbers, keys, strict=True) if key == date] for date in dates]
    return "texts", [numbers]


def _comparable(by: By, keys: Sequence[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """Return keys that compare: dates as exact as the least exact one, and file times that are close as one."""
    if by == "version":
        return list(keys)
    if by != "modification time":
        parts = min(map(len, keys), default=0)
        return [key[:parts] for key in keys]
    groups: dict[tuple[object, ...], tuple[object, ...]] = {}
    last: tuple[object, ...] | None = None
    for key in sorted(set(keys)):
        is_near = last is not None and key[0] - last[0] < SAME_COPY * 10**9  # type: ignore[operator]
        groups[key] = groups[last] if is_near and last is not None else key
        last = key
    return [groups[key] for key in keys]


def _reason(by: By, unsure: int) -> str:
    if by == "texts":
        return "nothing says which is newer"
    tied = f"; {counted(unsure, 'document')} of the same date, which nothing orders" if unsure else ""
    return f"by the {_TITLES[by]}{tied}"
