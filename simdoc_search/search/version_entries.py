"""The entries of the timeline of `versions`, with the changes from each version to the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from simdoc_search.corpus.formats import remove_mail_headers
from simdoc_search.display import format_count, printable
from simdoc_search.documents import DocumentKey
from simdoc_search.passages.align import align_words
from simdoc_search.passages.compare import find_text_changes
from simdoc_search.passages.dates import Date, find_latest_day
from simdoc_search.passages.row_descriptions import describe_moved_cells
from simdoc_search.passages.summary import describe_difference
from simdoc_search.passages.typography import locate_unified_words
from simdoc_search.passages.word_spans import different_mask
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.stored_texts import (
    AnalysedText,
    read_texts,
    split_into_batches,
)
from simdoc_search.search.version_order import (
    VersionChanges,
    VersionEntry,
)
from simdoc_search.search.version_result import VersionHit
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, has_text_changed
from simdoc_search.versions import (
    SentenceMatches,
    Timeline,
    match_sentences,
    order_by_texts,
)

_MAX_DESCRIBED_DIFFERENCES = 3


@dataclass(frozen=True, slots=True)
class FoundVersion:
    """A version of the query document: its record without the text, its sentences, their matches, and its score."""

    record: Record
    simhashes: Simhashes
    matches: SentenceMatches
    score: float


def make_date_attributes(timeline: Timeline, number: int) -> dict[str, Any]:
    """Return the attributes of `VersionEntry` that describe its date."""
    return {
        "date": timeline.dates[number],
        "date_determines_order": number in timeline.decisive,
        "date_copy": timeline.date_copies.get(number, ""),
    }


class QueryFamily:
    """The query document and its versions. The query document has the index 0, and the versions have indices from 1."""

    def __init__(
        self, store: Store, document: QueryDocument, versions: Sequence[FoundVersion], max_distance: int
    ) -> None:
        self._store, self._document, self._versions, self._max_distance = store, document, versions, max_distance
        self._names = [document.name, *(version.record.id for version in versions)]
        self._simhashes = [document.sentence_simhashes, *(version.simhashes for version in versions)]

    def make_hit(self, number: int, entry: VersionEntry, records: dict[DocumentKey, Record]) -> VersionHit:
        """Return the hit of a version."""
        version = self._versions[number - 1]
        key, matched = version.record.key, version.matches
        changed = key in records and has_text_changed(records[key])
        shares = matched.share, matched.share_of_other
        return VersionHit(key, version.score, *shares, len(version.simhashes), matched, entry, changed)

    def make_entries(
        self, timeline: Timeline, shown_numbers: set[int], records: dict[DocumentKey, Record]
    ) -> dict[int, VersionEntry]:
        """Return the entries of the shown documents. Dated entries have the changes since the previous dated entry."""
        entries = {number: self._make_entry(number, timeline, None) for number in shown_numbers}
        order = [number for number in timeline.order if number in shown_numbers]
        texts = {number: self._analyse(number, records) for number in order}
        for previous, number in pairwise(order):
            matched = match_sentences(self._simhashes[previous], self._simhashes[number], self._max_distance)
            changes = find_changes(texts[previous], texts[number], max(matched.share, matched.share_of_other))
            entries[number] = self._make_entry(number, timeline, changes)
        return entries

    def _make_entry(self, number: int, timeline: Timeline, changes: VersionChanges | None) -> VersionEntry:
        key = self._versions[number - 1].record.key if number else self._document.key
        dated = make_date_attributes(timeline, number)
        return VersionEntry(self._names[number], key, not number, changes=changes, **dated)

    def _analyse(self, number: int, records: dict[DocumentKey, Record]) -> AnalysedText | None:
        """Return the text of a document, without the headers of an e-mail: those of a reply are never the same."""
        record = records.get(self._versions[number - 1].record.key) if number else self._document.record
        if record is None or record.text is None:
            return None
        text = remove_mail_headers(record.text, record.path)
        return AnalysedText(text, locate_unified_words(text, self._store.settings.analysis))

    def propose_order(self, numbers: Sequence[int]) -> list[int]:
        """Return a likely order of documents. It is based on their sentences and the dates in their texts."""
        dates = self._read_latest_dates(numbers)
        order = order_by_texts([self._simhashes[number] for number in numbers], dates)
        return [numbers[position] for position in order]

    def _read_latest_dates(self, numbers: Sequence[int]) -> list[Date | None]:
        keys = {number: self._versions[number - 1].record.key for number in numbers if number}
        dates: dict[DocumentKey, Date | None] = {}
        for batch in split_into_batches(keys.values()):
            dates |= {key: find_latest_day(text) for key, text in read_texts(self._store, batch).items()}
        return [dates.get(keys[number]) if number else find_latest_day(self._document.text or "") for number in numbers]


def find_changes(old: AnalysedText | None, new: AnalysedText | None, share: float) -> VersionChanges:
    """Return the changes between two versions.

    A replaced word counts as both added and removed. A moved word counts as neither.
    """
    if old is None or new is None:
        return VersionChanges(share)
    words = old.words, new.words
    changes = find_text_changes((old.text, new.text), words, align_words(*words))
    added = different_mask(new.words, changes.differences, in_second_text=True)
    removed = different_mask(old.words, changes.differences)
    lines: list[str] = []
    if not changes.significant_changes:
        described = changes.differences[:_MAX_DESCRIBED_DIFFERENCES]
        rows = changes.row_differences[:_MAX_DESCRIBED_DIFFERENCES]
        lines = [describe_difference(difference, old.text, new.text) for difference in described]
        lines += map(describe_moved_cells, rows)
        more = len(changes.differences) - len(described) + len(changes.row_differences) - len(rows)
        lines += [f"and {format_count(more, 'more change')}"] * (more > 0)
    kinds = {difference.kind for difference in changes.character_differences}
    return VersionChanges(
        share,
        int(added.sum()),
        int(removed.sum()),
        tuple(changes.significant_changes),
        tuple(map(printable, lines)),
        has_moved_cells=bool(changes.row_differences),
        has_other_symbols="symbols" in kinds,
        has_other_letters="letters" in kinds,
    )
