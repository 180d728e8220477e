"""How much two texts really share: exact values over their sets of shingles."""

from __future__ import annotations

from collections.abc import Set

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import shingles

__all__ = ["containment", "jaccard", "shingle_set"]


def shingle_set(text: str, analysis: Analysis | None = None) -> frozenset[str]:
    """The distinct shingles of a text."""
    return frozenset(shingles(text, analysis))


def jaccard(a: Set[str], b: Set[str]) -> float:
    """The overlap |A and B| / |A or B|, 0..1; of two empty sets 0.

    Source: Broder 1997, On the resemblance and containment of documents.
    """
    shared = len(a & b)
    union = len(a) + len(b) - shared
    return shared / union if union else 0.0


def containment(a: Set[str], b: Set[str]) -> float:
    """The share of A that is found in B, |A and B| / |A|, 0..1; of an empty A 0."""
    return len(a & b) / len(a) if a else 0.0
