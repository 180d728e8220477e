"""The S-curve of a plan: how likely a document is found, by its true overlap."""

from __future__ import annotations

import math

from simdoc_search.query.planner import Bands, Plan

__all__ = ["found"]


def found(plan: Plan, overlap: float) -> float:
    """The probability that a plan finds a document of this overlap, 0..1, before the hits are refined.

    Each token of the query is taken to be shared with probability `overlap`, independently. Exact for bands, the one
    that wraps around included: only it and the first share tokens. Worked number: 40 bands of 2 at overlap 0.2 give
    1 - (1 - 0.04)**40 = 0.805.
    """
    if not plan.tokens:
        return 0.0
    if isinstance(plan, Bands):
        return _found_by_bands(plan, overlap)
    count, least = len(plan.tokens), plan.minimum_match
    return min(1.0, math.fsum(_binomial(count, matched, overlap) for matched in range(least, count + 1)))


def _found_by_bands(plan: Bands, overlap: float) -> float:
    match: float = overlap**plan.rows
    count = len(plan.bands)
    wrapped = plan.rows * count - len(plan.tokens)  # tokens that the last band takes from the first
    if wrapped <= 0 or count == 1:
        return 1 - (1 - match) ** count
    both: float = overlap ** (2 * plan.rows - wrapped)
    return 1 - (1 - match) ** (count - 2) * (1 - 2 * match + both)


def _binomial(count: int, matched: int, share: float) -> float:
    """P(Binomial(count, share) = matched), without overflow."""
    if share <= 0 or share >= 1:
        return float(matched == (0 if share <= 0 else count))
    log = math.lgamma(count + 1) - math.lgamma(matched + 1) - math.lgamma(count - matched + 1)
    return math.exp(log + matched * math.log(share) + (count - matched) * math.log1p(-share))
