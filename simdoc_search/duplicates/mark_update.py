"""Updates the marks in the documents of an engine, so that they match the groups of a search for duplicates.

A mark consists of the fields `simdoc.duplicate_of` and `simdoc.cluster`. It says which document is kept instead.

The first pass updates all documents that are not duplicates. The second pass marks the duplicates. So the old mark of a
kept document is replaced before other documents are marked as duplicates of it. Even if a run is interrupted, a search
that hides marked duplicates still shows one document of each group.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import numpy as np

from simdoc_search.batches import split_by_count
from simdoc_search.duplicates.arrays import Ints, slices
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.finder import Progress
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.bulk import ActionOutcome
from simdoc_search.stores.remote.marks import Mark, Marks, open_marks
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.updates import CONFLICT, NOT_FOUND, TOO_MANY_CONFLICTS

_DOCUMENTS_AT_ONCE = 500
_FORBIDDEN = 403
_MAX_REASONS = 5


@dataclass(slots=True)
class MarkReport:
    """How many documents were marked, and how many were not. Each document is counted at most once.

    Attributes:
        marked_count: number of documents that got a new mark.
        removed_count: number of documents whose mark was removed, because they are not in a group.
        unchanged_count: number of documents that already had the correct mark.
        skipped_count: number of documents that changed or were deleted after the comparison, or whose kept document
            changed or was deleted. They have no mark until the next run.
        refused_count: number of updates that the engine refused.
        refusal_reasons: the reasons of the first 5 refused updates, by the id of the document.
    """

    marked_count: int = 0
    removed_count: int = 0
    unchanged_count: int = 0
    skipped_count: int = 0
    refused_count: int = 0
    refusal_reasons: dict[str, str] = field(default_factory=dict)


def mark_duplicates(
    store: Store, duplicates: Duplicates, *, progress: Progress = lambda _stage, _share: None
) -> MarkReport:
    """Update the marks in a store to match the groups found in it; see `SimilaritySearch.mark_duplicates`."""
    if duplicates.new_document_count < duplicates.document_count:
        raise StoreError(
            "cannot mark duplicates, because only new documents were compared; omit `since` and `new_ids` to compare "
            "all documents"
        )
    return _MarkUpdate(duplicates, open_marks(store), progress).run()


def read_kept_ids(store: Store) -> Iterator[str]:
    """Yield the ids of the documents that are kept according to the marks; see `SimilaritySearch.read_kept_ids`."""
    marks = open_marks(store)
    for hit in marks.find_marked_documents():
        mark = marks.read_mark(hit)
        if mark.cluster and not mark.duplicate_of:
            yield marks.key_of(hit).id


class _MarkUpdate:
    def __init__(self, duplicates: Duplicates, marks: Marks, progress: Progress) -> None:
        self._groups = duplicates.membership()
        self._marks = marks
        self._progress = progress
        self._report = MarkReport()
        self._is_done = np.zeros(len(self._groups), bool)
        self._changed_kept: set[int] = set()  # kept documents that changed or were deleted after the comparison
        # clusters with a marked duplicate that the filters of the comparison exclude
        self._filtered_clusters: set[str] = set()

    def run(self) -> MarkReport:
        for hit in self._marks.find_marked_documents():
            mark = self._marks.read_mark(hit)
            if mark.duplicate_of and mark.cluster and self._compute_correct_mark(hit) is None:
                self._filtered_clusters.add(mark.cluster)
        for hits in split_by_count(self._marks.find_marked_documents(), _DOCUMENTS_AT_ONCE):
            self._count_outcomes(self._marks.write(hits, self._choose_mark_in_first_pass))
        self._mark_duplicates(self._groups.members[~self._is_done[self._groups.members]])
        self._marks.refresh()
        return self._report

    def _mark_duplicates(self, members: Ints) -> None:
        """Write the marks of a batch of documents in another thread, while this thread reads the next batch."""
        writer, writing = ThreadPoolExecutor(1, "simdoc-marks"), deque[tuple[int, Future[None]]]()

        def wait_for_one() -> None:
            end, written = writing.popleft()
            written.result()
            self._progress("marking", min(1.0, end / len(members)))

        try:
            for part in slices(len(members), _DOCUMENTS_AT_ONCE):
                writing.append((part.stop, writer.submit(self._mark_batch, *self._read_batch(members[part]))))
                if len(writing) > 1:
                    wait_for_one()
            while writing:
                wait_for_one()
        except BaseException:
            self._marks.stop()
            raise
        finally:
            writer.shutdown(cancel_futures=True)

    def _read_batch(self, document_numbers: Ints) -> tuple[list[RawHit], int]:
        """Read documents from the store. Return those that exist, and the number of those that do not.

        `document_numbers` contains their indices in the comparison. Kept documents that changed are recorded.
        """
        number_by_key = {self._groups.documents.key(number): number for number in document_numbers.tolist()}
        hits = self._marks.read_documents(number_by_key)
        unchanged = {number_by_key[self._marks.key_of(hit)] for hit in hits if self._has_same_text(hit)}
        kept = {number for number in number_by_key.values() if self._groups.find_kept(number) == number}
        self._changed_kept |= kept - unchanged
        return hits, len(number_by_key) - len(hits)

    def _mark_batch(self, hits: list[RawHit], missing_count: int) -> None:
        self._report.skipped_count += missing_count
        self._count_outcomes(self._marks.write(hits, self._choose_mark_in_second_pass, write_unchanged=True))

    def _choose_mark_in_first_pass(self, hit: RawHit) -> Mark | None:
        """Return the mark to write if the document is not a duplicate; None leaves the document unchanged."""
        mark = self._compute_correct_mark(hit)
        is_correct = mark == self._marks.read_mark(hit)
        if mark is None or (mark.duplicate_of and not is_correct):
            return None
        number = self._groups.find_document_number(self._marks.key_of(hit))
        if number is not None:
            self._is_done[number] = True
        self._report.unchanged_count += is_correct
        return None if is_correct else mark

    def _choose_mark_in_second_pass(self, hit: RawHit) -> Mark | None:
        """Return the mark to write to a document of a group; None leaves the document unchanged."""
        if (mark := self._compute_correct_mark(hit)) or self._marks.read_mark(hit):
            return mark or Mark()
        self._report.skipped_count += 1
        return None

    def _compute_correct_mark(self, hit: RawHit) -> Mark | None:
        """Return the mark that a document must have, which may be empty; None if the document was not compared."""
        key = self._marks.key_of(hit)
        number = self._groups.find_document_number(key)
        if number is None:
            return Mark() if key in self._groups.documents.left_out else None
        kept, mark = self._groups.find_kept(number), self._marks.read_mark(hit)
        if kept is None:
            is_kept_for_others = not mark.duplicate_of and mark.cluster in self._filtered_clusters
            return mark if is_kept_for_others and self._has_same_text(hit) else Mark()
        if kept in self._changed_kept or not self._has_same_text(hit):
            return Mark()
        kept_key = self._groups.documents.key(kept)
        return Mark(None if kept == number else kept_key.id, self._marks.make_cluster_value(kept_key))

    def _is_in_group(self, hit: RawHit) -> bool:
        number = self._groups.find_document_number(self._marks.key_of(hit))
        return number is not None and self._groups.find_kept(number) is not None

    def _has_same_text(self, hit: RawHit) -> bool:
        """Return whether a document still has the text that was compared."""
        key, documents = self._marks.key_of(hit), self._groups.documents
        number = self._groups.find_document_number(key)
        if number is None or key in documents.left_out:
            return False
        return documents.has_text_hash(number, self._marks.read_text_hash(hit))

    def _count_outcomes(self, outcomes: Iterator[tuple[RawHit, ActionOutcome]]) -> None:
        report = self._report
        for hit, outcome in outcomes:
            if outcome.status == CONFLICT and outcome.error != TOO_MANY_CONFLICTS:
                continue  # the document has changed, so it is read and updated again
            if outcome.status == NOT_FOUND:
                report.skipped_count += 1
            elif outcome.status == _FORBIDDEN:
                index = outcome.index or hit["_index"]
                raise StoreError(
                    f"the index {index} denied the update ({outcome.reason}); allow writes to the index, then run the "
                    "command again"
                )
            elif outcome.error:
                report.refused_count += 1
                if len(report.refusal_reasons) < _MAX_REASONS:
                    report.refusal_reasons[hit["_id"]] = outcome.reason
            elif self._compute_correct_mark(hit):
                report.marked_count += 1
            elif self._is_in_group(hit):
                report.skipped_count += 1
            else:
                report.removed_count += 1
