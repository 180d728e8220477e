"""All hashes below a limit: a text keeps about one of `scale` of its shingles (FracMinHash).

A token of one text is a token of another one exactly if they share the shingle. The share of a text's tokens in
another text therefore estimates its containment, and shared tokens among those of either text the Jaccard similarity.
Both are unbiased, however much longer the other text is. The price is a sketch that grows with the text, and is empty
for some short ones.

Source: Irber et al. 2022, "Lightweight compositional analysis of metagenomes with FracMinHash and minimum metagenome
covers"; Hera, Pierce-Ward, Koslicki 2023, on the bias.
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
        scale: one of this many shingles is kept, 1 to 1,000,000; 1 keeps all.
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
        """Return the sketch of stored parameters."""
        (scale,) = map(int, values)
        return cls(scale)

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the h1 below the limit, without repeats."""
        del h2
        bounds = np.concatenate(([0], np.cumsum(shingles.counts))).tolist()
        limit = np.uint64(((1 << 64) - 1) // self.scale)
        parts = (h1[a:b] for a, b in itertools.pairwise(bounds))
        return [self._of_hashes(distinct(each[each < limit])) for each in parts]

    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the hashes of both parts."""
        return self._of_hashes(np.union1d(a.val2, b.val2))

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Return the number of tokens in both documents, and in either."""
        del length
        shared = count_common(a, b)
        return shared, len(a) + len(b) - shared

    def containment(self, a: Codes, b: Codes) -> float:
        """Estimate the share of a text's shingles that another text has, 0..1.

        Unbiased for texts with at least one token; 0 for texts with none.
        """
        return count_common(a, b) / len(a) if len(a) else 0.0

    def _of_hashes(self, hashes: Hashes) -> Minima:
        """Spread out hashes below the limit, because tokens take the top bits."""
        return Minima(np.zeros(len(hashes), np.int64), hashes * np.uint64(self.scale), hashes)
