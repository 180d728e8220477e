"""Which candidates are hits, by their texts? Fewer equal tokens choose, and the exact value decides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from simdoc_search.query.plans import Plan
from simdoc_search.search.similar_ranking import Found, Hit, in_order
from simdoc_search.search.stored_texts import ReadText, exactly, pages, read_records
from simdoc_search.sketch.estimate import Estimate
from simdoc_search.stores.base import Store
from simdoc_search.stores.changed import has_changed
from simdoc_search.stores.record import Candidate, Record

_DEVIATIONS = 3.0  # beyond which about one of 1,000 lies, on one side


def verified_hits(
    candidates: Iterable[Candidate],
    source: Record,
    made: Plan,
    overlap: Fraction | None,
    *,
    store: Store,
    text: ReadText,
    size: int,
    offset: int = 0,
    estimate: Estimate,
) -> Found:
    """The `size` greatest overlaps after the first `offset`, exact where the store has the text.

    Candidates come with most equal tokens first, and their texts are read a page at a time. The reading stops where
    so many hits overlap more than the next candidate can, but for one of 1,000.
    """
    most_read = offset + size
    hits: list[Hit] = []
    possible = _possible(candidates, source, made, overlap, estimate)
    total, is_complete = 0, True
    for page in pages(possible):
        if len(hits) >= most_read and hits[-1].overlap >= most_overlap(page[0].matched, len(source.codes)):
            is_complete = False
            break
        records = read_records(store, [each.place for each in page])
        for each in page:
            record = records.get(each.place)
            hit = _exact(store, each, record, text) if record else None
            hit = hit or _estimated(each, source, made, overlap, estimate)
            if hit and (not overlap or hit.overlap >= overlap):
                hits.append(hit)
                total += 1
        hits = in_order(hits)[:most_read]
    return Found(hits[offset:], total, is_complete)


def _possible(
    candidates: Iterable[Candidate], source: Record, made: Plan, overlap: Fraction | None, estimate: Estimate
) -> Iterator[Candidate]:
    """Those whose estimate does not rule the overlap out."""
    for each in candidates:
        shared, union = estimate(source.codes, each.codes)
        if made.is_hit(shared, union, None) and (not overlap or most_overlap(shared, union) >= overlap):
            yield each


def most_overlap(shared: int, union: int) -> float:
    """The overlap that a document of so many equal tokens can have at most (Wilson 1927, upper end)."""
    if shared >= union:
        return 1.0  # the formula gives that too, but for rounding
    square = _DEVIATIONS**2
    share = shared / union
    spread = _DEVIATIONS * math.sqrt(share * (1 - share) / union + square / (4 * union * union))
    return min(1.0, (share + square / (2 * union) + spread) / (1 + square / union))


def _exact(store: Store, candidate: Candidate, record: Record, text: ReadText) -> Hit | None:
    if record.text is None:
        return None
    analysis = store.settings.analysis
    found = exactly(text, ReadText.of(record.text, analysis), analysis)
    return Hit(candidate.place, found.jaccard, candidate.matched, "exact", candidate.fields, found, has_changed(record))


def _estimated(
    candidate: Candidate, source: Record, made: Plan, overlap: Fraction | None, estimate: Estimate
) -> Hit | None:
    """Of a document whose text is not stored, what its tokens say."""
    shared, union = estimate(source.codes, candidate.codes)
    if not made.is_hit(shared, union, overlap):
        return None
    return Hit(candidate.place, shared / union, shared, "estimated", candidate.fields)
