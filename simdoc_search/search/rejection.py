"""Rejects new documents that duplicate others, for `index(..., reject_duplicates=0.8)`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from simdoc_search.display import estimate, percent
from simdoc_search.documents import Rejected
from simdoc_search.duplicates.verdicts import Kind
from simdoc_search.indexing.preparation import Outcome
from simdoc_search.indexing.roots import is_gone
from simdoc_search.search.nearest import NearestDuplicate, kind_of_pair, min_overlap, nearest_duplicates
from simdoc_search.search.similar_ranking import max_overlap
from simdoc_search.search.stored_texts import AnalysedText, exact_measures
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

_MAX_DOCUMENTS, _MAX_CHARACTERS = 1_000, 1 << 25
"""Maximum number of documents, and of their characters, that are held until the store commits them."""

_PROBABILITY = Fraction(999, 1000)
"""Probability of finding a document of exactly the minimum overlap."""


class DuplicateFilter:
    """Rejects new documents that overlap a stored document, or an earlier one of the same run.

    A document of exactly that overlap is found with a probability of 99.9 %. Texts decide where the store has them,
    else fingerprints. A new version of a stored document passes. A stored document whose file is gone does not count,
    because the new document may be the same file under a new name.

    Args:
        store: the store to search.
        overlap: minimum overlap of rejected documents, over 0, up to 1.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """

    def __init__(self, store: Store, overlap: float | Fraction) -> None:
        self._store = store
        self._overlap = min_overlap(overlap)
        self._written = _WrittenDocuments(store, self._overlap)
        self._removed: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether the store should commit."""
        return self._written.is_full

    def filter_outcomes(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """Return the outcomes, with a `Rejected` in place of each rejected document; see `DocumentFilter`."""
        new = [record for _, record in outcomes if isinstance(record, Record) and not is_stored(record.id)]
        options = {"probability": _PROBABILITY, "accepts": self._can_be_original}
        stored = nearest_duplicates(self._store, new, self._overlap, **options)  # type: ignore[arg-type]
        return list(self._decisions(outcomes, new, stored))

    def _decisions(
        self, outcomes: Sequence[Outcome], new: Sequence[Record], stored: Iterator[NearestDuplicate | None]
    ) -> Iterator[Outcome]:
        """Yield each outcome after those before it are decided."""
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
        """Note that the writer deletes documents, which the store still has."""
        for id in ids:
            self._written.remove(id)
            self._removed.add(id)

    def note_committed(self) -> None:
        """Note that the store now has everything that was written."""
        self._written = _WrittenDocuments(self._store, self._overlap)
        self._removed.clear()

    def _can_be_original(self, record: Record) -> bool:
        """Whether a stored document was not replaced or removed in this run, and its file is not gone."""
        if record.id in self._written or record.id in self._removed:
            return False
        return record.origin is None or not is_gone(record.origin.file(record.id))


class _WrittenDocuments:
    """Documents that were written and are not committed yet."""

    def __init__(self, store: Store, overlap: Fraction) -> None:
        self._settings, self._verify, self._overlap = store.settings, store.store_texts, overlap
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
        """Return the nearest duplicate of a document."""
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
        kind = kind_of_pair(record, other)
        if text is None or other.text is None:
            return NearestDuplicate(other.place, estimated, kind, False)
        if kind != "near":
            return NearestDuplicate(other.place, 1.0, kind, True)
        exact = exact_measures(text, AnalysedText.of(other.text, self._settings.analysis), self._settings.analysis)
        return NearestDuplicate(other.place, exact.jaccard, kind, True)


def _rejected(record: Record, duplicate: NearestDuplicate) -> Rejected:
    share = percent(duplicate.overlap) if duplicate.exact else estimate(duplicate.overlap)
    reasons: dict[Kind, str] = {
        "same text": f"the same text as {duplicate.id}",
        "same words": f"the same words as {duplicate.id}",
        "near": f"overlaps {duplicate.id} by {share}",
    }
    name = record.origin.file(record.id) if record.origin else record.id
    return Rejected(name, reasons[duplicate.kind], None, record.id, duplicate.id, duplicate.overlap, duplicate.exact)
