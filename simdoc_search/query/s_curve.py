"""Computes the probability that a document is found, as a function of its true overlap (the S-curve).

The model assumes that a document shares each fingerprint token of the query with probability `overlap`, independently
of the other tokens.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray


def probability_of_matches(count: int, minimum: int, overlap: float) -> float:
    """Return the probability, 0..1, that a document shares at least `minimum` of `count` tokens."""
    return min(1.0, math.fsum(_binomial_probability(count, matched, overlap) for matched in range(minimum, count + 1)))


@functools.lru_cache(maxsize=4096)  # most queries have the same number of tokens
def lower_bound_of_matches(count: int, overlap: float, miss_probability: float) -> int:
    """Return a lower bound of the number of shared tokens. A document with this overlap rarely shares fewer tokens.

    The result is the largest k with P(Binomial(count, overlap) < k) < miss_probability. For example, a document of
    overlap 0.2 shares at least 82 of 512 tokens in 99 of 100 cases. The expected number is 102.4.
    """
    fewer = 0.0
    for matched in range(count):
        fewer += _binomial_probability(count, matched, overlap)
        if fewer >= miss_probability:
            return matched
    return count


@functools.lru_cache(maxsize=4096)
def probability_of_bands(count: int, tokens_per_band: int, band_count: int, overlap: float, minimum: int = 0) -> float:
    """Return the probability, 0..1, that a document shares at least one whole band and at least `minimum` tokens.

    The result is exact, even if the last band wraps around, that is, also contains the first tokens. For example, for
    40 bands of 2 tokens and overlap 0.2, it is 1 - (1 - 0.04)**40 = 0.805. With a `minimum`, the result is P(at least
    `minimum` tokens) - P(at least `minimum` tokens, but no whole band). The second term is a convolution of the
    distributions of the bands. A `minimum` up to `tokens_per_band` has no effect, because a whole band has as many
    tokens.
    """
    if not count or not band_count:
        return 0.0
    if minimum > tokens_per_band:
        without_band = float(
            _match_distribution_without_whole_band(count, tokens_per_band, band_count, overlap)[minimum:].sum()
        )
        return max(0.0, probability_of_matches(count, minimum, overlap) - without_band)
    band_probability: float = overlap**tokens_per_band
    wrapped = tokens_per_band * band_count - count  # number of tokens of the first band that are also in the last band
    if wrapped <= 0 or band_count == 1:
        return 1 - (1 - band_probability) ** band_count
    both_probability: float = overlap ** (2 * tokens_per_band - wrapped)
    return 1 - (1 - band_probability) ** (band_count - 2) * (1 - 2 * band_probability + both_probability)


def _match_distribution_without_whole_band(
    count: int, tokens_per_band: int, band_count: int, overlap: float
) -> NDArray[np.float64]:
    """Return an array. Element n is the probability that a document shares exactly n tokens and no whole band."""
    wrapped = max(0, tokens_per_band * band_count - count) if band_count > 1 else 0
    partial_band = _match_distribution(tokens_per_band, overlap)
    partial_band[tokens_per_band] = 0.0
    if wrapped:
        joint_tokens = 2 * tokens_per_band - wrapped  # number of distinct tokens in the first and the last band
        distribution = _match_distribution(joint_tokens, overlap)
        distribution[tokens_per_band:] -= (
            2 * overlap**tokens_per_band * _match_distribution(joint_tokens - tokens_per_band, overlap)
        )
        distribution[joint_tokens] += overlap**joint_tokens
    else:
        distribution = _match_distribution(count - tokens_per_band * band_count, overlap)
    for _ in range(band_count - 2 if wrapped else band_count):
        distribution = np.convolve(distribution, partial_band)
    return distribution


def _match_distribution(count: int, probability: float) -> NDArray[np.float64]:
    """Return the probabilities of 0 to `count` shared tokens; float64, shape (count + 1,)."""
    return np.array([_binomial_probability(count, matched, probability) for matched in range(count + 1)])


def _binomial_probability(count: int, matched: int, probability: float) -> float:
    """Return P(Binomial(count, probability) = matched), without overflow."""
    if probability <= 0 or probability >= 1:
        return float(matched == (0 if probability <= 0 else count))
    log_coefficient = math.lgamma(count + 1) - math.lgamma(matched + 1) - math.lgamma(count - matched + 1)
    return math.exp(log_coefficient + matched * math.log(probability) + (count - matched) * math.log1p(-probability))
