"""Finds the stored document that a text duplicates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.documents import Place, Placed
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.verdicts import DuplicateKind
from simdoc_search.query.planner import parse_fraction
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.results import result_or_raise
from simdoc_search.search.similar import similar_to_records
from simdoc_search.search.similar_result import Hit
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record, has_changed

_MAX_HITS = 10
"""Number of best hits that are checked for the same text."""

_KINDS: tuple[DuplicateKind, ...] = ("same text", "same words", "near")


@dataclass(frozen=True, slots=True)
class NearestDuplicate(Placed):
    """The stored document that a text duplicates.

    Attributes:
        place: the place of the document.
        overlap: Jaccard similarity of the shingles of both texts, 0..1.
        kind: `same text`, `same words` or `near`.
        exact: whether the overlap was computed from the texts. Otherwise it is estimated from the fingerprints.
    """

    place: Place
    overlap: float
    kind: DuplicateKind
    exact: bool


def parse_min_overlap(overlap: float | Fraction) -> Fraction:
    """Convert the minimum overlap of duplicates to an exact fraction.

    Raises:
        QuerySyntaxError: the overlap is not a number over 0, up to 1.
    """
    return Measure("jaccard", parse_fraction(overlap, "overlap")).overlap


def nearest_duplicates(
    store: Store,
    sources: Sequence[Record],
    overlap: Fraction,
    *,
    probability: Fraction | None = None,
    filters: Filters | None = None,
    exclude: Place | None = None,
    accepts: Callable[[Record], bool] = lambda _: True,
) -> Iterator[NearestDuplicate | None]:
    """Yield for each text the stored document that it duplicates, or None.

    Args:
        store: the store to search. All queries run at once. Their hits are compared lazily.
        sources: the texts, with their tokens and hashes.
        overlap: minimum Jaccard similarity.
        probability: probability of finding a document of exactly that overlap.
        filters: only stored documents that match can be returned.
        exclude: the place of a stored document that is never returned.
        accepts: whether a stored document can be returned.

    Raises:
        NoFingerprintError: a text has no words.
        StoreError: the store cannot be read.
    """
    options = SimilarOptions(overlap=overlap, probability=probability, size=_MAX_HITS, filters=filters)
    for source, outcome in zip(sources, similar_to_records(store, sources, options, exclude), strict=True):
        hits = [hit for hit in result_or_raise(outcome).hits if hit.overlap >= overlap]
        yield _nearest(store, source, hits, accepts)


def kind_of_pair(one: Record, other: Record) -> DuplicateKind:
    """Return what two duplicates have in common."""
    if has_changed(other):
        return "same text" if one.text == other.text else "near"
    if one.text_hash and one.text_hash == other.text_hash:
        return "same text"
    return "same words" if one.words_hash and one.words_hash == other.words_hash else "near"


def _nearest(
    store: Store, source: Record, hits: Sequence[Hit], accepts: Callable[[Record], bool]
) -> NearestDuplicate | None:
    """Return a hit with the same text, otherwise one with the same words, otherwise the first one."""
    records = read_records(store, [hit.place for hit in hits]) if hits else {}
    duplicates = [
        NearestDuplicate(hit.place, hit.overlap, kind_of_pair(source, records[hit.place]), hit.kind == "exact")
        for hit in hits
        if hit.place in records and accepts(records[hit.place])
    ]
    return min(duplicates, key=lambda duplicate: _KINDS.index(duplicate.kind), default=None)
