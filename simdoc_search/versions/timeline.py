"""The order of documents in time, and the descriptions of the evidence for it."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from simdoc_search.display import format_count, printable
from simdoc_search.versions.evidence import (
    METADATA_KINDS,
    MIN_MTIME_DIFFERENCE_SECONDS,
    DocumentDate,
    EvidenceKind,
)

_DESCRIPTIONS: Mapping[EvidenceKind, str] = {
    "modified": "modification dates in the metadata",
    "date": "dates in the metadata",
    "name": "dates in the names",
    "version": "versions in the names",
    "version control": "dates of the last changes in git",
    "mixed dates": "dates in the metadata, names or commits",
    "created": "modification or creation dates in the metadata",
    "modification time": "modification times of the files",
    "texts": "texts alone",
}
_KINDS_OF_MIXED_DATES: tuple[EvidenceKind, ...] = ("modified", "date", "name", "version control", "created")
"""The kinds that the description of mixed dates includes."""


@dataclass(frozen=True, slots=True)
class ConflictingStatement:
    """A statement about the order of two documents that another kind of evidence contradicts.

    Attributes:
        evidence_kind: the kind of evidence that the statement is based on.
        later: name of the later document.
        earlier: name of the earlier document.
        later_label: date or version of the later document, for display.
        earlier_label: date or version of the earlier document, for display.
        hides_newest: whether the newest version is unknown because of this statement. The newest version remains known
            if a file time contradicts a modification date or a commit.
        later_copy: name of the copy that has the date of the later document; empty if the document itself has it.
        earlier_copy: name of the copy that has the date of the earlier document; empty if the document itself has it.
    """

    evidence_kind: EvidenceKind
    later: str
    earlier: str
    later_label: str
    earlier_label: str
    hides_newest: bool = True
    later_copy: str = ""
    earlier_copy: str = ""

    def __str__(self) -> str:
        later = _describe_document(self.later, self.later_label, self.later_copy)
        earlier = _describe_document(self.earlier, self.earlier_label, self.earlier_copy)
        ignored = (
            "" if self.hides_newest else "; this does not count, because copying a file changes its modification time"
        )
        return f"by the {_DESCRIPTIONS[self.evidence_kind]}, {later} is newer than {earlier}{ignored}"


@dataclass(frozen=True, slots=True)
class UndecidedVersions:
    """Two versions, if no evidence that counts shows which of them is newer.

    Attributes:
        later: name of the unordered version, if there is one. Otherwise of the version that is later by file time, or
            else in the timeline.
        earlier: name of the other version.
        dated: name of the only version with a date other than a file time, if file times show which one is later. Such
            file times do not count. Otherwise None.
        newest_evidence_kinds: the kinds of evidence that show that `earlier` is newer than all documents in the order.
            `later` is then an unordered document that may be newer. Otherwise empty.
        dated_label: the date of `dated`, for display; None if `dated` is None.
    """

    later: str
    earlier: str
    dated: str | None
    newest_evidence_kinds: tuple[EvidenceKind, ...] = ()
    dated_label: str | None = None

    def __str__(self) -> str:
        later, earlier = (printable(name) or "the text" for name in (self.later, self.earlier))
        if self.newest_evidence_kinds:
            kinds = describe_evidence_kinds(self.newest_evidence_kinds)
            return (
                f"{earlier} is the newest of the ordered documents, by the {kinds}. {later} could not be ordered and "
                "may be newer"
            )
        if self.dated is None:
            return f"no evidence shows whether {later} or {earlier} is newer"
        dated, other = (later, earlier) if self.dated == self.later else (earlier, later)
        return (
            f"{dated} has a date of its own, {self.dated_label}. {other} has only a modification time, which may be "
            "the time of copying"
        )


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order of documents in time.

    Attributes:
        order: indices of the dated documents, the oldest first.
        unordered: indices of the documents without a date or version that can be compared, if at least half of the
            documents have one. A file's modification time counts as a date only if fewer than half have another date or
            a version. They are sorted by their `dates`, those without a date first.
        evidence_kind: the kind of evidence that the order is based on.
        is_certain: whether the evidence determines the whole order and does not contradict itself.
        newest: index of the newest document; None if the evidence does not determine it or is contradictory.
        conflicting_statements: contradicting statements, two per contradiction.
        reason: what the order is based on, as a phrase for display.
        dates: date of each document, from the kind of evidence that the order is based on. If the document has no such
            date, its best date, or None.
        have_equal_texts: whether all documents have the same `DateSources.text_hash`, and no evidence shows which of
            them is newer.
        newest_without_file_times: index of the document that would be the newest if the modification times of the files
            were ignored; None if the newest document would then be unknown.
        newest_evidence_kinds: the kinds of evidence that show that the newest document is later than the other ones.
        decisive: indices of the documents whose places in the order are based on their `dates`.
        undecided: two documents because of which the newest document is unknown; None if it is known, or unknown
            because the evidence is contradictory.
        date_copies: for each document that does not have its date in `dates` itself, the name of the document with the
            same text that has it.
        newest_in_order: index of the newest document if the unordered ones are ignored; None if it is then unknown.
    """

    order: tuple[int, ...]
    unordered: tuple[int, ...]
    evidence_kind: EvidenceKind
    is_certain: bool
    newest: int | None
    conflicting_statements: tuple[ConflictingStatement, ...]
    reason: str
    dates: tuple[DocumentDate | None, ...]
    have_equal_texts: bool
    newest_without_file_times: int | None
    newest_evidence_kinds: tuple[EvidenceKind, ...] = ()
    decisive: frozenset[int] = frozenset()
    undecided: UndecidedVersions | None = None
    date_copies: Mapping[int, str] = field(default_factory=dict)
    newest_in_order: int | None = None


