"""Creates plans from an overlap and a probability.

A plan says which tokens of the query document's fingerprint a document must share, and how many.

`ThresholdPlan` counts matching tokens, and finds every document whose estimate reaches the overlap. `BandPlan` uses
fewer tokens and misses some documents. A document must share all tokens of at least one band. A document of overlap s
shares one token with probability s, and all r tokens of a band with probability s**r. It shares at least one of b
bands with probability 1 - (1 - s**r)**b (Rajaraman, Leskovec, Ullman, Mining of Massive Datasets, 3.4.2).
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Literal, get_args

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import (
    ONE_SIDED_Z_SCORE,
    BandPlan,
    Plan,
    ThresholdPlan,
    min_matches,
    min_matches_beyond_chance,
)
from simdoc_search.query.s_curve import lower_bound_of_matches, probability_of_bands

Planner = Literal["enough", "all"]
"""The method that chooses bands; see `plan`."""

PLANNERS: tuple[Planner, ...] = get_args(Planner)

_MAX_FALSE_POSITIVE_RATE = 0.05
"""Maximum probability that a plan of planner `enough` finds a document of half the overlap."""
_MAX_MISS_RATE = 0.01
"""Maximum probability that a document of exactly the overlap has too few matching tokens for a verified query."""
_TOLERANCE = 1e-12  # two probabilities are treated as equal if they differ by less
_MAX_DIGITS = 40
_MAX_BUCKETS = 2**31 - 1  # the largest value of an integer field in an engine


def parse_fraction(value: float | str | Fraction, name: str) -> Fraction:
    """Return a number from 0 to 1 as the exact fraction of its decimal form: 0.07 is 7/100.

    Raises:
        QuerySyntaxError: the value is not a number from 0 to 1.
    """
    try:
        fraction = value if isinstance(value, Fraction) else Fraction(_parse_decimal(str(value)))
    except (ValueError, ArithmeticError):
        raise QuerySyntaxError(f"{name} must be a number from 0 to 1, not {value!r:.40}") from None
    if not 0 <= fraction <= 1:
        raise QuerySyntaxError(f"{name} must be a fraction from 0 to 1, not {value}; 20 % is 0.2")
    return fraction


def _parse_decimal(text: str) -> Decimal:
    """Parse a number of limited length. Exact arithmetic with longer numbers would be too slow."""
    number = Decimal(text)
    if len(text) > _MAX_DIGITS or not number.is_finite() or (number and abs(number.adjusted()) > _MAX_DIGITS):
        raise ValueError(text)
    return number


def plan(
    tokens: Sequence[str],
    overlap: float | str | Fraction | None = None,
    probability: float | str | Fraction | None = None,
    *,
    planner: Planner = "enough",
    is_verified: bool = False,
) -> Plan:
    """Plan a query.

    Args:
        tokens: tokens of the query document, in the order of their buckets.
        overlap: minimum Jaccard similarity, 0..1. None or 0: any overlap, that is, more matching tokens than expected
            by chance (`min_matches_beyond_chance`).
        probability: probability of finding a document of exactly that overlap, greater than 0 and at most 1. None or 1:
            every document is found.
        planner: how tokens are divided into bands. `enough` makes as few bands as the probability requires. `all`
            divides all tokens, as Alfresco and Solr do.
        is_verified: whether the texts of candidates are compared afterwards. If so, a threshold requires fewer matching
            tokens, so that it misses fewer than 1 % of the documents of that overlap. Bands do not change.

    Returns:
        A `ThresholdPlan`, or `BandPlan` for a probability below 1. A plan without tokens finds nothing.

    Raises:
        QuerySyntaxError: the overlap or probability is out of range, or the planner is unknown.
    """
    check_planner(planner)
    tokens = tuple(tokens)
    min_overlap = Fraction(0) if overlap is None else parse_fraction(overlap, "overlap")
    min_probability = Fraction(1) if probability is None else parse_fraction(probability, "probability")
    if not min_probability:
        raise QuerySyntaxError("probability 0 would find nothing; set a probability greater than 0 and at most 1")
    if not min_overlap and min_probability < 1:
        raise QuerySyntaxError(
            "a probability requires an overlap above 0; for example, doc123_20_80 means 20 % overlap with 80 % "
            "probability"
        )
    if not tokens or not min_overlap:
        return ThresholdPlan(tokens, min_matches_beyond_chance(len(tokens)))
    if float(min_probability) == 1:
        return (
            _threshold_for_verified_query(tokens, min_overlap) if is_verified else _make_threshold(tokens, min_overlap)
        )
    count = len(tokens)
    if planner == "all":
        tokens_per_band = alfresco_tokens_per_band(count, min_overlap, min_probability)
        wrapped = tokens + tokens[:tokens_per_band]  # a short last band wraps around to the first tokens
        bands = tuple(wrapped[first : first + tokens_per_band] for first in range(0, count, tokens_per_band))
    else:
        tokens_per_band, band_count = choose_banding(count, min_overlap, min_probability)
        bands = tuple(tokens[n * tokens_per_band : (n + 1) * tokens_per_band] for n in range(band_count))
    band_plan = BandPlan(
        tokens,
        bands,
        _min_match_of_bands(count, tokens_per_band, len(bands), float(min_overlap), float(min_probability)),
    )
    return replace(band_plan, plan_without_bands=_plan_without_bands(band_plan, min_overlap))


def check_planner(planner: object) -> None:
    """Raise a QuerySyntaxError if a planner is unknown."""
    if planner not in PLANNERS:
        raise QuerySyntaxError(
            "planner must be 'enough' (as few bands as the probability requires) or 'all' (bands of all tokens), not "
            f"{planner!r:.60}"
        )


def _make_threshold(tokens: tuple[str, ...], overlap: Fraction) -> ThresholdPlan:
    """Return a threshold that misses no document whose estimate reaches the overlap.

    The estimate is the number of shared tokens divided by the number of filled buckets of the union. The union has at
    least as many filled buckets as the query has tokens. However, the threshold is at least
    `min_matches_beyond_chance`, so it can miss documents if the overlap is under 10 %.
    """
    count = len(tokens)
    minimum, maximum = math.ceil(count * overlap), min(math.floor(count / overlap), _MAX_BUCKETS)
    return ThresholdPlan(tokens, max(minimum, min_matches_beyond_chance(count)), (minimum, maximum))


def _threshold_for_verified_query(tokens: tuple[str, ...], overlap: Fraction) -> ThresholdPlan:
    """Return a threshold for a query that compares the texts of its candidates afterwards.

    If the overlap is at least 5 %, 99 % of the documents of this overlap reach the threshold. The `token_range` is
    wider than that of `_make_threshold`, to allow for random deviations.
    """
    count = len(tokens)
    minimum = max(lower_bound_of_matches(count, float(overlap), _MAX_MISS_RATE), min_matches(count, overlap))
    expected = count / float(overlap)
    maximum = min(math.ceil(expected + ONE_SIDED_Z_SCORE * math.sqrt(expected)), _MAX_BUCKETS)
    return ThresholdPlan(tokens, minimum, (minimum, maximum))


def _min_match_of_bands(count: int, tokens_per_band: int, band_count: int, overlap: float, probability: float) -> int:
    """Return the number of matching tokens that a plan with bands can require in addition to a whole band.

    The bands alone find a document with a slightly higher probability than requested. The additional condition lowers
    the probability by less than this difference, and by less than 1 %.
    """
    margin = probability_of_bands(count, tokens_per_band, band_count, overlap) - probability
    return lower_bound_of_matches(count, overlap, min(_MAX_MISS_RATE, max(0.0, margin)))


def _plan_without_bands(band_plan: BandPlan, overlap: Fraction) -> ThresholdPlan:
    """Return a threshold that finds a document of this overlap at least as reliably as the bands do."""
    count = len(band_plan.tokens)
    likely = lower_bound_of_matches(count, float(overlap), 1 - band_plan.probability_of_finding(float(overlap)))
    minimum = max(min(likely, math.ceil(count * overlap)), min_matches(count, overlap))
    return ThresholdPlan(band_plan.tokens, minimum, allows_lower_estimates=True)


@functools.lru_cache(maxsize=4096)  # most queries have the same number of tokens
def choose_banding(count: int, overlap: Fraction, probability: Fraction) -> tuple[int, int]:
    """Return the tokens per band and the number of bands of planner `enough`, for `count` query tokens.

    For each number of tokens per band, the planner considers the plan with the fewest bands that reach the probability.
    It omits a plan if there are not enough tokens for its bands. A plan is selective if it finds a document of half the
    overlap with a probability of at most 5 %. The planner chooses the selective plan with the fewest clauses. If no
    plan is selective, it chooses the plan that finds such a document with the lowest probability. If no plan reaches
    the requested probability, all tokens are used, in bands of one token. `BandPlan.probability_of_finding` returns the
    actual probability.
    """
    s, p = float(overlap), float(probability)
    plans: list[tuple[bool, float, int, int, int]] = []
    for tokens_per_band in range(1, count + 1):
        bands = _fewest_bands(s**tokens_per_band, p, count // tokens_per_band)
        if bands is not None:
            false_positives = -math.expm1(bands * math.log1p(-((s / 2) ** tokens_per_band)))
            is_selective = false_positives <= _MAX_FALSE_POSITIVE_RATE + _TOLERANCE
            plans.append(
                (
                    not is_selective,
                    0.0 if is_selective else false_positives,
                    bands * tokens_per_band,
                    tokens_per_band,
                    bands,
                )
            )
    return min(plans)[3:] if plans else (1, count)


def _fewest_bands(band_probability: float, probability: float, max_bands: int) -> int | None:
    """Return the minimum number of bands such that at least one matches with the given probability.

    `band_probability` is the probability that one band matches. If more than `max_bands` bands are needed, return None.
    """
    if band_probability >= 1:
        return 1
    # The formula below would divide by zero. No document has enough tokens for the necessary number of bands anyway.
    if band_probability < 1e-300:
        return None
    needed = math.log1p(-probability) / math.log1p(-band_probability)
    if needed > max_bands + 1:
        return None
    bands = max(1, math.ceil(needed))
    return bands if bands <= max_bands else None


def alfresco_tokens_per_band(count: int, overlap: Fraction, probability: Fraction) -> int:
    """Return the number of tokens per band of planner `all`, for `count` query tokens.

    The result is r = n // b, for the smallest number of bands b with 1 - (1 - s**r)**b > p. Here n is the number of
    tokens, s is the overlap, and p is the probability.

    Source: computeBandSize in Alfresco's Solr4QueryParser and in Solr's MinHashQParser. Like these, it uses floats.
    """
    s, p = float(overlap), float(probability)
    for bands in range(1, count + 1):
        tokens_per_band = count // bands
        if 1 - (1 - s**tokens_per_band) ** bands > p:
            return tokens_per_band
    return 1
