"""Evaluates query plans, for tests."""

from __future__ import annotations

from collections.abc import Iterable

from simdoc_search.query.plans import Plan, ThresholdPlan

__all__ = ["satisfies", "tokens"]


def tokens(count: int) -> tuple[str, ...]:
    """Return distinct tokens with the names of the reference vectors."""
    return tuple(f"h{number:03}" for number in range(count))


def satisfies(plan: Plan, document: Iterable[str]) -> bool:
    """Return whether a document with these tokens satisfies a plan."""
    has = set(document)
    has_enough = len(has & set(plan.tokens)) >= plan.minimum_match
    return has_enough and (isinstance(plan, ThresholdPlan) or any(map(has.issuperset, plan.bands)))