def add_times(dates: Sequence[DocumentDate | None]) -> tuple[DocumentDate | None, ...]:
    """Add the time of day to the labels of dates that are of one day and differ: `12 Mar 2021 10:15 UTC`.

    Seconds are added if the minutes do not show all differences. File times that count as equal remain without times.
    """
    dates_by_day: dict[str, list[DocumentDate]] = defaultdict(list)
    for date in dates:
        if date and date.iso and "T" in date.iso:
            dates_by_day[date.label].append(date)
    lengths = {day: _count_time_characters(of_day) for day, of_day in dates_by_day.items()}
    return tuple(date and _add_time(date, lengths.get(date.label, 0)) for date in dates)


def _count_time_characters(dates: Sequence[DocumentDate]) -> int:
    """Return how many characters of the times of one day are shown: 0, 5 (`10:15`) or 8 (`10:15:02`)."""
    times = {date.iso[11:-1] for date in dates if date.iso}
    file_times = [date.key[0] for date in dates if date.evidence_kind == "modification time"]
    are_equal = len(file_times) == len(dates) and (
        max(file_times) - min(file_times) < MIN_MTIME_DIFFERENCE_SECONDS * 10**9  # type: ignore[operator,type-var]
    )
    if len(times) < 2 or are_equal:
        return 0
    return 5 if len({time[:5] for time in times}) == len(times) else 8


def _add_time(date: DocumentDate, length: int) -> DocumentDate:
    if not length or not date.iso or "T" not in date.iso:
        return date
    return date._replace(label=f"{date.label} {date.iso[11 : 11 + length]} UTC")


def describe_evidence_kinds(kinds: Sequence[EvidenceKind]) -> str:
    """Return a description of several kinds of evidence for display. It names no source twice."""
    if "mixed dates" in kinds:
        kinds = [kind for kind in kinds if kind not in _KINDS_OF_MIXED_DATES]
    elif len(of_metadata := [kind for kind in kinds if kind in METADATA_KINDS]) > 1:
        kinds = ["date" if kind == of_metadata[0] else kind for kind in kinds if kind not in of_metadata[1:]]
    descriptions = [_DESCRIPTIONS[kind] for kind in kinds if kind != "version" or "name" not in kinds]
    if {"name", "version"} <= set(kinds):
        descriptions[descriptions.index(_DESCRIPTIONS["name"])] = "dates and versions in the names"
    *others, last = descriptions
    comma = "," if len(others) > 1 or any(" or " in description for description in others) else ""
    return f"{', the '.join(others)}{comma} and the {last}" if others else last


def describe_order(kind: EvidenceKind, guessed_dates: Sequence[DocumentDate | None], *, have_equal_texts: bool) -> str:
    """Return a description of the evidence for an order, and of the documents whose order is a guess.

    `guessed_dates` has the date of each of these documents for display.
    """
    if have_equal_texts:
        return "all versions have the same words and punctuation"
    if kind == "texts":
        return "no evidence shows which is newer"
    if not guessed_dates:
        return f"by the {_DESCRIPTIONS[kind]}"
    # Documents with the same version, or with the same text, may have different dates.
    counts = Counter(date and date.label for date in guessed_dates)
    same_date = " with the same date" if None not in counts and 1 not in counts.values() else ""
    documents = format_count(len(guessed_dates), "document")
    return f"by the {_DESCRIPTIONS[kind]}; the order of {documents}{same_date} is a guess"


def _describe_document(name: str, label: str, copy: str) -> str:
    """Return the name and the date of a document, and the copy that has the date, if any."""
    # Only a version can have an empty label: that of a name without a version, next to a draft.
    date = f"{label or 'no version'}, from its copy {copy}" if copy else label or "no version"
    return f"{printable(name) or 'the text'} ({printable(date)})"
