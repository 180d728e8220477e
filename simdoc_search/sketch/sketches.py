"""Defines the sketches `XorSketch` and `UniversalSketch`, and lists all sketches that a store may use.

The default and best sketch is `MinHash`, which divides the values of one hash function among buckets. `XorSketch` and
`UniversalSketch` keep one value per hash function. `UniversalSketch` makes it possible to index sketches of the package
datasketch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import check_whole_number
from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.errors import FormatMismatchError, MissingExtraError
from simdoc_search.sketch.base import MAX_SLOTS, Minima, Sketch
from simdoc_search.sketch.hash_functions import Hashes, mix_bits
from simdoc_search.sketch.key import HASH_KEY_VARIABLE, HashKey
from simdoc_search.sketch.minhash import MinHash
from simdoc_search.sketch.tokens import TokenIds, bucketed_token_ids

if TYPE_CHECKING:
    from datasketch import LeanMinHash
    from datasketch import MinHash as DatasketchMinHash

HASH_FAMILIES = ("affine32", "affine64", "legacy")
_SPLITMIX64_STEP = 0x9E3779B97F4A7C15  # from the paper on SplitMix (Steele, Lea, Flood 2014)
_SHINGLES_PER_BATCH = 1 << 12  # limits memory use, because datasketch computes a value per shingle and hash function


@dataclass(frozen=True, slots=True)
class _HashFunctionSketch(Sketch):
    """Keeps the smallest value of each of `count` hash functions.

    For each function, every shingle is equally likely to have the smallest value. The share of functions with equal
    values in two texts is therefore an unbiased estimate of their Jaccard similarity.
    """

    count: int
    seed: int = 1

    def __post_init__(self) -> None:
        check_whole_number("count", self.count, 1, MAX_SLOTS)
        check_whole_number("seed", self.seed, 0, (1 << 32) - 1)

    @property
    def slot_count(self) -> int:
        """Number of slots. A slot is a hash function."""
        return self.count

    def merge(self, a: Minima, b: Minima) -> Minima:
        """Return the smaller value of each hash function.

        If one part has no shingles, return the values of the other.
        """
        if not len(a.slots) or not len(b.slots):
            return a if len(a.slots) else b
        return _make_minima(np.minimum(a.val2, b.val2))


def _make_minima(values: Hashes) -> Minima:
    """Return minima, given the smallest value of each hash function.

    In val1, the bits of the values are mixed, because tokens contain only the highest bits.
    """
    return Minima(np.arange(len(values)), mix_bits(values), values)


@dataclass(frozen=True, slots=True)
class XorSketch(_HashFunctionSketch):
    """Makes `count` hash functions from one hash function, by XOR with random numbers.

    Function 0 uses the number 0, so it is the original hash function. Two functions with similar numbers choose the
    same shingle more often than independent functions would. For a text with fewer shingles than functions, the error
    is therefore larger than sqrt(J (1 - J) / count). Source: "MinHash for dummies" (2013), which keeps 200 values.

    Attributes:
        count: number of hash functions, 1 to 4,096.
        seed: seed of the random numbers, below 2**32.
        key: as in `MinHash`.
    """

    name: ClassVar[str] = "xor"
    stored_name: ClassVar[str] = "xor"
    parameter_names: ClassVar[tuple[str, ...]] = ("count", "seed")

    count: int = 200
    key: HashKey | None = field(default=None, repr=False)

    def minima(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:  # noqa: ARG002
        """Return the smallest value of each function."""
        has_shingles = np.flatnonzero(shingles.counts)
        firsts = (np.cumsum(shingles.counts) - shingles.counts)[has_shingles]
        steps = np.arange(1, self.count, dtype=np.uint64) + np.uint64(self.seed << 32)
        numbers = np.concatenate((np.zeros(1, np.uint64), mix_bits(steps * np.uint64(_SPLITMIX64_STEP))))
        values = np.empty((len(has_shingles), self.count), np.uint64)
        if len(has_shingles):
            for function, number in enumerate(numbers):
                values[:, function] = np.minimum.reduceat(h1 ^ number, firsts)
        minima = [_make_minima(np.zeros(0, np.uint64))] * len(shingles.counts)
        for row, text in zip(values, has_shingles.tolist(), strict=True):
            minima[text] = _make_minima(row)
        return minima


@dataclass(frozen=True, slots=True)
class UniversalSketch(_HashFunctionSketch):
    """Uses `count` universal hash functions of datasketch.

    The values of a text equal those of a `datasketch.MinHash` that was updated with `shingle.encode()` for each
    shingle. Existing sketches can therefore be indexed. To find them, the query text must be split into the same kind
    of strings that these sketches were made from. Source: Broder, Charikar, Frieze, Mitzenmacher 1998, "Min-wise
    independent permutations".

    Attributes:
        count: number of hash functions (`num_perm` in datasketch), 1 to 4,096.
        seed: seed of the functions, below 2**32.
        family: `scheme` in datasketch: `affine32`, `affine64`, or `legacy` for versions before 2.
        key: None, because datasketch hashes shingles with SHA-1, which takes no key.

    Raises:
        FormatMismatchError: `key` is not None.
    """

    name: ClassVar[str] = "universal"
    stored_name: ClassVar[str] = "universal"
    parameter_names: ClassVar[tuple[str, ...]] = ("count", "seed", "family")

    count: int = 128
    family: str = "affine32"
    key: HashKey | None = None

    def __post_init__(self) -> None:
        super(UniversalSketch, self).__post_init__()
        if self.family not in HASH_FAMILIES:
            raise ValueError(f"family must be one of {', '.join(HASH_FAMILIES)}, not {self.family!r:.60}")
        if self.key is not None:
            raise FormatMismatchError(
                f"the sketch `universal`, like datasketch, does not use a hash key; unset {HASH_KEY_VARIABLE}"
            )

    def minima(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:  # noqa: ARG002
        """Return the smallest value of each function, computed by datasketch.

        Raises:
            MissingExtraError: datasketch is not installed.
        """
        return [_make_minima(self._hash_values(text) if text else _to_uint64(())) for text in shingles.strings()]

    def encode_sketch(self, sketch: DatasketchMinHash | LeanMinHash) -> TokenIds:
        """Return the token ids of a datasketch sketch, for `Record.token_ids`. An empty sketch has no tokens.

        Raises:
            FormatMismatchError: the number of functions, the seed or the scheme differs from this sketch.
        """
        theirs = len(sketch), int(sketch.seed), sketch.scheme
        ours = self.count, self.seed, self.family
        if theirs != ours:
            raise FormatMismatchError(
                f"the sketch has num_perm, seed and scheme {theirs}, but the index has {ours}; index into a new index",
                found=theirs,
                expected=ours,
            )
        return bucketed_token_ids(_make_minima(_to_uint64(() if sketch.is_empty() else sketch.hashvalues)), self)

    def _hash_values(self, shingles: Sequence[str]) -> NDArray[np.uint64]:
        sketch = _empty_sketch(self.count, self.seed, self.family).copy()
        encoded = [shingle.encode("utf-8", "surrogatepass") for shingle in dict.fromkeys(shingles)]
        for start in range(0, len(encoded), _SHINGLES_PER_BATCH):
            sketch.update_batch(encoded[start : start + _SHINGLES_PER_BATCH])
        return _to_uint64(sketch.hashvalues)


@cache
def _empty_sketch(count: int, seed: int, family: str) -> Any:
    """Return an empty datasketch sketch.

    It is cached, because datasketch needs some time to create its hash functions.
    """
    try:
        import datasketch  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("the sketch universal", "datasketch") from error
    return datasketch.MinHash(num_perm=count, seed=seed, scheme=family)


def _to_uint64(values: Any) -> NDArray[np.uint64]:
    return np.asarray(values, np.uint64)


SKETCHES: dict[str, type[Sketch]] = {sketch.stored_name: sketch for sketch in (MinHash, UniversalSketch, XorSketch)}
"""All sketches, by their names in stored settings."""
