"""Universal hash functions by datasketch, so that existing datasketch sketches can be indexed.

A text gets exactly the values that `datasketch.MinHash` has after `update(shingle.encode())` for each of its shingles.
Values of datasketch become tokens unchanged, whatever was hashed. A query text must be cut into the same shingles.

Source: Broder, Charikar, Frieze, Mitzenmacher 1998, "Min-wise independent permutations"; datasketch (Zhu).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import ShingleBatch, shingles_of_texts
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.base import (
    MOST_PLACES,
    Codes,
    Minima,
    Sketch,
    check_number,
    of_places,
    smaller_of_places,
)
from simdoc_search.sketch.estimate import count_common
from simdoc_search.sketch.key import HASH_KEY, HashKey
from simdoc_search.sketch.slices import Hashes
from simdoc_search.sketch.tokens import bucketed_codes

if TYPE_CHECKING:
    from datasketch import LeanMinHash, MinHash

FAMILIES = ("affine32", "affine64", "legacy")
_AT_ONCE = 1 << 12  # shingles, of which datasketch makes a value for each function


@dataclass(frozen=True, slots=True)
class Universal(Sketch):
    """`count` hash functions of datasketch.

    Attributes:
        count: number of hash functions (`num_perm` in datasketch), 1 to 4,096.
        seed: seed of the functions, below 2**32.
        family: `scheme` in datasketch: `affine32`, `affine64`, or `legacy` for versions before 2.
        key: None, because SHA-1 takes no key.

    Raises:
        FormatMismatchError: there is a key.
    """

    name: ClassVar[str] = "universal"

    count: int = 128
    seed: int = 1
    family: str = "affine32"
    key: HashKey | None = None

    def __post_init__(self) -> None:
        check_number("count", self.count, 1, MOST_PLACES)
        check_number("seed", self.seed, 0, (1 << 32) - 1)
        if self.family not in FAMILIES:
            raise ValueError(f"family must be one of {', '.join(FAMILIES)}, not {self.family!r:.60}")
        if self.key is not None:
            raise FormatMismatchError(
                f"the sketch universal hashes without a key, as datasketch does; unset {HASH_KEY}"
            )

    @property
    def positions(self) -> int:
        """One place per function."""
        return self.count

    @property
    def values(self) -> tuple[str, ...]:
        """Number of functions, seed and family."""
        return str(self.count), str(self.seed), self.family

    @classmethod
    def of_values(cls, values: Sequence[str]) -> Universal:
        """Return the sketch of stored parameters."""
        count, seed, family = values
        return cls(int(count), int(seed), family)

    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the smallest value of each function, computed by datasketch.

        Raises:
            MissingExtraError: datasketch is not installed.
        """
        del h1, h2
        found = shingles.strings()
        ends = np.cumsum(shingles.counts).tolist()
        texts = (found[end - count : end] for end, count in zip(ends, shingles.counts.tolist(), strict=True))
        return [of_places(_uint64(self._sketched(each).hashvalues if each else ())) for each in texts]

    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the smaller value of each function."""
        return smaller_of_places(a, b)

    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Return the number of functions that agree, and of all functions."""
        del length
        return count_common(a, b), self.count

    def codes_of(self, sketch: MinHash | LeanMinHash, length: int = 4) -> Codes:
        """Return the tokens of a datasketch sketch as numbers, as in `Record.codes`; none for an empty sketch.

        Args:
            sketch: a sketch with our number of functions, seed and scheme.
            length: characters of a token, 4 or 5.

        Raises:
            FormatMismatchError: the parameters differ.
        """
        theirs = len(sketch), int(sketch.seed), sketch.scheme
        ours = self.count, self.seed, self.family
        if theirs != ours:
            raise FormatMismatchError(
                f"the sketch has num_perm, seed and scheme {theirs}, and the store {ours}; index it into a new store",
                found=theirs,
                expected=ours,
            )
        return bucketed_codes(of_places(_uint64(() if sketch.is_empty() else sketch.hashvalues)), self, length)

    def sketch_of(self, text: str, analysis: Analysis | None = None) -> LeanMinHash:
        """Return the datasketch sketch of a text.

        Raises:
            MissingExtraError: datasketch is not installed.
        """
        analysis = analysis or Analysis()
        _, batch = shingles_of_texts([text], analysis)
        return _datasketch().LeanMinHash(self._sketched(batch.strings()))

    def _sketched(self, shingles: Sequence[str]) -> Any:
        made = _empty(self.count, self.seed, self.family).copy()
        distinct = [each.encode("utf-8", "surrogatepass") for each in dict.fromkeys(shingles)]
        for start in range(0, len(distinct), _AT_ONCE):
            made.update_batch(distinct[start : start + _AT_ONCE])
        return made


@cache
def _empty(count: int, seed: int, family: str) -> Any:
    """Return an empty sketch, cached because its functions take some time to make."""
    return _datasketch().MinHash(num_perm=count, seed=seed, scheme=family)


def _datasketch() -> Any:
    try:
        import datasketch  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("the sketch universal", "datasketch") from error
    return datasketch


def _uint64(values: Any) -> NDArray[np.uint64]:
    return np.asarray(values, np.uint64)
