"""How much two documents overlap, from their tokens alone, and how sure that is."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["overlap_interval", "shared_and_union"]

_Z = 1.959963984540054  # two-sided 95 % of the normal distribution


def shared_and_union(a: NDArray[Any], b: NDArray[Any], hash_bits: int) -> tuple[int, int]:
    """Count what the estimate needs; it is `shared / union`.

    Unbiased without rotation: the minimum of a bucket of the union lies in the intersection with probability J
    (Li, Owen, Zhang 2012, section 2.2, "jointly empty" buckets left out).

    Args:
        a: codes of a document's tokens, ascending, none twice.
        b: codes of another's.
        hash_bits: low bits of a code that are hash; the others are the bucket.

    Returns:
        Number of equal tokens, and number of buckets that are filled in a or in b.
    """
    shared = _count_common(a, b)
    common_buckets = _count_common(a >> hash_bits, b >> hash_bits)
    return shared, len(a) + len(b) - common_buckets


def _count_common(a: NDArray[Any], b: NDArray[Any]) -> int:
    """How many values two ascending arrays without repeats have in common."""
    if not len(a) or not len(b):
        return 0
    place = np.searchsorted(a, b)
    place[place == len(a)] = 0
    return int(np.count_nonzero(a[place] == b))


def overlap_interval(shared: int, union: int) -> tuple[float, float]:
    """The 95 % interval of an overlap of `shared / union` (Wilson 1927), fractions.

    A binomial bound: the buckets are drawn without replacement, so the true error is smaller for short texts.
    Without any bucket nothing is known: (0, 1).
    """
    if not union:
        return 0.0, 1.0
    share, z2 = shared / union, _Z * _Z / union
    centre = share + z2 / 2
    margin = _Z * math.sqrt(share * (1 - share) / union + z2 / (4 * union))
    # At the ends the formula gives 0 and 1, but for rounding.
    low = (centre - margin) / (1 + z2) if shared else 0.0
    high = (centre + margin) / (1 + z2) if shared < union else 1.0
    return low, high
