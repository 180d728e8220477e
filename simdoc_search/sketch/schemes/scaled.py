"""All hashes below a limit: a text keeps about one of `scale` of its shingles, however many it has (FracMinHash).

So a token of one text is in another one if, and only if, the shingle is: the share of a text's tokens that another
one has estimates its containment, and shared tokens of those of either the Jaccard similarity, both without bias and
however much longer the other one is. The price is a sketch that grows with the text, and is empty for some short ones.

Source: Irber et al. 2022, "Lightweight compositional analysis of metagenomes with FracMinHash and minimum metagenome
covers"; Hera, Pierce-Ward, Koslicki 2023, who show what is unbiased.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.base import Codes, Minima, Sketch, check_number
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.slices import Hashes


@dataclass(frozen=True, slots=True)
class Scaled(Sketch):
    """The hashes below 2**64 / `scale`.

    Attributes:
        scale: one of so many shingles is kept, 1 to 1,000,000; 1 keeps all.
        key: as in `MinHash`.
    """

    name: ClassVar[str] = "scaled"
    size_field: ClassVar[str] = "scale"

    scale: int = 8
    key: HashKey | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        check_number("scale", self.scale, 1, 1_000_000)

    @property
    def values(self) -> tuple[str, ...]:
        """The scale."""
        return (str(self.scale),)

    @classmethod
    def of_values(cls, values: Sequence[str]) -> Scaled:
        """What `values` are of."""
        (scale,) = map(int, values)
        return cls(scale)

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """The h1 below the limit, each once."""
        del h2
        bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
        limit = np.uint64(((1 << 64) - 1) // self.scale)
        parts = (h1[a:b] for a, b in itertools.pairwise(bounds))
        return [self._of_hashes(distinct(each[each < limit])) for each in parts]

    def merged(self, a: Minima, b: Minima) -> Minima:
        """The hashes of either."""
        return self._of_hashes(np.union1d(a.val2, b.val2))

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """The tokens of both, and those of either."""
        del length
        shared = count_common(a, b)
        return shared, len(a) + len(b) - shared

    def containment(self, a: Codes, b: Codes) -> float:
        """The share of a text's shingles that another one has, as their tokens estimate it, 0..1.

        Without bias for texts that have any token; of one that has none 0.
        """
        return count_common(a, b) / len(a) if len(a) else 0.0

    def _of_hashes(self, hashes: Hashes) -> Minima:
        """Values of which tokens take the top bits: hashes that all lie below the limit are spread out again."""
        return Minima(np.zeros(len(hashes), np.int64), hashes * np.uint64(self.scale), hashes)
