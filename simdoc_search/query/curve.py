"""The S-curve: the probability that a document is found, by its true overlap.

Each token of the query is assumed to be shared with probability `overlap`, independently of the others.
"""

from __future__ import annotations

import functools
import math

import numpy as np
from numpy.typing import NDArray


def chance_of_matches(count: int, least: int, overlap: float) -> float:
    """Return the probability, 0..1, that at least `least` of `count` tokens are shared."""
    return min(1.0, math.fsum(_binomial(count, matched, overlap) for matched in range(least, count + 1)))


@functools.lru_cache(maxsize=4096)  # queries have few different numbers of tokens
def sure_matches(count: int, overlap: float, missed: float) -> int:
    """Return the number of matches that a document of this overlap reaches except with probability `missed`.

    This is the largest k with P(Binomial(count, overlap) < k) < missed. Example: of 512 tokens, a document of overlap
    0.2 shares 82 or more in 99 of 100 cases, where 102.4 are expected.
    """
    fewer = 0.0
    for matched in range(count):
        fewer += _binomial(count, matched, overlap)
        if fewer >= missed:
            return matched
    return count


@functools.lru_cache(maxsize=4096)
def chance_of_bands(count: int, rows: int, bands: int, overlap: float, least: int = 0) -> float:
    """Return the probability, 0..1, that at least one band is shared as a whole, and at least `least` tokens in total.

    Exact, including a last band that wraps around; only it and the first band share tokens. Example: 40 bands of 2 at
    overlap 0.2 give 1 - (1 - 0.04)**40 = 0.805. With `least`, documents without a whole band are subtracted from
    those with enough tokens; their number of tokens is distributed as the product of the bands' polynomials.

    Args:
        count: number of the query's tokens.
        rows: tokens per band.
        bands: number of bands.
        overlap: the true overlap, 0..1.
        least: tokens that must be shared; up to `rows` it makes no difference.
    """
    if not count or not bands:
        return 0.0
    if least > rows:
        without = float(_without_band(count, rows, bands, overlap)[least:].sum())
        return max(0.0, chance_of_matches(count, least, overlap) - without)
    match: float = overlap**rows
    wrapped = rows * bands - count  # tokens that the last band takes from the first
    if wrapped <= 0 or bands == 1:
        return 1 - (1 - match) ** bands
    both: float = overlap ** (2 * rows - wrapped)
    return 1 - (1 - match) ** (bands - 2) * (1 - 2 * match + both)


def _without_band(count: int, rows: int, bands: int, overlap: float) -> NDArray[np.float64]:
    """Return the probability of each number of shared tokens without a whole band."""
    wrapped = max(0, rows * bands - count) if bands > 1 else 0
    partial = _distribution(rows, overlap)
    partial[rows] = 0.0
    if wrapped:
        both = 2 * rows - wrapped  # tokens of the first band and the last
        others = _distribution(both, overlap)
        others[rows:] -= 2 * overlap**rows * _distribution(both - rows, overlap)
        others[both] += overlap**both
    else:
        others = _distribution(count - rows * bands, overlap)
    for _ in range(bands - 2 if wrapped else bands):
        others = np.convolve(others, partial)
    return others


def _distribution(count: int, share: float) -> NDArray[np.float64]:
    """Return the probability of each number of shared tokens, of `count`."""
    return np.array([_binomial(count, matched, share) for matched in range(count + 1)])


def _binomial(count: int, matched: int, share: float) -> float:
    """Return P(Binomial(count, share) = matched), without overflow."""
    if share <= 0 or share >= 1:
        return float(matched == (0 if share <= 0 else count))
    log = math.lgamma(count + 1) - math.lgamma(matched + 1) - math.lgamma(count - matched + 1)
    return math.exp(log + matched * math.log(share) + (count - matched) * math.log1p(-share))
