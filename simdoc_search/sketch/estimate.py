"""Estimates the overlap of two documents from their tokens, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Estimate = Callable[[NDArray[Any], NDArray[Any]], tuple[int, int]]
"""Maps the token codes of two documents to the counts `shared` and `union`. Their quotient is the estimated overlap."""

_Z = 1.959963984540054  # two-sided 95 % of the normal distribution


def shared_and_union(a: NDArray[Any], b: NDArray[Any], bits: int) -> tuple[int, int]:
    """Return two counts, `shared` and `union`. Their quotient is an estimate of the Jaccard similarity J.

    Without rotation, it is unbiased: the minimum of a bucket of the union is in the intersection with probability J.
    Buckets that are empty in both documents do not count (Li, Owen, Zhang 2012, section 2.2).

    Args:
        a: token codes of one document, ascending, without repeats.
        b: token codes of the other document.
        bits: number of low bits of a code that belong to the hash. The others are the bucket.

    Returns:
        The number of equal tokens, and the number of buckets that are filled in either document.
    """
    return count_common(a, b), len(a) + len(b) - count_common(a >> bits, b >> bits)


def count_common(a: NDArray[Any], b: NDArray[Any]) -> int:
    """Count the values that two ascending arrays without repeats have in common."""
    if not len(a) or not len(b):
        return 0
    index = np.searchsorted(a, b)
    index[index == len(a)] = 0
    return int(np.count_nonzero(a[index] == b))


def overlap_interval(shared: int, union: int) -> tuple[float, float]:
    """Return the 95 % confidence interval of an overlap of `shared / union`, as fractions.

    This is a binomial bound. Buckets are drawn without replacement, so the true error is smaller for short texts.
    """
    return wilson_interval(shared / union if union else 0.0, union)


def wilson_interval(share: float, size: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a proportion, as fractions: Wilson's score interval (1927).

    https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval

    Args:
        share: the proportion in the sample, 0..1.
        size: the size of the sample. For 0, the interval is (0, 1).
    """
    if not size:
        return 0.0, 1.0
    z2 = _Z * _Z / size
    centre = share + z2 / 2
    margin = _Z * math.sqrt(share * (1 - share) / size + z2 / (4 * size))
    # For a share of 0 or 1, the exact bound is 0 or 1, but the formula has rounding errors.
    low = (centre - margin) / (1 + z2) if share else 0.0
    high = (centre + margin) / (1 + z2) if share < 1 else 1.0
    return low, high
