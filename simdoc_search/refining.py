"""Which candidates are hits, and in what order?"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.query.planner import ANY_OVERLAP, Plan, Threshold
from simdoc_search.sketch.estimate import shared_and_union
from simdoc_search.stores.base import Candidate, Record

__all__ = ["Hit", "best_hits"]

_RULED_OUT = 2.33  # standard deviations; a document of the asked overlap is dropped in 1 of 100 cases


@dataclass(frozen=True, slots=True)
class Hit:
    """A document that shares text with the source.

    Attributes:
        id: the document's id.
        overlap: Jaccard similarity of its shingles and the source's, 0..1.
        matched: equal tokens.
        kind: `estimated` (from the tokens).
    """

    id: str
    overlap: float
    matched: int
    kind: str = "estimated"


def best_hits(
    candidates: Iterable[Candidate], source: Record, made: Plan, overlap: Fraction | None, *, size: int, bits: int
) -> list[Hit]:
    """The `size` greatest overlaps.

    Candidates come with most equal tokens first. The union of two documents' buckets is at least the source's, so
    `matched / source's` bounds what a candidate and all after it can reach: there the reading stops, and also where
    that is ruled out.
    """
    least = 0.0 if not overlap or isinstance(made, Threshold) else _least(overlap, len(source.codes))
    ranked: list[tuple[float, int, str]] = []
    for candidate in candidates:
        most = candidate.matched / len(source.codes)
        if most < least or (len(ranked) >= size and -ranked[size - 1][0] >= most):
            break
        shared, union = shared_and_union(source.codes, candidate.codes, bits)
        if _stays(shared, union, made, overlap):
            insort(ranked, (-shared / union, -shared, candidate.id))
            del ranked[size:]
    return [Hit(id, -negative, -matched) for negative, matched, id in ranked]


def _stays(shared: int, union: int, made: Plan, overlap: Fraction | None) -> bool:
    """Whether a candidate is a hit: for a threshold by its estimate, for bands unless the estimate rules it out."""
    if not overlap:
        return shared >= min(ANY_OVERLAP, len(made.tokens))
    if isinstance(made, Threshold):
        return shared >= overlap * union
    return shared / union >= _least(overlap, union)


def _least(overlap: Fraction, union: int) -> float:
    """The least estimate over so many buckets that does not rule an overlap out; it grows with their number."""
    return float(overlap) - _RULED_OUT * math.sqrt(overlap * (1 - overlap) / union)
