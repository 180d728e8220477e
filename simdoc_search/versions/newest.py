"""Determines the newest document, or says why it is not known."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations
from typing import cast

from simdoc_search.passages.dates import date_from_nanoseconds
from simdoc_search.versions.evidence import EVIDENCE_KINDS, DateEvidence, EvidenceKind
from simdoc_search.versions.timeline import UndecidedVersions

_MORE_RELIABLE_THAN_FILE_TIMES: tuple[EvidenceKind, ...] = ("modified", "version control")
"""These dates change when the text changes. If a file time contradicts them, the file was probably copied."""

_MAX_LAST_DOCUMENTS = 50
"""The number of last documents in the order that are compared to say why the newest document is unknown."""


def find_newest(
    evidence: DateEvidence, order: Sequence[int], copy_count: int, *, ignored_kind: EvidenceKind | None = None
) -> int | None:
    """Return the last document if undisputed evidence shows that it is later than every other document.

    The last `copy_count` documents in `order` have the same text as the last one, so they are not compared with it.
    Evidence of the kind `ignored_kind` does not count.
    """
    others = order[: len(order) - copy_count]
    is_newest = bool(others) and all(_is_later(evidence, order[-1], earlier, ignored_kind) for earlier in others)
    return order[-1] if is_newest else None


def find_undecided(evidence: DateEvidence, order: Sequence[int], copy_count: int) -> UndecidedVersions | None:
    """Return two of the last documents in the order that may be the newest, if no evidence shows which is newer.

    Return None if the evidence about the documents that may be the newest is contradictory.
    """
    others = order[: len(order) - copy_count]
    last = [*order[-1:], *reversed(others[-_MAX_LAST_DOCUMENTS:])]
    verdicts = {(first, second): compare_by_kind(evidence, first, second) for first, second in permutations(last, 2)}
    is_older = {second for (_, second), of_kinds in verdicts.items() if of_kinds and min(of_kinds.values()) > 0}
    maybe_newest = [number for number in last if number not in is_older]
    pairs = [pair for pair in verdicts if set(pair) <= set(maybe_newest)]
    if any(verdicts[pair] for pair in pairs):
        return None
    pairs = pairs or [pair for pair in verdicts if pair[0] in maybe_newest and not verdicts[pair]]
    if not pairs:
        return None
    first, second = pairs[0]
    by_file = evidence.compare("modification time", first, second)
    later, earlier = (second, first) if by_file == -1 else (first, second)
    names = evidence.name_of(later), evidence.name_of(earlier)
    for number in (later, earlier) if by_file else ():
        if date := evidence.strong_date(number):
            return UndecidedVersions(*names, evidence.name_of(number), dated_label=date.label)
    return UndecidedVersions(*names, None)


def find_maybe_newer(evidence: DateEvidence, newest: int, unordered: Iterable[int]) -> list[int]:
    """Return the unordered documents that no evidence shows to be older than the newest document of the order."""
    return [number for number in unordered if not _is_later(evidence, newest, number, None)]


def describe_maybe_newer(
    evidence: DateEvidence, newest: int, maybe_newer: Sequence[int], newest_kinds: tuple[EvidenceKind, ...]
) -> UndecidedVersions:
    """Return the newest document of the order, and the one with the latest file time of those that may be newer."""
    file_times = evidence.dates_by("modification time")
    later = max(maybe_newer, key=lambda number: cast("int", dated.key[0]) if (dated := file_times[number]) else 0)
    return UndecidedVersions(evidence.name_of(later), evidence.name_of(newest), None, newest_kinds)


def find_newest_kinds(
    evidence: DateEvidence, newest: int, older: Iterable[int], order_kind: EvidenceKind
) -> list[EvidenceKind]:
    """Return the kinds of evidence that show that the newest document is later than the older documents.

    For each other document, this is `order_kind` if it shows which of the two is later, otherwise the first kind that
    shows it.
    """
    by_document = [compare_by_kind(evidence, newest, other) for other in older]
    kinds = {order_kind if order_kind in verdicts else next(iter(verdicts)) for verdicts in by_document}
    return sorted(kinds, key=lambda kind: (kind != order_kind, EVIDENCE_KINDS.index(kind)))


def _is_later(evidence: DateEvidence, first: int, second: int, ignored_kind: EvidenceKind | None) -> bool:
    verdicts = [verdict for kind, verdict in compare_by_kind(evidence, first, second).items() if kind != ignored_kind]
    return bool(verdicts) and min(verdicts) > 0


def compare_by_kind(evidence: DateEvidence, first: int, second: int) -> dict[EvidenceKind, int]:
    """Compare two documents by each kind of evidence: 1 if the first is later, -1 if the second is later.

    Kinds that do not show which one is later are omitted.
    """
    verdicts: dict[EvidenceKind, int] = {}
    for kind in EVIDENCE_KINDS:
        if kind == "mixed dates" and verdicts:
            continue
        if verdict := evidence.compare(kind, first, second):
            verdicts[kind] = verdict
    if verdicts.keys() == {"modification time"}:
        dated = [number for number in (first, second) if evidence.strong_date(number)]
        if len(dated) == 1:
            later, other = (first, second) if verdicts["modification time"] > 0 else (second, first)
            if dated != [later] or not _is_after_file_time(evidence, later, other):
                return {}  # the later file may be a new copy of an old document
    by_file = verdicts.get("modification time", 0)
    if by_file and any(verdicts.get(kind) == -by_file for kind in _MORE_RELIABLE_THAN_FILE_TIMES):
        del verdicts["modification time"]
    return verdicts


def _is_after_file_time(evidence: DateEvidence, index: int, other: int) -> bool:
    """Return whether the date of a document is later than the file time of another one.

    The date is in the metadata or the name, or it is the date of a commit.
    """
    dated = evidence.strong_date(index)
    file_time = evidence.dates_by("modification time")[other]
    file_date = file_time and date_from_nanoseconds(cast("int", file_time.key[0]))
    if dated is None or file_date is None:
        return False
    parts = min(len(dated.key), len(file_date))
    return dated.key[:parts] > file_date[:parts]
