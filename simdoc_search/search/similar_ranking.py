"""Which candidates are hits, and in what order?"""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NamedTuple

from simdoc_search.documents import Place, Placed
from simdoc_search.passages.exact import Measures
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.estimate import Estimate
from simdoc_search.stores.record import Candidate, Record

_COUNTED = 50
"""Candidates that are read to count the hits, also where the best ones are known: those of the first page."""


@dataclass(frozen=True, slots=True)
class Hit(Placed):
    """A document that shares text with the source.

    Attributes:
        place: where it is; behind an alias, two documents with one id are two hits.
        overlap: Jaccard similarity of its shingles and the source's, 0..1.
        matched: equal tokens.
        kind: `estimated` (from the tokens), or `exact` (from the texts).
        fields: what it has in the fields that were asked for.
        measures: all that is exact; None: nothing is.
        changed: whether its text is another one now than the one that was indexed; what is exact is of today's.
    """

    place: Place
    overlap: float
    matched: int
    kind: Literal["estimated", "exact"] = "estimated"
    fields: Mapping[str, Any] = field(default_factory=dict, hash=False, repr=False)
    measures: Measures | None = field(default=None, repr=False)
    changed: bool = field(default=False, repr=False)


class Found(NamedTuple):
    """The hits of a page, and how many there are.

    Attributes:
        hits: those of the page.
        total: how many hits there are, at least.
        is_total_exact: whether there are no more than `total`.
    """

    hits: list[Hit]
    total: int
    is_total_exact: bool


def best_hits(
    candidates: Iterable[Candidate],
    source: Record,
    made: Plan,
    overlap: Fraction | None,
    *,
    size: int,
    offset: int = 0,
    estimate: Estimate,
) -> Found:
    """The `size` greatest overlaps, of equal ones those with most equal tokens, of those the ones that come first.

    Those after the first `offset`: pages of one store neither repeat nor leave out a document.

    Candidates come with most equal tokens first. The union of two documents' tokens is at least the source's, so
    `matched / source's` bounds what a candidate and all after it can reach. The reading stops where that is ruled
    out, and where `size` hits reach it: of thousands that are equal only so many are read.

    Returns:
        The hits by overlap, equal tokens and id. Those of a smaller `size` are among them. Their number is exact if all
        candidates were read, and otherwise counts those that were read.
    """
    most_read = offset + size
    least = made.least_share(overlap)
    ranked: list[tuple[float, int, int, Candidate]] = []

    def is_settled(most: float) -> bool:
        return len(ranked) >= most_read and -ranked[-1][0] >= most

    total, is_complete, is_known = 0, True, False
    for number, candidate in enumerate(candidates):
        most = candidate.matched / len(source.codes)
        if most < least:
            break
        is_known = is_known or is_settled(most)
        shared, union = estimate(source.codes, candidate.codes)
        if made.is_hit(shared, union, overlap):
            total += 1
            if not is_known:
                insort(ranked, (-shared / union, -shared, number, candidate))
                del ranked[most_read:]
                is_known = is_settled(most)
        if is_known and number + 1 >= _COUNTED:
            is_complete = False
            break
    page = ranked[offset:]
    hits = in_order(Hit(each.place, -negative, -matched, fields=each.fields) for negative, matched, _, each in page)
    return Found(hits, total, is_complete)


def in_order(hits: Iterable[Hit]) -> list[Hit]:
    """Greatest overlap first, then most equal tokens, then by id and index."""
    return sorted(hits, key=lambda hit: (-hit.overlap, -hit.matched, hit.id, hit.place.index or ""))
