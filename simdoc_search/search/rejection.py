"""Rejects new documents that duplicate others, for `index(..., reject_duplicates=0.8)`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from simdoc_search.display import estimate, percent
from simdoc_search.documents import Rejected
from simdoc_search.duplicates.verdicts import DuplicateKind
from simdoc_search.indexing.preparation import Outcome
from simdoc_search.indexing.roots import is_missing
from simdoc_search.search.nearest import NearestDuplicate, duplicate_kind, nearest_duplicates, parse_min_overlap
from simdoc_search.search.similar_ranking import max_overlap
from simdoc_search.search.stored_texts import AnalysedText, exact_measures
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

_MAX_DOCUMENTS, _MAX_CHARACTERS = 1_000, 1 << 25
"""Maximum number of documents, and of their characters, that are kept in memory until the store commits them."""

_PROBABILITY = Fraction(999, 1000)
"""Probability of finding a document of exactly the minimum overlap."""


class DuplicateFilter:
    """Rejects new documents that overlap a stored document, or an earlier document of the same run.

    A document with exactly the minimum overlap is found with a probability of 99.9 %. The overlap is computed from the
    texts if the store has them, otherwise it is estimated from the fingerprints. A document that replaces a stored one
    is never rejected. A stored document whose file is gone is not compared, because the new document may be the same
    file under a new name.

    Args:
        store: the store to search.
        overlap: the minimum overlap of rejected documents, over 0, up to 1.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """

    def __init__(self, store: Store, overlap: float | Fraction) -> None:
        self._store = store
        self._overlap = parse_min_overlap(overlap)
        self._written = _WrittenDocuments(store, self._overlap)
        self._removed: set[str] = set()

    @property
    def needs_commit(self) -> bool:
        """Whether the store should commit now, because too many documents are kept in memory."""
        return self._written.is_full

    def filter_outcomes(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """Return the outcomes, with a `Rejected` for each rejected document; see `DocumentFilter`."""
        new = [record for _, record in outcomes if isinstance(record, Record) and not is_stored(record.id)]
        options = {"probability": _PROBABILITY, "is_allowed": self._can_be_original}
        stored = nearest_duplicates(self._store, new, self._overlap, **options)  # type: ignore[arg-type]
        return list(self._decisions(outcomes, new, stored))

    def _decisions(
        self, outcomes: Sequence[Outcome], new: Sequence[Record], stored: Iterator[NearestDuplicate | None]
    ) -> Iterator[Outcome]:
        """Yield the outcomes in order. Each new document is also compared with the accepted documents before it."""
        waiting = iter(new)
        next_new = next(waiting, None)
        for id, record in outcomes:
            if not isinstance(record, Record):
                yield id, record
                continue
            if record is next_new:
                next_new, duplicate = next(waiting, None), next(stored)
                if id not in self._written and (duplicate := duplicate or self._written.nearest(record)):
                    yield id, _rejected(record, duplicate)
                    continue
            self._written.add(record)
            self._removed.discard(id)
            yield id, record

    def note_removed(self, ids: Iterable[str]) -> None:
        """Take note of documents that the writer deletes. The store has them until it commits."""
        for id in ids:
            self._written.remove(id)
            self._removed.add(id)

    def note_committed(self) -> None:
        """Take note that the store has committed all written documents."""
        self._written = _WrittenDocuments(self._store, self._overlap)
        self._removed.clear()

    def _can_be_original(self, record: Record) -> bool:
        """Return whether a stored document was neither replaced nor removed in this run, and its file is not gone."""
        if record.id in self._written or record.id in self._removed:
            return False
        return record.origin is None or not is_missing(record.origin.file(record.id))


class _WrittenDocuments:
    """Documents that were written but not yet committed."""

    def __init__(self, store: Store, overlap: Fraction) -> None:
        self._settings, self._verify, self._overlap = store.settings, store.has_texts, overlap
        self._records: dict[str, Record] = {}
        self._ids_by_token: defaultdict[int, list[str]] = defaultdict(list)
        self._characters = 0

    def __contains__(self, id: str) -> bool:
        return id in self._records

    @property
    def is_full(self) -> bool:
        return len(self._records) >= _MAX_DOCUMENTS or self._characters >= _MAX_CHARACTERS

    def add(self, record: Record) -> None:
        self._records[record.id] = record
        self._characters += len(record.text or "")
        for token in record.codes.tolist():
            self._ids_by_token[token].append(record.id)

    def remove(self, id: str) -> None:
        self._records.pop(id, None)

    def nearest(self, record: Record) -> NearestDuplicate | None:
        """Return the written document that a document duplicates; None if there is none."""
        text: AnalysedText | None = None
        duplicates = []
        ids = {id for token in record.codes.tolist() for id in self._ids_by_token.get(token, ())}
        for other in (self._records[id] for id in sorted(ids & self._records.keys())):
            shared, union = self._settings.estimate(record.codes, other.codes)
            if max_overlap(shared, union) < self._overlap:
                continue
            if text is None and self._verify and record.text is not None:
                text = AnalysedText.of(record.text, self._settings.analysis)
            duplicates.append(self._compared(record, text, other, shared / union))
        near = [duplicate for duplicate in duplicates if duplicate.overlap >= self._overlap]
        return max(near, key=lambda duplicate: (duplicate.overlap, duplicate.kind == "same text"), default=None)

    def _compared(self, record: Record, text: AnalysedText | None, other: Record, estimated: float) -> NearestDuplicate:
        kind = duplicate_kind(record, other)
        if text is None or other.text is None:
            return NearestDuplicate(other.place, estimated, kind, False)
        if kind != "near":
            return NearestDuplicate(other.place, 1.0, kind, True)
        exact = exact_measures(text, AnalysedText.of(other.text, self._settings.analysis), self._settings.analysis)
        return NearestDuplicate(other.place, exact.jaccard, kind, True)


def _rejected(record: Record, duplicate: NearestDuplicate) -> Rejected:
    share = percent(duplicate.overlap) if duplicate.exact else estimate(duplicate.overlap)
    reasons: dict[DuplicateKind, str] = {
        "same text": f"the same text as {duplicate.id}",
        "same words": f"the same words as {duplicate.id}",
        "near": f"overlaps {duplicate.id} by {share}",
    }
    name = record.origin.file(record.id) if record.origin else record.id
    return Rejected(name, reasons[duplicate.kind], None, record.id, duplicate.id, duplicate.overlap, duplicate.exact)
