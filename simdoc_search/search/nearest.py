"""Is this text there already? The document that overlaps it most, for a warning at upload."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.documents import Place, Placed
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.verdicts import Kind
from simdoc_search.errors import SimdocError
from simdoc_search.query.planner import parse_fraction
from simdoc_search.search.similar import answers_to_records
from simdoc_search.search.similar_options import Options
from simdoc_search.search.similar_ranking import Hit
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.changed import has_changed
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record

_LOOKED_AT = 10  # hits, of which one may have the same text


@dataclass(frozen=True, slots=True)
class NearestDuplicate(Placed):
    """The stored document that overlaps a text most.

    Attributes:
        place: where it is.
        overlap: Jaccard similarity of its shingles and the text's, 0..1.
        kind: `same text`, `same words` or `near`.
        exact: whether the overlap was computed from the texts; else it is estimated from the fingerprints.
    """

    place: Place
    overlap: float
    kind: Kind
    exact: bool


def least_overlap(overlap: float | Fraction) -> Fraction:
    """The overlap as it was written.

    Raises:
        QuerySyntaxError: it is not over 0, up to 1.
    """
    return Measure("jaccard", parse_fraction(overlap, "overlap")).overlap


def nearest_of(
    store: Store,
    sources: Sequence[Record],
    overlap: Fraction,
    *,
    probability: Fraction | None = None,
    filters: Filters | None = None,
    exclude: Place | None = None,
    counts: Callable[[Record], bool] = lambda _: True,
) -> Iterator[NearestDuplicate | None]:
    """The nearest stored document of each of some, with their texts and hashes, that overlaps it enough.

    The store is asked of all at once. What is found is compared, and `counts` asked whether it counts, when it is its
    turn.

    Raises:
        NoFingerprintError: one has no words.
        StoreError: the store cannot be read.
    """
    options = Options(overlap=overlap, probability=probability, size=_LOOKED_AT, filters=filters)
    for source, answer in zip(sources, answers_to_records(store, sources, options, exclude), strict=True):
        if isinstance(answer, SimdocError):
            raise answer
        yield _best(store, source, [hit for hit in answer.hits if hit.overlap >= overlap], counts)


def kind_of_pair(one: Record, other: Record) -> Kind:
    """What two documents have in common that overlap enough."""
    if has_changed(other):
        return "same text" if one.text == other.text else "near"
    if one.text_hash and one.text_hash == other.text_hash:
        return "same text"
    return "same words" if one.words_hash and one.words_hash == other.words_hash else "near"


def _best(
    store: Store, source: Record, hits: Sequence[Hit], counts: Callable[[Record], bool]
) -> NearestDuplicate | None:
    """The first with the same text, else with the same words, else the one of the greatest overlap."""
    records = read_records(store, [hit.place for hit in hits]) if hits else {}
    found = [
        NearestDuplicate(hit.place, hit.overlap, kind_of_pair(source, records[hit.place]), hit.kind == "exact")
        for hit in hits
        if hit.place in records and counts(records[hit.place])
    ]
    ranks: tuple[Kind, ...] = ("same text", "same words", "near")
    return min(found, key=lambda each: ranks.index(each.kind), default=None)
