"""Computes the probability that a document is found, as a function of its true overlap (the S-curve).

The model assumes that each token of the query is shared with probability `overlap`, independently of the others.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray


def probability_of_matches(count: int, minimum: int, overlap: float) -> float:
    """Return the probability, 0..1, that at least `minimum` of `count` tokens are shared."""
    return min(1.0, math.fsum(_binomial(count, matched, overlap) for matched in range(minimum, count + 1)))


@functools.lru_cache(maxsize=4096)  # queries have few different numbers of tokens
def reliable_matches(count: int, overlap: float, missed: float) -> int:
    """Return how many of `count` tokens a document of this overlap shares, except with probability `missed`.

    This is the largest k with P(Binomial(count, overlap) < k) < missed. For example, a document of overlap 0.2 shares
    82 or more of 512 tokens in 99 of 100 cases. The expected number is 102.4.
    """
    fewer = 0.0
    for matched in range(count):
        fewer += _binomial(count, matched, overlap)
        if fewer >= missed:
            return matched
    return count


@functools.lru_cache(maxsize=4096)
def probability_of_bands(count: int, rows: int, bands: int, overlap: float, minimum: int = 0) -> float:
    """Return the probability, 0..1, that at least one whole band is shared, and at least `minimum` tokens in total.

    The result is exact, even if the last band wraps around, that is, contains the first tokens again. For example, 40
    bands of 2 tokens at overlap 0.2 give 1 - (1 - 0.04)**40 = 0.805. With a `minimum`, the result is the probability of
    enough tokens, minus the probability of enough tokens without a whole band. For the latter, the generating functions
    of the bands are multiplied.

    Args:
        count: number of tokens of the query.
        rows: tokens per band.
        bands: number of bands.
        overlap: the true overlap, 0..1.
        minimum: number of tokens that must be shared. Values up to `rows` make no difference.
    """
    if not count or not bands:
        return 0.0
    if minimum > rows:
        without_band = float(_without_band(count, rows, bands, overlap)[minimum:].sum())
        return max(0.0, probability_of_matches(count, minimum, overlap) - without_band)
    match: float = overlap**rows
    wrapped = rows * bands - count  # tokens of the first band that are also in the last band
    if wrapped <= 0 or bands == 1:
        return 1 - (1 - match) ** bands
    both: float = overlap ** (2 * rows - wrapped)
    return 1 - (1 - match) ** (bands - 2) * (1 - 2 * match + both)


def _without_band(count: int, rows: int, bands: int, overlap: float) -> NDArray[np.float64]:
    """Return the probability of each number of shared tokens, for documents that do not share a whole band."""
    wrapped = max(0, rows * bands - count) if bands > 1 else 0
    partial = _distribution(rows, overlap)
    partial[rows] = 0.0
    if wrapped:
        both = 2 * rows - wrapped  # tokens of the first band and the last band together
        others = _distribution(both, overlap)
        others[rows:] -= 2 * overlap**rows * _distribution(both - rows, overlap)
        others[both] += overlap**both
    else:
        others = _distribution(count - rows * bands, overlap)
    for _ in range(bands - 2 if wrapped else bands):
        others = np.convolve(others, partial)
    return others


def _distribution(count: int, share: float) -> NDArray[np.float64]:
    """Return the probability of each number of shared tokens, from 0 to `count`."""
    return np.array([_binomial(count, matched, share) for matched in range(count + 1)])


def _binomial(count: int, matched: int, share: float) -> float:
    """Return P(Binomial(count, share) = matched), without overflow."""
    if share <= 0 or share >= 1:
        return float(matched == (0 if share <= 0 else count))
    log = math.lgamma(count + 1) - math.lgamma(matched + 1) - math.lgamma(count - matched + 1)
    return math.exp(log + matched * math.log(share) + (count - matched) * math.log1p(-share))
