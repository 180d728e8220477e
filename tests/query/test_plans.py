"""A plan decides which candidates are hits from their tokens."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from simdoc_search.query import BandPlan, ThresholdPlan
from simdoc_search.query.plans import is_ruled_out
from simdoc_search.query.s_curve import probability_of_matches
from simdoc_search.sketch.estimate import TokenOverlap
from tests.support.query_plans import tokens

HALF = Fraction(1, 2)
BANDS = BandPlan(tokens(400), (tokens(400)[:4],))


def compared(shared: int, union: int) -> TokenOverlap:
    return TokenOverlap(shared, shared, union)


def test_without_a_probability_the_estimate_of_a_hit_reaches_the_overlap() -> None:
    """The document has at least the minimum of tokens, too. Without an overlap, this is enough."""
    plan = ThresholdPlan(tokens(100), 50)

    assert [True, False] == [plan.is_hit(compared(60, union), HALF) for union in (120, 121)]
    assert [True, False] == [plan.is_hit(compared(matched, 60), HALF) for matched in (50, 49)]
    assert [True, False] == [plan.is_hit(compared(matched, 9000), None) for matched in (50, 49)]


def test_with_a_probability_the_estimate_of_a_hit_reaches_the_share_of_the_minimum() -> None:
    plan = ThresholdPlan(tokens(100), 40, allows_lower_estimates=True)

    assert [True, False] == [plan.is_hit(compared(40, union), HALF) for union in (100, 101)]


def test_a_match_of_a_band_is_a_hit_unless_its_estimate_rules_out_the_overlap() -> None:
    """Of the documents with the overlap, 1 % have such a low estimate."""
    assert [True, False] == [BANDS.is_hit(compared(shared, 400), HALF) for shared in (177, 176)]
    assert pytest.approx(0.99, abs=0.002) == probability_of_matches(400, 177, 0.5)
    assert [True, False] == [BANDS.is_hit(compared(matched, 400), None) for matched in (6, 5)]


@pytest.mark.parametrize(("z_score", "rate"), [(2.33, 0.01), (3.09, 0.001)])
@pytest.mark.parametrize("shingles", [10, 20, 50, 200, 1000])
def test_few_documents_at_the_overlap_are_ruled_out(shingles: int, z_score: float, rate: float) -> None:
    """The texts may be short. A fifth of the shingles are shared, and fall into random slots, which keep one each."""
    rng, trials = np.random.default_rng(shingles), 3000
    limit, missed = Fraction(1, 5), 0
    for _ in range(trials):
        slots, first = np.unique(rng.integers(0, 512, shingles), return_index=True)
        shared = int(np.count_nonzero(rng.permutation(shingles)[first] < shingles // 5))
        missed += is_ruled_out(TokenOverlap(shared, shared, len(slots) * 511 / 512, 512), limit, z_score)

    assert missed <= rate * trials + 3 * math.sqrt(rate * trials)


def test_a_short_text_far_below_the_overlap_is_not_a_hit() -> None:
    """The estimate of a short text is not less exact than the estimate of a long one."""
    assert [True, False] == [BANDS.is_hit(TokenOverlap(n, n, 100, 512), Fraction(1, 5)) for n in (17, 16)]
    assert [True, False] == [BANDS.is_hit(TokenOverlap(n, n, 500, 512), Fraction(1, 5)) for n in (82, 81)]


def test_hits_have_the_minimum_share_of_the_tokens() -> None:
    """A store needs not read candidates with fewer tokens."""
    assert 177 == -(-BANDS.min_token_share(HALF) * 400 // 1)
    for union in (400, 500, 700):
        least = next(shared for shared in range(401) if BANDS.is_hit(compared(shared, union), HALF))
        assert least >= BANDS.min_token_share(HALF) * 400
    assert 0 == BANDS.min_token_share(None)
