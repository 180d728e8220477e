"""Estimates the overlap of two documents from the tokens of their fingerprints, with confidence intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.tokens import HASH_BITS

_Z_SCORE = 1.959963984540054  # quantile of the normal distribution for a two-sided 95 % interval
_CHANCE = 1 / (1 << HASH_BITS)  # the probability that two different minima have equal tokens


class TokenOverlap(NamedTuple):
    """The estimated overlap of two documents."""

    matched_token_count: int  # number of tokens that both documents have
    shared_count: float  # estimated number of matching tokens, without those that match by chance; at least 0
    # number of tokens in the union, corrected for chance like `shared_count`. The estimated Jaccard similarity is
    # `shared_count / union_count`.
    union_count: float
    slot_count: int = 0  # number of slots of the sketch, if each shingle falls into one slot. 0: any other sketch.

    @property
    def overlap(self) -> float:
        """The estimated Jaccard similarity, 0..1. It is 0 if neither document has tokens."""
        return self.shared_count / self.union_count if self.union_count else 0.0

    @property
    def sample_size(self) -> float:
        """Size of a random sample, drawn with replacement, that has the standard error of this estimate.

        If each shingle falls into one slot, the filled slots are a sample without replacement. From N of U shingles,
        its variance is J (1 - J) (1/N - 1/U). N filled slots of M mean that U is about -M ln(1 - N/M). So the size is
        from M, for long texts, to 2 M, for short ones.
        """
        filled = min(self.union_count / (1 - _CHANCE), self.slot_count)
        if not filled:
            return self.union_count
        if filled == self.slot_count:
            return filled
        return 1 / (1 / filled + 1 / (self.slot_count * math.log1p(-filled / self.slot_count)))


CompareTokens = Callable[[NDArray[Any], NDArray[Any]], TokenOverlap]
"""Compares the tokens of two documents, given as ascending token ids."""


def compare_token_ids(a: NDArray[Any], b: NDArray[Any], slot_count: int = 0) -> TokenOverlap:
    """Estimate the Jaccard similarity J from token ids.

    Without rotation (`MinHash.with_rotation`), the estimate is unbiased, because the minimum of each slot of the union
    is in the intersection with probability J. Slots that are empty in both documents do not count (Li, Owen, Zhang
    2012, section 2.2). For tokens that match by chance, see `correct_for_chance`.

    Args:
        a: token ids of one document, ascending, without repeats.
        b: token ids of the other document.
        slot_count: as in `TokenOverlap`.
    """
    matched, common = count_common(a, b), count_common(a >> HASH_BITS, b >> HASH_BITS)
    union = len(a) + len(b) - common
    shared, scaled_union = correct_for_chance(matched, common, union)
    return TokenOverlap(matched, float(shared), float(scaled_union), slot_count)


def correct_for_chance(matched: Any, common: Any, union: Any) -> tuple[Any, Any]:
    """Correct the number of matching tokens for tokens that match by chance.

    Two different minima of a slot have matching tokens with probability p = 2**-HASH_BITS. `common` slots are filled in
    both documents, and J * union slots have equal minima. So the expected value of `matched` is J * union + p * (common
    - J * union). An unbiased estimate of J is (matched - p * common) / (union - p * union).

    Args:
        matched: number of matching tokens, or an array for several pairs of documents.
        common: number of slots that are filled in both documents.
        union: number of slots that are filled in at least one document.

    Returns:
        `shared_count` and `union_count`, as in `TokenOverlap`; float64.
    """
    return np.maximum(matched - common * _CHANCE, 0.0), union * (1 - _CHANCE)


def count_common(a: NDArray[Any], b: NDArray[Any]) -> int:
    """Count the values that two ascending arrays without repeats have in common."""
    if not len(a) or not len(b):
        return 0
    index = np.searchsorted(a, b)
    index[index == len(a)] = 0
    return int(np.count_nonzero(a[index] == b))


def overlap_interval(shared_count: float, union_count: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of an overlap of `shared_count / union_count`, as fractions.

    The interval assumes a binomial distribution, that is, sampling with replacement. A sketch samples each shingle at
    most once, so the error of short texts is smaller.
    """
    return wilson_interval(shared_count / union_count if union_count else 0.0, union_count)


def wilson_interval(share: float, sample_size: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a proportion, as fractions: Wilson's score interval (1927).

    https://en.wikipedia.org/wiki/Binomial_proportion_confidence_interval#Wilson_score_interval

    Args:
        share: the proportion in the sample, 0..1.
        sample_size: the size of the sample. For 0, the interval is (0, 1).
    """
    if not sample_size:
        return 0.0, 1.0
    z2 = _Z_SCORE * _Z_SCORE / sample_size
    centre = share + z2 / 2
    margin = _Z_SCORE * math.sqrt(share * (1 - share) / sample_size + z2 / (4 * sample_size))
    # For a share of 0 or 1, the exact bound is 0 or 1, but the formula has rounding errors.
    low = (centre - margin) / (1 + z2) if share else 0.0
    high = (centre + margin) / (1 + z2) if share < 1 else 1.0
    return low, high
