"""Orders documents by preference. The first document of a group is its kept document."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import NamedTuple, cast

import numpy as np

from simdoc_search.documents import MetadataValue
from simdoc_search.duplicates.arrays import Bools, Ints
from simdoc_search.duplicates.copy_names import ARCHIVE_MEMBER_PENALTY, count_copy_names
from simdoc_search.duplicates.field_values import encode_values, field_of_rule, prefers_largest, rank_values
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.passages.dates import Date, format_day
from simdoc_search.passages.exact_overlap import MeasureName
from simdoc_search.stores.record import Record
from simdoc_search.versions.evidence import DateEvidence, DateSources, date_written
from simdoc_search.versions.metadata_dates import DATE_FIELDS
from simdoc_search.versions.names import find_date_in_name, find_version_in_name

KEEP_RULES = ("longest", "first", "newest", "oldest")

_NANOSECONDS_PER_DAY = 86_400 * 10**9


@dataclass(frozen=True, slots=True, eq=False)
class KeepCriteria:
    """The properties of documents that the order depends on. Arrays have one value per document."""

    id_of: Callable[[int], str]  # returns the id of a document by its index
    path_of: Callable[[int], str]  # returns the path of a document's file by its index, or the id if it has no file
    shingle_counts: Ints  # number of distinct shingles; int64
    same_word_counts: Ints  # number of documents with the same words, including the document itself; int64
    same_text_counts: Ints  # number of documents with the same text, including the document itself; int64
    written_ns: Ints  # when the text was written, in nanoseconds; 0 if unknown or not needed
    field_values: Sequence[MetadataValue | None]  # values of the metadata field of the rule; empty if the rule has none
    is_new: Bools  # whether the document is new; new documents come last
    is_preferred: Bools  # whether the document is kept even if the rule prefers another one
    mtimes: Ints | None = None  # modification times of the files in nanoseconds; 0 if unknown
    first_mtimes: Ints | None = None  # the earliest of `mtimes` of the documents with the same words, for date rules


@dataclass(frozen=True, slots=True)
class KeepRule:
    """The rule that chooses the kept document of a group.

    | Rule | The kept document |
    |---|---|
    | `longest` | has the most copies with the same words; of such documents, it has the most distinct shingles |
    | `first` | has the first id in alphabetical order |
    | `newest`, `oldest` | has the text that was written last or first |
    | `max:FIELD`, `min:FIELD` | has the largest or smallest value of a field; see `field_values` |

    `longest` prefers texts with many copies, so that one edited copy does not replace all others. With the measures
    `containment` and `reverse_containment`, it only uses the length, because the longer document must come first.

    A copy without a date in its metadata or name gets a date from the documents with the same text: the earliest one
    in their metadata or names, or else their earliest file time. A PDF without a date in its name gets the date of a
    file of another format with the same words, if that date is earlier. Documents without a date or without the field
    come last. Ties are broken by these criteria, in this order:

    1. a file outside archives and e-mails
    2. with `longest`, more copies with the same text
    3. fewer names in the path that look like the name of a copy, or of a folder for copies, downloads or old files
    4. with `newest` and `oldest`, a later or earlier day of the first file with the same words
    5. an earlier day on which the file was modified
    6. more distinct shingles
    7. a shorter id
    8. the id that comes first in alphabetical order

    Raises:
        QuerySyntaxError: the rule does not exist.
    """

    rule: str = "longest"
    measure: MeasureName = "jaccard"

    def __post_init__(self) -> None:
        if self.rule not in KEEP_RULES and not self.field:
            raise QuerySyntaxError(
                f"keep must be one of {', '.join(KEEP_RULES)}, max:FIELD or min:FIELD, not {self.rule!r:.60}"
            )

    @property
    def is_by_date(self) -> bool:
        """Whether the rule uses the date on which a document was written."""
        return self.rule in ("newest", "oldest")

    @property
    def field(self) -> str | None:
        """The metadata field of the rule; None if the rule does not use one."""
        return field_of_rule(self.rule)

    @property
    def fields(self) -> Sequence[str]:
        """The fields that the rule reads from an index that simdoc-search did not create."""
        if self.is_by_date:
            return DATE_FIELDS
        return (self.field,) if self.field else ()

    def describe_conflict(self, kept: WrittenDocument, other: WrittenDocument) -> str:
        """Say why a duplicate may be better by the rule than the kept document; empty if there is no such reason.

        Each document has one date, which determines the order. Versions in names do not, because they order only the
        documents whose names are equal otherwise. Whether two dates can be compared depends on both names.
        """
        if not self.is_by_date:
            return ""
        if _compare_versions(kept.path, other.path) == (-1 if self.rule == "newest" else 1):
            return f"by the versions in the names, this one is {'newer' if self.rule == 'newest' else 'older'}"
        are_comparable = _are_dates_comparable(kept, other)
        return "" if are_comparable else "both names have the same date, so the dates do not show which is newer"

    def order(self, criteria: KeepCriteria) -> Ints:
        """Return the indices of the documents in keep order; int64, shape (documents,)."""
        by_rule = self._order_by_rule(criteria)
        order: Ints = by_rule[np.lexsort((~criteria.is_preferred[by_rule], criteria.is_new[by_rule]))]
        return order

    def _order_by_rule(self, criteria: KeepCriteria) -> Ints:
        by_id = np.array(sorted(range(len(criteria.shingle_counts)), key=criteria.id_of), np.int64)
        if self.rule == "first":
            return by_id
        path_ranks, copy_name_counts = _rank_by_path(by_id, criteria)
        if self.field:
            return np.lexsort((path_ranks, self._rank_values(criteria.field_values)))
        if self.rule == "longest":
            is_member = copy_name_counts >= ARCHIVE_MEMBER_PENALTY
            by_length = (path_ranks, -criteria.same_text_counts, is_member, -criteria.shingle_counts)
            return np.lexsort((*by_length, -criteria.same_word_counts) if self.measure == "jaccard" else by_length)
        sign = -1 if self.rule == "newest" else 1
        first_mtimes = np.zeros_like(path_ranks) if criteria.first_mtimes is None else criteria.first_mtimes
        by_day = (path_ranks, sign * (first_mtimes // _NANOSECONDS_PER_DAY), first_mtimes == 0, copy_name_counts)
        return np.lexsort((*by_day, sign * criteria.written_ns, criteria.written_ns == 0))

    def _rank_values(self, values: Sequence[MetadataValue | None]) -> Ints:
        """Return the rank of each value. Equal values have equal ranks."""
        kinds, numbers, strings = encode_values(values)
        _, string_ranks = np.unique(np.array(strings, object), return_inverse=True)
        return rank_values(kinds, numbers, string_ranks, largest_first=prefers_largest(self.rule))


def _compare_versions(a: str, b: str) -> int | None:
    """Return 1 if the name `a` has the later version, -1 if `b` has it, 0 if they are equal, None if it is unknown.

    Numbers of versions are also compared if one name has other words in addition, as `report v1 export` and `report v2`
    do. Only names of similar documents are compared here.
    """
    if order := DateEvidence([DateSources(a), DateSources(b)]).compare("version", 0, 1):
        return order
    first, second = find_version_in_name(a), find_version_in_name(b)
    words, other_words = ({*re.findall(r"\w+", version.stem)} for version in (first, second))
    if not (words <= other_words or other_words <= words) or first.is_bare or second.is_bare:
        return None
    x, y = first.key, second.key
    return (x > y) - (x < y) if first.is_numbered and second.is_numbered else None


def _are_dates_comparable(kept: WrittenDocument, other: WrittenDocument) -> bool:
    """Return whether the dates of two documents can be compared.

    A date in the metadata of one cannot be compared with the date in the name of the other if both names have that
    date.
    """
    if kept.has_date_of_name == other.has_date_of_name or not (kept.written.part_count and other.written.part_count):
        return True
    evidence = DateEvidence(
        [
            DateSources(document.path, {} if document.has_date_of_name else {"modified": format_day(*document.written)})
            for document in (kept, other)
        ]
    )
    return evidence.compare("mixed dates", 0, 1) is not None


class TimeWritten(NamedTuple):
    """The date of `date_written` as a time.

    Attributes:
        ns: the time in nanoseconds since 1970; 0 if there is no date. A day, month or year is converted to the time
            when it begins.
        part_count: how precise the date in the metadata or name is: 1 for a year, 2 for a month, 3 for a day, more for
            a time. 0 for the modification time of a file.
    """

    ns: int = 0
    part_count: int = 0

    @classmethod
    def from_date(cls, date: Date) -> TimeWritten:
        """Return a date as a time."""
        written = datetime(*(*date, 1, 1)[: max(3, len(date))], tzinfo=timezone.utc)  # type: ignore[misc,arg-type]
        return cls(int(written.timestamp()) * 10**9, len(date))


class WrittenDocument(NamedTuple):
    """The path of a document, and when it was written."""

    path: str
    written: TimeWritten

    @property
    def has_date_of_name(self) -> bool:
        """Whether the document was written on the date in its name."""
        date = find_date_in_name(self.path)
        return date is not None and TimeWritten.from_date(date) == self.written


def time_written(record: Record) -> TimeWritten:
    """Return the date of `date_written` as a time."""
    dated = date_written(record)
    if dated is None or dated.evidence_kind == "modification time":
        return TimeWritten(record.origin.mtime_ns if dated and record.origin else 0)
    return TimeWritten.from_date(cast("Date", dated.key))


def may_be_export(record: Record) -> bool:
    """Return whether a document is a PDF without a date in its name. Its date may only be the time of the export."""
    return record.path.lower().endswith(".pdf") and find_date_in_name(record.path) is None


def find_dated_documents(
    text_labels: Ints, same_words_labels: Ints, written_ns: Ints, part_counts: Ints, may_be_export: Bools
) -> Ints:
    """For each document, return the index of the document whose date is used for it.

    If a document has a date in its metadata or name, its own date is used. Copying a file changes its time. So a
    document without such a date gets the date of its text: the earliest one in the metadata or names of documents with
    the same text, or else the earliest file time.

    The text of a PDF has other spaces than that of the file from which the PDF was exported. So a PDF gets the earliest
    date of the other files with the same words, if this date is earlier than that of the PDF.
    """
    of_texts = _first_of_label(text_labels, written_ns, part_counts == 0, written_ns == 0)
    dated = np.where(part_counts > 0, np.arange(len(text_labels)), of_texts)
    dates = written_ns[dated]
    sources = _first_of_label(same_words_labels, dates, part_counts[dated] == 0, dates == 0, may_be_export)
    is_earlier = (dates[sources] > 0) & ((dates[sources] < dates) | (dates == 0))
    return np.where(may_be_export & ~may_be_export[sources] & is_earlier, dated[sources], dated)


def find_first_mtimes(same_words_labels: Ints, mtimes: Ints) -> Ints:
    """For each document, return the earliest modification time of the documents with the same words; 0 if unknown."""
    first_mtimes: Ints = mtimes[_first_of_label(same_words_labels, mtimes, mtimes == 0)]
    return first_mtimes


def _first_of_label(labels: Ints, *criteria: Ints | Bools) -> Ints:
    """For each document, return the index of the first document with its label. The last criterion counts most."""
    order = np.lexsort((*criteria, labels))
    unique_labels, begins = np.unique(labels[order], return_index=True)
    first: Ints = order[begins][np.searchsorted(unique_labels, labels)]
    return first


def _rank_by_path(by_id: Ints, criteria: KeepCriteria) -> tuple[Ints, Ints]:
    """Return the rank of each document, and the result of `count_copy_names`.

    Documents are ranked by `count_copy_names`, then by the days on which their files were modified, then by the length
    of their texts, then by the length of their ids, then by their ids.
    """
    numbers = by_id.tolist()
    counts_and_lengths = np.fromiter(
        (count_copy_names(criteria.path_of(number)) << 32 | len(criteria.id_of(number)) for number in numbers),
        np.int64,
        len(by_id),
    )
    mtimes = np.zeros(len(by_id), np.int64) if criteria.mtimes is None else criteria.mtimes[by_id]
    days = mtimes // _NANOSECONDS_PER_DAY
    ranks = np.empty(len(by_id), np.int64)
    copy_name_counts, id_lengths = counts_and_lengths >> 32, counts_and_lengths & 0xFFFFFFFF
    lengths = -criteria.shingle_counts[by_id]
    ranks[by_id[np.lexsort((id_lengths, lengths, days, mtimes == 0, copy_name_counts))]] = np.arange(len(by_id))
    counts = np.empty_like(ranks)
    counts[by_id] = copy_name_counts
    return ranks, counts
