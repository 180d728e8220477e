"""The probability that a plan finds a document."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.query import BandPlan, ThresholdPlan, plan
from simdoc_search.query.planner import Planner, choose_banding
from simdoc_search.query.plans import Plan
from simdoc_search.query.s_curve import lower_bound_of_matches
from tests.support.query_plans import satisfies, tokens
from tests.support.slow_cases import slow_after


def wrapped(count: int, rows: int) -> BandPlan:
    """Return bands of all tokens. The first tokens fill up the last band."""
    around = tokens(count) * 2
    return BandPlan(tokens(count), tuple(around[first : first + rows] for first in range(0, count, rows)))


def small_plans() -> Iterator[Plan]:
    """Yield thresholds, bands in which any number of tokens wrap around, and plans of both planners."""
    for count in (1, 2, 3, 5, 8):
        for number in range(1, count + 1):
            yield ThresholdPlan(tokens(count), number)
            yield wrapped(count, number)
    for planner in ("enough", "all"):
        for overlap in (0.1, 0.5, 0.9):
            yield plan(tokens(9), overlap, 0.8, planner=planner)


def test_the_curve_is_the_exact_probability_that_the_plan_is_satisfied() -> None:
    """This is the sum of s^shared (1-s)^missing over all sets of shared tokens that satisfy the plan."""
    for made in small_plans():
        count = len(made.tokens)
        subsets = (set(chosen) for size in range(count + 1) for chosen in combinations(made.tokens, size))
        accepted = [len(shared) for shared in subsets if satisfies(made, shared)]

        for share in (0.0, 0.01, 0.3, 0.5, 0.8, 0.999, 1.0):
            expected = math.fsum(share**shared * (1 - share) ** (count - shared) for shared in accepted)
            assert expected == pytest.approx(made.probability_of_finding(share), rel=1e-11, abs=1e-13), made


@pytest.mark.parametrize(
    ("overlap", "planner", "at", "expected"),
    [
        (0.2, "enough", 0.2, 0.8046),
        (0.8, "enough", 0.8, 0.8386),
        (0.5, "enough", 0.5, 0.8019),
        (0.2, "all", 0.2, 0.99997),
        (0.2, "all", 0.05, 0.4731),
    ],
)
def test_documented_probabilities_of_512_tokens(overlap: float, planner: Planner, at: float, expected: float) -> None:
    """In a query for 20 %, the bands of planner `all` match 47 of 100 documents of 5 % overlap."""
    made = plan(tokens(512), overlap, 0.8, planner=planner)
    assert isinstance(made, BandPlan)

    assert expected == pytest.approx(replace(made, minimum_match=0).probability_of_finding(at), abs=5e-5)
    assert made.probability_of_finding(at) < expected


@pytest.mark.parametrize(("overlap", "minimum", "unbanded"), [(0.2, 79, 95), (0.5, 223, 246), (0.8, 388, 401)])
def test_bands_also_require_a_number_of_equal_tokens(overlap: float, minimum: int, unbanded: int) -> None:
    """The number is as high as a probability of 80 % allows. The plan without bands requires more matching tokens."""
    made = plan(tokens(512), overlap, 0.8)
    assert isinstance(made, BandPlan)
    assert made.plan_without_bands

    assert (minimum, unbanded) == (made.minimum_match, made.plan_without_bands.minimum_match)
    assert 0.8 <= made.probability_of_finding(overlap) <= made.plan_without_bands.probability_of_finding(overlap)


@given(
    st.integers(1, 512),
    st.integers(1, 100),
    st.none() | st.integers(1, 100),
    st.sampled_from(["enough", "all"]),
    st.lists(st.floats(0, 1), min_size=2, max_size=8),
)
def test_the_curve_rises_from_0_to_1(
    count: int, overlap: int, probability: int | None, planner: Planner, shares: list[float]
) -> None:
    made = plan(tokens(count), overlap / 100, None if probability is None else probability / 100, planner=planner)
    curve = [made.probability_of_finding(share) for share in sorted(shares)]

    assert (0, 1) == (made.probability_of_finding(0), made.probability_of_finding(1))
    assert all(0 <= low <= high + 1e-9 and high <= 1 for low, high in pairwise(curve))


@pytest.mark.parametrize("made", [ThresholdPlan((), 1), BandPlan((), ())])
def test_a_plan_without_tokens_finds_nothing(made: Plan) -> None:
    assert [0.0, 0.0] == [made.probability_of_finding(0.5), made.probability_of_finding(1)]


@cache
def curve(match: Decimal, limit: int) -> list[Decimal]:
    """Return 1-(1-m)^b for b = 1..limit."""
    missed, reached = Decimal(1), []
    for _ in range(limit):
        missed *= 1 - match
        reached.append(1 - missed)
    return reached


def best_plans(count: int, overlap: int, probability: int) -> set[tuple[int, int]]:
    """Return the plans by the rule of planner `enough`. This tries all rows and bands, with 60 digits."""
    share, chance, fitting = Decimal(overlap) / 100, Decimal(probability) / 100, []
    for rows in range(1, count + 1):
        reached = curve(share**rows, count // rows)
        bands = next((number for number, value in enumerate(reached, 1) if value >= chance), None)
        if bands:
            fitting.append((curve((share / 2) ** rows, count // rows)[bands - 1], rows, bands))
    tight = [row for row in fitting if row[0] <= Decimal("0.05")]
    if tight:
        fewest = min(rows * bands for _, rows, bands in tight)
        return {(rows, bands) for _, rows, bands in tight if rows * bands == fewest}
    return {(rows, bands) for stray, rows, bands in fitting if stray == min(fitting)[0]}


@pytest.mark.parametrize("count", slow_after(6, [1, 2, 3, 8, 27, 40, 512, 100, *range(4, 40, 5)]))
def test_planner_enough_follows_its_rule_and_reaches_the_probability(count: int) -> None:
    """If no plan fits, the bands have one token each, and the probability is lower."""
    step = 10 if count <= 40 else 25
    for overlap in {1, *range(step, 101, step), 85}:
        for probability in (1, 10, 36, 50, 80, 95, 99):
            with localcontext() as context:
                context.prec = 60
                best = best_plans(count, overlap, probability)
            share, chance = Fraction(overlap, 100), Fraction(probability, 100)
            chosen = choose_banding(count, share, chance)
            reached = plan(tokens(count), share, chance).probability_of_finding(float(share))

            assert chosen in (best or {(1, count)}), (overlap, probability)
            assert bool(best) == (reached >= float(chance) - 1e-12), (overlap, probability)


def test_reliable_matches_are_the_largest_number_that_is_rarely_missed() -> None:
    def fewer_than(matches: int, count: int, overlap: float) -> float:
        return math.fsum(math.comb(count, k) * overlap**k * (1 - overlap) ** (count - k) for k in range(matches))

    for count, overlap, missed in product((1, 5, 512), (0.05, 0.5, 0.99, 1.0), (0.01, 0.3)):
        reliable = lower_bound_of_matches(count, overlap, missed)

        assert fewer_than(reliable, count, overlap) < missed
        assert count == reliable or fewer_than(reliable + 1, count, overlap) >= missed


def test_a_verified_threshold_requires_less() -> None:
    """At 20 %, it requires 82 of 512 tokens instead of 103. The maximum number of tokens is higher."""
    made, strict = plan(tokens(512), 0.2, is_verified=True), plan(tokens(512), 0.2)

    assert isinstance(made, ThresholdPlan)
    assert isinstance(strict, ThresholdPlan)
    assert (82, (82, 2678)) == (made.minimum_match, made.token_range)
    assert (103, (103, 2560)) == (strict.minimum_match, strict.token_range)
    assert plan(tokens(512), 0.2, 0.8, is_verified=True) == plan(tokens(512), 0.2, 0.8)
    assert 1 == plan(tokens(5), 0.2, is_verified=True).minimum_match
