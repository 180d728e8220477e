"""One hash of a shingle, XOR-ed with random numbers: one hash function per number, for the price of one hash.

The first function is the hash itself. Each function keeps its smallest value. The hash is as good as random, so each
shingle is chosen with the same probability, and the share of places where two texts agree is an unbiased estimate of
their Jaccard similarity. Functions with close numbers choose the same shingle more often than independent ones. A text
with fewer shingles than functions therefore has a larger error than sqrt(J (1 - J) / count).

Source: "MinHash for dummies" (2013), which keeps 200 values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import MOST_PLACES, Codes, Minima, Sketch, check_number, of_places, smaller_of_places
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.slices import Hashes

_STEP = 0x9E3779B97F4A7C15  # of SplitMix64 (Steele, Lea, Flood 2014)


@dataclass(frozen=True, slots=True)
class Xor(Sketch):
    """One hash XOR-ed with `count` - 1 random numbers.

    Attributes:
        count: hash functions, 1 to 4,096.
        seed: of the random numbers, below 2**32.
        key: as in `MinHash`.
    """

    name: ClassVar[str] = "xor"

    count: int = 200
    seed: int = 1
    key: HashKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_number("count", self.count, 1, MOST_PLACES)
        check_number("seed", self.seed, 0, (1 << 32) - 1)

    @property
    def positions(self) -> int:
        """One place per function."""
        return self.count

    @property
    def values(self) -> tuple[str, ...]:
        """Number of functions, and seed."""
        return str(self.count), str(self.seed)

    @classmethod
    def of_values(cls, values: Sequence[str]) -> Xor:
        """Return the sketch of stored parameters."""
        count, seed = map(int, values)
        return cls(count, seed)

    @property
    def numbers(self) -> Hashes:
        """The numbers that the hash is XOR-ed with: 0, then random numbers; uint64, shape (count,)."""
        places = np.arange(1, self.count, dtype=np.uint64) + np.uint64(self.seed << 32)
        return np.concatenate((np.zeros(1, np.uint64), mixed(places * np.uint64(_STEP))))

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the smallest value of each function."""
        del h2
        has_any = np.flatnonzero(shingles.counts)
        firsts = (np.cumsum(shingles.counts) - shingles.counts)[has_any]
        found = np.empty((len(has_any), self.count), np.uint64)
        if len(has_any):
            for place, number in enumerate(self.numbers):
                found[:, place] = np.minimum.reduceat(h1 ^ number, firsts)
        minima = [of_places(np.zeros(0, np.uint64))] * len(shingles.counts)
        for at, text in enumerate(has_any.tolist()):
            minima[text] = of_places(found[at])
        return minima

    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the smaller value of each function."""
        return smaller_of_places(a, b)

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Return the number of functions that agree, and of all functions."""
        del length
        return count_common(a, b), self.count
