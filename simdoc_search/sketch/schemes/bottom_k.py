"""The k smallest hashes of a text.

The k smallest hashes of the union of two texts are among those of either text. Each is a random shingle of the union,
so the share that both texts have is an unbiased estimate of the Jaccard similarity. They are drawn without
replacement, so the error is slightly smaller than sqrt(J (1 - J) / k).

Tokens are the top bits of the hashes, in order. The longer a text, the fewer of these bits distinguish its smallest
hashes: 4 characters suffice for 100,000 shingles, 5 for millions.

Source: Broder 1997, "On the resemblance and containment of documents", MIN_s; Cohen, Kaplan 2007, "Summarizing data
using bottom-k sketches".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import MOST_PLACES, Codes, Minima, Sketch, check_number
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.slices import Hashes

_DEVIATIONS = 2.33  # beyond which one of 100 lies


@dataclass(frozen=True, slots=True)
class BottomK(Sketch):
    """The `count` smallest hashes.

    Attributes:
        count: k, 1 to 4,096.
        key: as in `MinHash`.
    """

    name: ClassVar[str] = "bottom_k"

    count: int = 512
    key: HashKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_number("count", self.count, 1, MOST_PLACES)

    @property
    def values(self) -> tuple[str, ...]:
        """The number of hashes."""
        return (str(self.count),)

    @classmethod
    def of_values(cls, values: Sequence[str]) -> BottomK:
        """Return the sketch of stored parameters."""
        (count,) = map(int, values)
        return cls(count)

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the smallest h1, without repeats."""
        del h2
        bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
        return [self._of_hashes(distinct(h1[a:b])) for a, b in itertools.pairwise(bounds)]

    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the smallest hashes of both parts."""
        return self._of_hashes(np.union1d(a.val2, b.val2))

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Return the number of shared tokens among the k smallest of the union, and the number of these."""
        del length
        union = np.union1d(a, b)[: self.count]
        if not len(union):
            return 0, 0
        last = union[-1]
        return count_common(a[a <= last], b[b <= last]), len(union)

    def banded(self, count: int, overlap: Fraction) -> int:
        """Return k * overlap tokens.

        A document of the overlap has at most 1 / overlap times as many shingles. Except by chance, its k smallest
        hashes therefore include every shared one of our first k * overlap. It may share later ones without keeping
        them.
        """
        expected = self.count * float(overlap)
        sure = expected - _DEVIATIONS * math.sqrt(expected * (1 - float(overlap)))
        return min(count, max(1, math.floor(sure)))

    def _of_hashes(self, hashes: Hashes) -> Minima:
        smallest = hashes[: self.count]
        return Minima(np.zeros(len(smallest), np.int64), smallest, smallest)
