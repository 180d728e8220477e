"""Which new documents are left out, as another one overlaps them? For `index(..., reject_duplicates=0.8)`."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction

from simdoc_search.display import estimate, percent
from simdoc_search.documents import Rejected
from simdoc_search.duplicates.arrays import smallest_by_hash
from simdoc_search.duplicates.verdicts import Kind
from simdoc_search.indexing.preparation import Outcome
from simdoc_search.indexing.roots import file_of, is_gone
from simdoc_search.search.nearest import NearestDuplicate, kind_of_pair, least_overlap, nearest_of
from simdoc_search.search.similar_verification import most_overlap
from simdoc_search.search.stored_texts import ReadText, exactly
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record

_RECENT_DOCUMENTS, _RECENT_CHARACTERS = 4_000, 1 << 25
"""Documents and characters that are held until the store commits, and shows them itself."""

_FOUND = Fraction(999, 1000)  # the probability with which a document of just the overlap is found


class DuplicateGate:
    """Leaves out new documents that overlap one that is there: in the store, or earlier in this run.

    A document of just that overlap is found with a probability of 99.9 %, others with a greater one; texts decide where
    the store has them, else fingerprints. A new version of a stored document passes. A stored one whose file is gone
    does not count, as the new one may be the same file under another name.

    Args:
        store: where to look.
        overlap: from which on a document is left out, over 0, up to 1.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """

    def __init__(self, store: Store, overlap: float | Fraction) -> None:
        self._store = store
        self._least = least_overlap(overlap)
        self._recent = _Recent(store, self._least)
        self._gone: set[str] = set()

    @property
    def is_full(self) -> bool:
        """Whether the store should commit."""
        return self._recent.is_full

    def passed(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """The outcomes, with what they are duplicates of in place of new documents that are; see `Gate`."""
        new = [each for _, each in outcomes if isinstance(each, Record) and not is_stored(each.id)]
        in_store = nearest_of(self._store, new, self._least, probability=_FOUND, counts=self._counts)
        left = list(new)
        return [self._judged(id, each, left, in_store) for id, each in outcomes]

    def _judged(
        self, id: str, outcome: object, left: list[Record], in_store: Iterator[NearestDuplicate | None]
    ) -> Outcome:
        """One outcome, now that all before it are settled."""
        if not isinstance(outcome, Record):
            return id, outcome  # type: ignore[return-value]
        if left and left[0] is outcome:
            del left[0]
            stored = next(in_store)
            if id not in self._recent and (found := stored or self._recent.nearest(outcome)):
                return id, _rejected(outcome, found)
        self._recent.add(outcome)
        self._gone.discard(id)
        return id, outcome

    def removed(self, ids: Iterable[str]) -> None:
        """What the store still shows counts no more."""
        for id in ids:
            self._recent.remove(id)
            self._gone.add(id)

    def committed(self) -> None:
        """The store shows all of it."""
        self._recent = _Recent(self._store, self._least)
        self._gone.clear()

    def _counts(self, record: Record) -> bool:
        """Whether a stored document is still as the store shows it, and its file not gone."""
        if record.id in self._recent or record.id in self._gone:
            return False
        return record.origin is None or not is_gone(file_of(record.origin, record.id))


class _Recent:
    """What was written and is not committed yet.

    Of each document the few tokens of the smallest mixed values are known: the smallest of two documents' union are
    among the smallest of either, and one of them is a shared one but for a chance of (1 - share)**count (bottom-k
    sketch, Cohen and Kaplan 2007).
    """

    def __init__(self, store: Store, overlap: Fraction) -> None:
        self._settings = store.settings
        self._verified = store.store_texts
        self._least = overlap
        share = float(overlap / (2 - overlap))  # of the tokens of either: each bucket may have one of each document
        self._count = 1 if share >= 1 else math.ceil(math.log(1 - _FOUND) / math.log1p(-share))
        self._records: dict[str, Record] = {}
        self._by_token: dict[int, list[str]] = {}
        self._characters = 0

    def __contains__(self, id: str) -> bool:
        return id in self._records

    @property
    def is_full(self) -> bool:
        return len(self._records) >= _RECENT_DOCUMENTS or self._characters >= _RECENT_CHARACTERS

    def add(self, record: Record) -> None:
        self._records[record.id] = record
        self._characters += len(record.text or "")
        for token in smallest_by_hash(record.codes, self._count):
            self._by_token.setdefault(token, []).append(record.id)

    def remove(self, id: str) -> None:
        self._records.pop(id, None)

    def nearest(self, record: Record) -> NearestDuplicate | None:
        """The one that overlaps a document most, if any does enough."""
        ids = dict.fromkeys(
            id for token in smallest_by_hash(record.codes, self._count) for id in self._by_token.get(token, ())
        )
        text = self._text_of(record) if ids else None
        mine = None if text is None else ReadText.of(text, self._settings.analysis)
        found = [self._compared(record, self._records[id], mine) for id in ids if id in self._records]
        near = [each for each in found if each and each.overlap >= self._least]
        return max(near, key=lambda each: (each.overlap, each.kind == "same text"), default=None)

    def _compared(self, record: Record, other: Record, mine: ReadText | None) -> NearestDuplicate | None:
        shared, union = self._settings.estimate(record.codes, other.codes)
        kind = kind_of_pair(record, other)
        theirs = self._text_of(other)
        if mine is None or theirs is None:
            return NearestDuplicate(other.place, shared / union, kind, False)
        if most_overlap(shared, union) < self._least:
            return None
        analysis = self._settings.analysis
        overlap = exactly(mine, ReadText.of(theirs, analysis), analysis).jaccard if kind == "near" else 1.0
        return NearestDuplicate(other.place, overlap, kind, True)

    def _text_of(self, record: Record) -> str | None:
        return record.text if self._verified else None


def _rejected(record: Record, found: NearestDuplicate) -> Rejected:
    share = percent(found.overlap) if found.exact else estimate(found.overlap)
    said: dict[Kind, str] = {
        "same text": f"the same text as {found.id}",
        "same words": f"the same words as {found.id}",
        "near": f"overlaps {found.id} by {share}",
    }
    name = file_of(record.origin, record.id) if record.origin else record.id
    return Rejected(name, said[found.kind], None, record.id, found.id, found.overlap, found.exact)
