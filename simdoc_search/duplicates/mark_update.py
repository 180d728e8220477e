"""Marks in an engine's documents are made equal to groups: what is stale goes first, then what is missing is set.

Between the two, and wherever a run is broken off, no group is hidden as a whole: a document that is kept now has lost
its mark before another one gets one that names it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

import numpy as np

from simdoc_search.duplicates.finder import Duplicates, Progress
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.bulk import Outcome
from simdoc_search.stores.remote.marks import Mark, Markable, Marks
from simdoc_search.stores.remote.point_in_time import RawHit
from simdoc_search.stores.remote.updates import ALWAYS_CHANGED, CONFLICT, NOT_FOUND

_AT_ONCE = 500
_FORBIDDEN = 403
_REASONS = 5


@dataclass(slots=True)
class MarkReport:
    """What was done.

    Attributes:
        set: documents that got a mark, or another one.
        removed: documents that lost theirs, as they are in no group.
        unchanged: documents that had the right one.
        passed_over: documents that were changed or deleted since they were compared, or whose kept ones were; they have
            no mark until the next run.
        refused: how many updates the engine refused for good.
        reasons: why, for the first few: id to reason.
    """

    set: int = 0
    removed: int = 0
    unchanged: int = 0
    passed_over: int = 0
    refused: int = 0
    reasons: dict[str, str] = field(default_factory=dict)


def mark_duplicates(store: Store, found: Duplicates, *, progress: Progress = lambda _stage, _share: None) -> MarkReport:
    """Make the marks in a store those of the groups that were found in it; see `SimilaritySearch.mark_duplicates`."""
    if found.fresh < found.documents:
        raise StoreError("only new documents were compared; to mark, compare all with all")
    return _Marking(found, _marks_of(store), progress).run()


def kept_by_marks(store: Store) -> Iterator[str]:
    """The ids of the documents that marks say are kept; see `SimilaritySearch.kept_by_marks`."""
    marks = _marks_of(store)
    for hit in marks.marked():
        mark = marks.mark_of(hit)
        if mark.cluster and not mark.duplicate_of:
            yield marks.place_of(hit).id


def _marks_of(store: Store) -> Marks:
    if not isinstance(store, Markable):
        raise StoreError(
            f"{store.info().location} is no index of an engine, and only documents of such an index are marked"
        )
    return store.marks()


class _Marking:
    def __init__(self, found: Duplicates, marks: Marks, progress: Progress) -> None:
        self._standing = found.standing()
        self._marks = marks
        self._progress = progress
        self._report = MarkReport()
        self._done = np.zeros(len(self._standing), bool)
        self._lost: set[int] = set()  # who was kept, and has another text now, or is gone
        self._elsewhere: set[str] = set()  # clusters of duplicates that were not looked at, as a filter left them out

    def run(self) -> MarkReport:
        for hit in self._marks.marked():
            mark = self._marks.mark_of(hit)
            if mark.duplicate_of and mark.cluster and self._wanted(hit) is None:
                self._elsewhere.add(mark.cluster)
        for hits in _batches(self._marks.marked()):
            self._count(self._marks.write(hits, self._without_stale))
        members = self._standing.members()
        left = members[~self._done[members]]
        for start in range(0, len(left), _AT_ONCE):
            some = {self._standing.place(each): each for each in left[start : start + _AT_ONCE].tolist()}
            hits = self._marks.at(some)
            self._report.passed_over += len(some) - len(hits)
            same = {some[self._marks.place_of(hit)] for hit in hits if self._is_same(hit)}
            self._lost |= {each for each in some.values() if self._standing.group(each) == each} - same
            self._count(self._marks.write(hits, self._missing, anew=True))
            self._progress("marking", min(1.0, (start + _AT_ONCE) / len(left)))
        self._marks.refresh()
        return self._report

    def _without_stale(self, hit: RawHit) -> Mark | None:
        """What is written first: no `duplicate_of` where none is to be, and nothing where there was no look."""
        wanted = self._wanted(hit)
        is_right = wanted == self._marks.mark_of(hit)
        if wanted is None or (wanted.duplicate_of and not is_right):
            return None
        number = self._standing.number(self._marks.place_of(hit))
        if number is not None:
            self._done[number] = True
        self._report.unchanged += is_right
        return None if is_right else wanted

    def _missing(self, hit: RawHit) -> Mark | None:
        """What is written then: all marks that were not right."""
        wanted = self._wanted(hit)
        if wanted:
            return wanted
        self._report.passed_over += 1
        return Mark() if self._marks.mark_of(hit) else None

    def _wanted(self, hit: RawHit) -> Mark | None:
        """The mark that a document should have: none if it has another text now; None if it was not looked at."""
        place = self._marks.place_of(hit)
        number = self._standing.number(place)
        if number is None:
            return Mark() if self._standing.was_left_out(place) else None
        group = self._standing.group(number)
        if group is None and self._is_same(hit) and self._is_named_elsewhere(hit):
            return self._marks.mark_of(hit)
        if group is None or group in self._lost or not self._is_same(hit):
            return Mark()
        kept = self._standing.place(group)
        return Mark(None if group == number else kept.id, self._marks.cluster(kept))

    def _is_named_elsewhere(self, hit: RawHit) -> bool:
        """Whether a document is marked as kept for one that was not looked at."""
        mark = self._marks.mark_of(hit)
        return not mark.duplicate_of and mark.cluster in self._elsewhere

    def _is_same(self, hit: RawHit) -> bool:
        """Whether a document has the text that was compared."""
        number = self._standing.number(self._marks.place_of(hit))
        return number is not None and self._standing.has_text(number, self._marks.text_hash_of(hit))

    def _count(self, outcomes: Iterator[tuple[RawHit, Outcome]]) -> None:
        report = self._report
        for hit, outcome in outcomes:
            if outcome.status == CONFLICT and outcome.error != ALWAYS_CHANGED:
                continue  # it is read again
            if outcome.status == NOT_FOUND:
                report.passed_over += 1
            elif outcome.status == _FORBIDDEN:
                raise StoreError(f"the index {outcome.index or hit['_index']} takes no updates: {outcome.reason}")
            elif outcome.error:
                report.refused += 1
                if len(report.reasons) < _REASONS:
                    report.reasons[hit["_id"]] = outcome.reason
            elif self._wanted(hit):
                report.set += 1
            else:
                report.removed += 1


def _batches(hits: Iterable[RawHit]) -> Iterator[list[RawHit]]:
    rest = iter(hits)
    while some := list(islice(rest, _AT_ONCE)):
        yield some
