"""Versions in order, and the evidence for the order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from simdoc_search.display import printable
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.copy_names import is_in_copy_folder
from simdoc_search.passages.passage import SignificantChange
from simdoc_search.passages.summary import describe_significant_changes, format_word_changes
from simdoc_search.versions import DocumentDate, EvidenceKind
from simdoc_search.versions.names import is_named_old
from simdoc_search.versions.timeline import (
    ConflictingStatement,
    UndecidedVersions,
    describe_evidence_kinds,
)

_TEXT_ORDER_HINT = (
    "This order is only a hint, because it is based on the texts alone. "
    "In our test, the last document was the newest in 48 of 60 families."
)

_DOUBT_OF_FILE_TIME = (
    "Its name or folder is that of a backup, a download or an old file, so this may be the time of copying"
)
_NOT_DECISIVE_MARK = "?"
_MIN_DATE_WIDTH = 12


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """The changes from one version of the timeline to the next.

    Attributes:
        share: the larger share of the two versions, 0..1. The share of a version is the fraction of its sentences that
            have a similar sentence in the other version.
        added_word_count: number of words that only the later version has; None if a text is not stored.
        removed_word_count: number of words that only the earlier version has; None if a text is not stored.
        significant_changes: changed negations, numbers, dates and names, in this order.
        word_change_lines: descriptions of the first three differences, if none of all differences is significant.
            Up to three rows of tables with words in other cells follow, and then the number of other changes.
        has_moved_cells: whether a row of a table has the same words in other cells.
        has_other_symbols: whether punctuation or symbols at equal words differ, such as the sign of a number.
        has_other_letters: whether equal words differ in letter case.
    """

    share: float
    added_word_count: int | None = None
    removed_word_count: int | None = None
    significant_changes: tuple[SignificantChange, ...] = ()
    word_change_lines: tuple[str, ...] = ()
    has_moved_cells: bool = False
    has_other_symbols: bool = False
    has_other_letters: bool = False

    @property
    def word_changes_label(self) -> str:
        """The numbers of added and removed words, or what else changed, for display; empty if they are not known."""
        if self.added_word_count is None:
            return ""
        if not (self.added_word_count or self.removed_word_count):
            kinds = {
                "cells": self.has_moved_cells,
                "symbols": self.has_other_symbols,
                "letter case": self.has_other_letters,
            }
            return ", ".join(kind for kind, has_changed in kinds.items() if has_changed) or "no words"
        return format_word_changes(self.added_word_count, self.removed_word_count or 0)

    @property
    def change_lines(self) -> list[str]:
        """A line for each significant change, or else for each of a few other changes.

        If some changes are not listed, the last line gives their number.
        """
        return describe_significant_changes(self.significant_changes) or list(self.word_change_lines)


@dataclass(frozen=True, slots=True)
class VersionEntry:
    """A version in the timeline.

    Attributes:
        name: the id of the document, or the name of a text that is not stored.
        key: the key of the document; None for a text.
        is_query: whether this is the query document.
        date: the date and its evidence; None if the version has no date.
        changes: the changes since the previous entry; None for the first entry.
        date_determines_order: whether the place in the order is based on the date.
        date_copy: name of the copy that has the date; empty if the version itself has it.
    """

    name: str
    key: DocumentKey | None
    is_query: bool
    date: DocumentDate | None
    changes: VersionChanges | None = None
    date_determines_order: bool = True
    date_copy: str = ""


@dataclass(frozen=True, kw_only=True)
class VersionOrder:
    """Versions in order, with the evidence. `VersionsResult` describes the attributes."""

    timeline: tuple[VersionEntry, ...]
    unordered: tuple[VersionEntry, ...]
    newest: VersionEntry | None
    evidence_kind: EvidenceKind
    is_certain: bool
    conflicting_statements: tuple[ConflictingStatement, ...]
    reason: str
    have_equal_texts: bool
    newest_without_file_times: VersionEntry | None
    newest_evidence_kinds: tuple[EvidenceKind, ...]
    undecided: UndecidedVersions | None

    @property
    def order_hint(self) -> str:
        """A warning that the order is only a guess; empty if it is based on evidence, or if the texts are equal."""
        return _TEXT_ORDER_HINT if self.evidence_kind == "texts" and not self.have_equal_texts else ""

    @property
    def contradictions(self) -> list[tuple[ConflictingStatement, ConflictingStatement]]:
        """The pairs of statements that contradict each other."""
        return list(zip(self.conflicting_statements[::2], self.conflicting_statements[1::2], strict=True))

    @property
    def question_mark_note(self) -> str:
        """A description of the question marks after dates; empty if there are none."""
        if any(self.date_label(entry).endswith(_NOT_DECISIVE_MARK) for entry in (*self.timeline, *self.unordered)):
            return f"dates and versions with {_NOT_DECISIVE_MARK} do not affect the order"
        return ""

    @property
    def order_description(self) -> str:
        """A description of the evidence for the order. It explains any question marks in the timeline."""
        return "; ".join(filter(None, (self.reason, self.question_mark_note)))

    @property
    def verdict(self) -> str:
        """A sentence that names the newest version, or says why it is not known."""
        if self.newest is not None:
            name = printable(self.newest.name) or "the text"
            kinds = self.newest_evidence_kinds
            path = self.newest.name
            is_doubtful = "modification time" in kinds and (is_in_copy_folder(path) or is_named_old(path))
            doubt = f". {_DOUBT_OF_FILE_TIME}" if is_doubtful else ""
            return f"newest: {name}, by the {describe_evidence_kinds(kinds)}{doubt}"
        if self.have_equal_texts:
            return "newest: none, because all versions have the same words and punctuation"
        if self.undecided is not None and (self.evidence_kind != "texts" or self.conflicting_statements):
            is_short = not (self.undecided.dated or self.undecided.newest_evidence_kinds)
            return f"newest: not known{', because' if is_short else '.'} {self.undecided}"
        if any(contrary.hides_newest for _, contrary in self.contradictions):
            by_others = self.newest_without_file_times
            name = "" if by_others is None else printable(by_others.name) or "the text"
            newest_of_rest = name and f". Without the modification times of the files, it is {name}"
            return f"newest: not known, because the evidence conflicts{newest_of_rest}"
        return "newest: not known, because no evidence shows which is newer"

    @property
    def date_width(self) -> int:
        """The width of a column of dates, in characters."""
        return max([_MIN_DATE_WIDTH, *(len(self.date_label(entry)) for entry in (*self.timeline, *self.unordered))])

    def date_label(self, entry: VersionEntry) -> str:
        """Return the date or version of an entry, for display. It ends with `?` if the order is not based on it."""
        if entry.date is None or not entry.date.label:
            return ""
        return f"{entry.date.label}{'' if entry.date_determines_order else _NOT_DECISIVE_MARK}"

    def describe_unknown_place(self, entry: VersionEntry) -> str:
        """Say why the place of an entry in the order is unknown; empty for an entry of the timeline."""
        if entry.key not in self._unordered_keys:
            return ""
        if not self.date_label(entry):
            return "no date or version"
        if entry.date is not None and entry.date.evidence_kind == "modification time":
            return "only its modification time is known"
        return "its date or version cannot be compared with the others"

    @cached_property
    def _unordered_keys(self) -> frozenset[DocumentKey | None]:
        return frozenset(entry.key for entry in self.unordered)

    def evidence_lines(self) -> Iterator[str]:
        """Yield the verdict, then two lines for each contradiction."""
        yield self.verdict
        yield from self.conflict_lines()

    def conflict_lines(self) -> Iterator[str]:
        """Yield two lines for each contradiction, one for each statement."""
        for statement, contrary in self.contradictions:
            yield f"conflict: {statement}"
            yield f"     but: {contrary}"


@dataclass(frozen=True, kw_only=True)
class VersionFamily(VersionOrder):
    """An ordered family of versions. Their texts are not compared, so the entries have no `changes`.

    If there is no evidence for an order, `evidence_kind` is `texts`, and the entries are sorted by their dates.
    `VersionsResult` describes the other inherited attributes.

    Attributes:
        pair_count: number of pairs of documents that are versions of each other.
        lowest_score: the lowest score of all pairs.
    """

    pair_count: int
    lowest_score: float

    @property
    def question_mark_note(self) -> str:
        """A description of the question marks after dates; empty if there are none."""
        if not super().question_mark_note:
            return ""
        return (
            f"a date or version with {_NOT_DECISIVE_MARK} does not show which document is newer. Documents with such "
            "dates are only sorted by them"
        )

    def select_newest_entries(self, max_count: int) -> list[VersionEntry]:
        """Return at most `max_count` entries: the last ones of the timeline, then entries of `unordered`.

        If there are more, `unordered` fills at most half of them.
        """
        count = max(max_count - len(self.unordered), max_count - max_count // 2)
        timeline = self.timeline[-count:]
        return [*timeline, *self.unordered[: max_count - len(timeline)]]
