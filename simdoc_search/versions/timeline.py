"""The order of documents in time, and the descriptions of the evidence for it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simdoc_search.display import format_count, printable
from simdoc_search.versions.evidence import DocumentDate, EvidenceKind

_DESCRIPTIONS: Mapping[EvidenceKind, str] = {
    "modified": "modification dates in the metadata",
    "date": "dates in the metadata",
    "name": "dates in the names",
    "version": "versions in the names",
    "version control": "dates of the last commits, or modification times of files that changed after their last commit",
    "mixed dates": "dates in the metadata, names or commits",
    "created": "modification or creation dates in the metadata",
    "modification time": "modification times of the files",
    "texts": "texts alone",
}


class OrderStatement(NamedTuple):
    """A statement about two documents that another kind of evidence contradicts.

    Attributes:
        evidence_kind: the kind of evidence that the statement is based on.
        later: index of the document that is later according to this evidence.
        earlier: index of the document that is earlier according to this evidence.
        labels: the dates of both documents, formatted for display.
        dated_documents: indices of the documents that have these dates: `later` and `earlier`, or documents with the
            same texts.
        hides_newest: whether the newest document is unknown because of this statement. The newest document
            remains known if a file time contradicts a modification date or a commit.
    """

    evidence_kind: EvidenceKind
    later: int
    earlier: int
    labels: tuple[str, str]
    dated_documents: tuple[int, int]
    hides_newest: bool = True


class UndecidedPair(NamedTuple):
    """Two documents of which no evidence that counts shows which is newer.

    Attributes:
        later: index of the document that is later by file time, or else in the order.
        earlier: index of the other document.
        dated: index of the only document with a date other than a file time, if file times show which one is later.
            Such file times do not count. None if no evidence shows which one is later.
    """

    later: int
    earlier: int
    dated: int | None


@dataclass(frozen=True, slots=True)
class Timeline:
    """The order of documents in time.

    Attributes:
        order: indices of the dated documents, the oldest first.
        unordered: indices of the documents without a date or version that can be compared, if at least half of the
            documents have one. A file's modification time counts as a date only if fewer than half have another date or
            a version.
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
    """

    order: tuple[int, ...]
    unordered: tuple[int, ...]
    evidence_kind: EvidenceKind
    is_certain: bool
    newest: int | None
    conflicting_statements: tuple[OrderStatement, ...]
    reason: str
    dates: tuple[DocumentDate | None, ...]
    have_equal_texts: bool
    newest_without_file_times: int | None
    newest_evidence_kinds: tuple[EvidenceKind, ...] = ()
    decisive: frozenset[int] = frozenset()
    undecided: UndecidedPair | None = None


def describe_date(label: str, copy: str) -> str:
    """Return the date of a document for display. `copy` is the name of the copy that has the date, or empty."""
    return printable(f"{label}, the date of its copy {copy}" if copy else label)


def describe_evidence_kind(kind: EvidenceKind) -> str:
    """Return a description of a kind of evidence for display."""
    return _DESCRIPTIONS[kind]


def describe_evidence_kinds(kinds: Sequence[EvidenceKind]) -> str:
    """Return a description of several kinds of evidence for display."""
    *others, last = (_DESCRIPTIONS[kind] for kind in kinds)
    return f"{', '.join(others)} and the {last}" if others else last


def describe_unordered_count(count: int) -> str:
    """Say that this number of documents, whose place in the order is unknown, may be newer than the newest one."""
    return f"{format_count(count, 'document')} that could not be ordered may be newer"


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
