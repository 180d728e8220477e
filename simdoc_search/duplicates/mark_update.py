"""Makes the marks in an engine's documents equal to groups. Stale marks are removed first, then missing ones are set.

Wherever a run is interrupted, no group is hidden as a whole: a document that is kept now has lost its mark before other
documents get a mark that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from simdoc_search.duplicates.arrays import slices
from simdoc_search.duplicates.duplicates_result import Duplicates
from simdoc_search.duplicates.finder import Progress
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.bulk import Outcome
from simdoc_search.stores.remote.marks import Mark, Marks, marks_of
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.updates import ALWAYS_CHANGED, CONFLICT, NOT_FOUND

_AT_ONCE = 500
_FORBIDDEN = 403
_MAX_REASONS = 5


@dataclass(slots=True)
class MarkReport:
    """Numbers of documents whose mark was or was not updated.

    Attributes:
        set: documents that got a mark, or another one.
        removed: documents that lost their mark because they are in no group.
        unchanged: documents that had the right mark.
        passed_over: documents that were changed or deleted since they were compared, or whose kept document was. They
            have no mark until the next run.
        refused: updates that the engine refused.
        reasons: id to reason, of the first of these.
    """

    set: int = 0
    removed: int = 0
    unchanged: int = 0
    passed_over: int = 0
    refused: int = 0
    reasons: dict[str, str] = field(default_factory=dict)


def mark_duplicates(store: Store, found: Duplicates, *, progress: Progress = lambda _stage, _share: None) -> MarkReport:
    """Make the marks in a store equal to the groups found in it; see `SimilaritySearch.mark_duplicates`."""
    if found.fresh < found.documents:
        raise StoreError("only new documents were compared; to mark, compare all documents")
    return _MarkUpdate(found, marks_of(store), progress).run()


def kept_by_marks(store: Store) -> Iterator[str]:
    """Yield the ids of the documents that marks name as kept; see `SimilaritySearch.kept_by_marks`."""
    marks = marks_of(store)
    for hit in marks.marked():
        mark = marks.mark_of(hit)
        if mark.cluster and not mark.duplicate_of:
            yield marks.place_of(hit).id


class _MarkUpdate:
    def __init__(self, found: Duplicates, marks: Marks, progress: Progress) -> None:
        self._groups = found.membership()
        self._marks = marks
        self._progress = progress
        self._report = MarkReport()
        self._is_done = np.zeros(len(self._groups), bool)
        self._lost: set[int] = set()  # kept documents that have another text now, or are gone
        self._other_clusters: set[str] = set()  # clusters of documents that a filter left out of the comparison

    def run(self) -> MarkReport:
        for hit in self._marks.marked():
            mark = self._marks.mark_of(hit)
            if mark.duplicate_of and mark.cluster and self._wanted(hit) is None:
                self._other_clusters.add(mark.cluster)
        for hits in _batches(self._marks.marked()):
            self._count(self._marks.write(hits, self._without_stale))
        left = self._groups.members[~self._is_done[self._groups.members]]
        for part in slices(len(left), _AT_ONCE):
            number_at = {self._groups.place(number): number for number in left[part].tolist()}
            hits = self._marks.at(number_at)
            self._report.passed_over += len(number_at) - len(hits)
            unchanged = {number_at[self._marks.place_of(hit)] for hit in hits if self._has_same_text(hit)}
            self._lost |= {number for number in number_at.values() if self._groups.group(number) == number} - unchanged
            self._count(self._marks.write(hits, self._missing, anew=True))
            self._progress("marking", min(1.0, part.stop / len(left)))
        self._marks.refresh()
        return self._report

    def _without_stale(self, hit: RawHit) -> Mark | None:
        """Return the mark to write first: none of a duplicate that is not right yet; None: leave it unchanged."""
        wanted = self._wanted(hit)
        is_right = wanted == self._marks.mark_of(hit)
        if wanted is None or (wanted.duplicate_of and not is_right):
            return None
        number = self._groups.number(self._marks.place_of(hit))
        if number is not None:
            self._is_done[number] = True
        self._report.unchanged += is_right
        return None if is_right else wanted

    def _missing(self, hit: RawHit) -> Mark | None:
        """Return the mark to write at last: all that were not right; None: leave it unchanged."""
        if wanted := self._wanted(hit):
            return wanted
        self._report.passed_over += 1
        return Mark() if self._marks.mark_of(hit) else None

    def _wanted(self, hit: RawHit) -> Mark | None:
        """Return the mark that a document should have; None if it was not compared."""
        place = self._marks.place_of(hit)
        number = self._groups.number(place)
        if number is None:
            return Mark() if self._groups.was_left_out(place) else None
        group, mark = self._groups.group(number), self._marks.mark_of(hit)
        if group is None:
            is_kept_for_others = not mark.duplicate_of and mark.cluster in self._other_clusters
            return mark if is_kept_for_others and self._has_same_text(hit) else Mark()
        if group in self._lost or not self._has_same_text(hit):
            return Mark()
        kept = self._groups.place(group)
        return Mark(None if group == number else kept.id, self._marks.cluster(kept))

    def _has_same_text(self, hit: RawHit) -> bool:
        """Say whether a document has the text that was compared."""
        number = self._groups.number(self._marks.place_of(hit))
        return number is not None and self._groups.has_text(number, self._marks.text_hash_of(hit))

    def _count(self, outcomes: Iterator[tuple[RawHit, Outcome]]) -> None:
        report = self._report
        for hit, outcome in outcomes:
            if outcome.status == CONFLICT and outcome.error != ALWAYS_CHANGED:
                continue  # the document is read again
            if outcome.status == NOT_FOUND:
                report.passed_over += 1
            elif outcome.status == _FORBIDDEN:
                raise StoreError(f"the index {outcome.index or hit['_index']} refuses updates: {outcome.reason}")
            elif outcome.error:
                report.refused += 1
                if len(report.reasons) < _MAX_REASONS:
                    report.reasons[hit["_id"]] = outcome.reason
            elif self._wanted(hit):
                report.set += 1
            else:
                report.removed += 1


def _batches(hits: Iterable[RawHit]) -> Iterator[list[RawHit]]:
    rest = iter(hits)
    while batch := list(islice(rest, _AT_ONCE)):
        yield batch
