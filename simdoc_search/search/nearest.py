"""Finds the stored document that a text duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.documents import DocumentKey, HasDocumentKey
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.verdicts import DuplicateKind
from simdoc_search.query.planner import parse_fraction
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.results import raise_if_error
from simdoc_search.search.similar import find_similar_to_records
from simdoc_search.search.similar_result import Hit
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record, has_text_changed

_MAX_HITS = 10
"""Number of best hits that are checked for an equal text."""

_KINDS_BY_PREFERENCE: tuple[DuplicateKind, ...] = ("same text", "same words", "near")


@dataclass(frozen=True, slots=True)
class NearestDuplicate(HasDocumentKey):
    """The stored document that a text duplicates.

    Attributes:
        key: the key of the document.
        overlap: Jaccard similarity of the shingles of the two texts, 0..1.
        kind: `same text`, `same words` or `near`.
        exact: whether the overlap was computed from the texts. Otherwise it is estimated from the fingerprints.
    """

    key: DocumentKey
    overlap: float
    kind: DuplicateKind
    exact: bool


def parse_min_overlap(overlap: float | Fraction) -> Fraction:
    """Convert the minimum overlap of duplicates to an exact fraction.

    Raises:
        QuerySyntaxError: the overlap is not a number greater than 0 and at most 1.
    """
    return Measure("jaccard", parse_fraction(overlap, "overlap")).min_overlap


def find_nearest_duplicates(
    store: Store,
    query_records: Sequence[Record],
    overlap: Fraction,
    *,
    probability: Fraction | None = None,
    filters: Filters | None = None,
    exclude: DocumentKey | None = None,
    is_allowed: Callable[[Record], bool] = lambda _: True,
) -> Iterator[NearestDuplicate | None]:
    """For each text, yield the stored document that it duplicates; None if there is no such document.

    The texts are records with their tokens and hashes. The store is queried for all of them together, before the first
    result is yielded. A text is compared with its hits when its result is requested. `is_allowed` returns whether a
    document can be returned.

    Raises:
        NoFingerprintError: a text has no words.
        StoreError: the store cannot be read.
    """
    options = SimilarOptions(overlap=overlap, probability=probability, size=_MAX_HITS, filters=filters)
    for query_record, outcome in zip(
        query_records, find_similar_to_records(store, query_records, options, exclude), strict=True
    ):
        hits = [hit for hit in raise_if_error(outcome).hits if hit.overlap >= overlap]
        yield _choose_nearest(store, query_record, hits, is_allowed)


def classify_duplicate(record: Record, stored_record: Record) -> DuplicateKind:
    """Return the kind of a pair of duplicates.

    If the text of the stored document has changed since it was indexed, its hashes are out of date. Texts are then
    compared instead.
    """
    if has_text_changed(stored_record):
        return "same text" if record.text == stored_record.text else "near"
    if record.text_hash and record.text_hash == stored_record.text_hash:
        return "same text"
    return "same words" if record.words_hash and record.words_hash == stored_record.words_hash else "near"


def _choose_nearest(
    store: Store, query_record: Record, hits: Sequence[Hit], is_allowed: Callable[[Record], bool]
) -> NearestDuplicate | None:
    """Return a hit with the same text, otherwise a hit with the same words, otherwise the first hit."""
    records = read_records(store, [hit.key for hit in hits], load={"text"}) if hits else {}
    duplicates = [
        NearestDuplicate(hit.key, hit.overlap, classify_duplicate(query_record, records[hit.key]), hit.kind == "exact")
        for hit in hits
        if hit.key in records and is_allowed(records[hit.key])
    ]
    return min(duplicates, key=lambda duplicate: _KINDS_BY_PREFERENCE.index(duplicate.kind), default=None)
