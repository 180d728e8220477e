"""Rejects new documents that duplicate other documents, for `index(..., reject_duplicates=0.8)`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from simdoc_search.display import format_estimate, format_percent
from simdoc_search.documents import RejectedDocument
from simdoc_search.duplicates.verdicts import DuplicateKind
from simdoc_search.indexing.input_paths import is_missing
from simdoc_search.indexing.preparation import Outcome
from simdoc_search.passages.exact_overlap import measure_many
from simdoc_search.query.plans import is_ruled_out
from simdoc_search.search.nearest import (
    NearestDuplicate,
    classify_duplicate,
    find_nearest_duplicates,
    parse_min_overlap,
)
from simdoc_search.search.similar_ranking import Z_SCORE
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

_MAX_UNCOMMITTED_DOCUMENTS, _MAX_UNCOMMITTED_CHARACTERS = 1_000, 1 << 25
"""Maximum number of documents, and of their characters, that are kept in memory until the store commits."""

_PROBABILITY = Fraction(999, 1000)
"""Probability of finding a document of exactly the minimum overlap."""


class DuplicateFilter:
    """Rejects new documents that overlap a stored document, or an earlier document of the same run.

    A duplicate with exactly the minimum overlap is found with a probability of 99.9 %. The overlap is computed from
    the texts if the store has them. Otherwise it is estimated from the fingerprints. A document that replaces the
    stored document with the same id is never rejected. A stored document whose file no longer exists is not compared,
    because the new document may be the same file under a new name.

    Args:
        store: the store to search.
        overlap: the minimum overlap of rejected documents, greater than 0 and at most 1.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """

    def __init__(self, store: Store, overlap: float | Fraction) -> None:
        self._store = store
        self._min_overlap = parse_min_overlap(overlap)
        self._uncommitted = _UncommittedDocuments(store, self._min_overlap)
        self._removed_ids: set[str] = set()

    @property
    def needs_commit(self) -> bool:
        """Whether the store should commit now, because too many documents are kept in memory."""
        return self._uncommitted.is_full

    def filter_outcomes(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """Return the outcomes, with a `RejectedDocument` for each rejected document; see `DocumentFilter`."""
        new_records = [record for _, record in outcomes if isinstance(record, Record) and not is_stored(record.id)]
        options = {"probability": _PROBABILITY, "is_allowed": self._can_be_original}
        nearest_stored = find_nearest_duplicates(self._store, new_records, self._min_overlap, **options)  # type: ignore[arg-type]
        return list(self._reject_duplicates(outcomes, new_records, nearest_stored))

    def _reject_duplicates(
        self,
        outcomes: Sequence[Outcome],
        new_records: Sequence[Record],
        nearest_stored: Iterator[NearestDuplicate | None],
    ) -> Iterator[Outcome]:
        """Yield the outcomes in order, so that each new document is compared with the documents accepted before it."""
        remaining_records = iter(new_records)
        next_new_record = next(remaining_records, None)
        for id, record in outcomes:
            if not isinstance(record, Record):
                yield id, record
                continue
            if record is next_new_record:
                next_new_record, duplicate = next(remaining_records, None), next(nearest_stored)
                if id not in self._uncommitted and (duplicate := duplicate or self._uncommitted.find_nearest(record)):
                    yield id, _make_rejection(record, duplicate)
                    continue
            self._uncommitted.add(record)
            self._removed_ids.discard(id)
            yield id, record

    def note_removed(self, ids: Iterable[str]) -> None:
        """Record deletions that the store does not show before the next commit."""
        for id in ids:
            self._uncommitted.remove(id)
            self._removed_ids.add(id)

    def note_committed(self) -> None:
        """Record that the store has committed all written documents."""
        self._uncommitted = _UncommittedDocuments(self._store, self._min_overlap)
        self._removed_ids.clear()

    def _can_be_original(self, record: Record) -> bool:
        """Return whether a stored document still exists: this run did not replace or remove it, and its file exists."""
        if record.id in self._uncommitted or record.id in self._removed_ids:
            return False
        return record.origin is None or not is_missing(record.origin.path_of(record.id))


class _UncommittedDocuments:
    def __init__(self, store: Store, overlap: Fraction) -> None:
        self._settings, self._has_texts, self._min_overlap = store.settings, store.has_texts, overlap
        self._records: dict[str, Record] = {}
        self._ids_by_token: defaultdict[int, list[str]] = defaultdict(list)
        self._character_count = 0

    def __contains__(self, id: str) -> bool:
        return id in self._records

    @property
    def is_full(self) -> bool:
        return len(self._records) >= _MAX_UNCOMMITTED_DOCUMENTS or self._character_count >= _MAX_UNCOMMITTED_CHARACTERS

    def add(self, record: Record) -> None:
        self.remove(record.id)
        self._records[record.id] = record
        self._character_count += len(record.text or "")
        for token in record.token_ids.tolist():
            self._ids_by_token[token].append(record.id)

    def remove(self, id: str) -> None:
        if removed := self._records.pop(id, None):
            self._character_count -= len(removed.text or "")

    def find_nearest(self, record: Record) -> NearestDuplicate | None:
        """Return the uncommitted document that a new document duplicates; None if there is no such document."""
        duplicates = []
        ids = {id for token in record.token_ids.tolist() for id in self._ids_by_token.get(token, ())}
        for earlier_record in (self._records[id] for id in sorted(ids & self._records.keys())):
            tokens = self._settings.compare_tokens(record.token_ids, earlier_record.token_ids)
            if is_ruled_out(tokens, self._min_overlap, Z_SCORE):
                continue
            duplicates.append(self._compare_records(record, earlier_record, tokens.overlap))
        above_minimum = [duplicate for duplicate in duplicates if duplicate.overlap >= self._min_overlap]
        return max(
            above_minimum, key=lambda duplicate: (duplicate.overlap, duplicate.kind == "same text"), default=None
        )

    def _compare_records(self, record: Record, earlier_record: Record, estimated_overlap: float) -> NearestDuplicate:
        kind = classify_duplicate(record, earlier_record)
        if not self._has_texts or record.text is None or earlier_record.text is None:
            return NearestDuplicate(earlier_record.key, estimated_overlap, kind, False)
        if kind != "near":
            return NearestDuplicate(earlier_record.key, 1.0, kind, True)
        (exact,) = measure_many(record.text, [earlier_record.text], self._settings.analysis)
        return NearestDuplicate(earlier_record.key, exact.jaccard, kind, True)


def _make_rejection(record: Record, duplicate: NearestDuplicate) -> RejectedDocument:
    share = format_percent(duplicate.overlap) if duplicate.exact else format_estimate(duplicate.overlap)
    reasons: dict[DuplicateKind, str] = {
        "same text": f"the same text as {duplicate.id}",
        "same words": f"the same words as {duplicate.id}",
        "near": f"overlaps {duplicate.id} by {share}",
    }
    name = record.origin.path_of(record.id) if record.origin else record.id
    return RejectedDocument(
        name, reasons[duplicate.kind], None, record.id, duplicate.id, duplicate.overlap, duplicate.exact
    )
