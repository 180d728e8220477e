"""The protocol of a sketch: shingles to tokens, and the comparison of two token sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.slices import Hashes

MOST_PLACES = 4096
"""Maximum number of numbered places. With more, too few bits of a token are left for the hash."""

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Minima:
    """The minima that a sketch keeps of one text, ordered by place.

    Attributes:
        slots: place of each value; int64, shape (values,), ascending. For MinHash: hash function * bucket_count +
            bucket, the order in which Lucene emits terms.
        val1: first half of each value, whose top bits are in the token; uint64, shape (values,).
        val2: second half, which orders the values; uint64, shape (values,).
    """

    slots: NDArray[np.int64]
    val1: Hashes
    val2: Hashes


class Sketch(ABC):
    """How a set of shingles becomes tokens, and how two token sets are compared. Every sketch is a frozen dataclass.

    Attributes:
        name: the name in `--sketch`.
        size_field: the field that holds its size, as in minhash:512.
        version: raised by one whenever the same text and settings would give other tokens.
        fills_all_places: whether a text with at least one shingle has a token for every numbered place.
        key: a secret; shingles are then hashed with SipHash-2-4 instead of MurmurHash3, which takes about twice the
            time, and nobody without the key can compute tokens. None: no key, as in Lucene.
    """

    name: ClassVar[str]
    size_field: ClassVar[str] = "count"
    version: ClassVar[int] = 1
    fills_all_places: ClassVar[bool] = True
    key: HashKey | None

    @property
    def stored_name(self) -> str:
        """The name in stored settings."""
        return self.name

    @property
    def positions(self) -> int:
        """Number of numbered places; a token names its place. 0 if tokens are a plain set."""
        return 0

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """The parameters as stored: short words without spaces, the size first."""

    @classmethod
    @abstractmethod
    def of_values(cls, values: Sequence[str]) -> Sketch:
        """Return the sketch with these parameters; missing ones have their defaults.

        Raises:
            ValueError: a parameter is malformed.
        """

    @abstractmethod
    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the minima of each text in a batch.

        Args:
            shingles: the shingles of all texts.
            h1: first 64 bits of each shingle's hash; uint64, shape (shingles,).
            h2: the other 64 bits; uint64, shape (shingles,).
        """

    @property
    def can_merge(self) -> bool:
        """Whether the minima of a text can be computed from the minima of its parts."""
        return True

    @abstractmethod
    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the minima of a text from those of two parts."""

    def completed(self, minima: Minima) -> Minima:
        """Return the minima that tokens are made from, given those of a whole text."""
        return minima

    @abstractmethod
    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Return two counts; `shared / union` is an unbiased estimate of the Jaccard similarity.

        Args:
            a: token codes of one document, ascending, without repeats.
            b: token codes of the other document.
            length: characters of a token, 4 or 5.
        """

    def banded(self, count: int, overlap: Fraction) -> int:
        """Return how many of the first `count` tokens may be cut into bands for this overlap."""
        del overlap
        return count

    def check_tokens(self) -> None:  # noqa: B027 - most have nothing to refuse
        """Check that these settings have bucketed tokens.

        Raises:
            ValueError: they have none.
        """

    def lucene_terms(self, minima: Minima, *, repeats: bool = False) -> list[str]:
        """Return the terms that Lucene's MinHashFilter indexes.

        Raises:
            ValueError: this sketch has no such terms.
        """
        del minima, repeats
        raise ValueError(f"the sketch {self.name} has no terms of Lucene's; use format 'bucketed'")


def of_places(minima: NDArray[np.uint64]) -> Minima:
    """Return the minima of numbered places, with bits mixed, because tokens take only the top bits."""
    return Minima(np.arange(len(minima)), mixed(minima), minima)


def smaller_of_places(a: Minima, b: Minima) -> Minima:
    """Return the smaller value of each place for two parts of a text. A part without shingles has no values."""
    if not len(a.slots) or not len(b.slots):
        return a if len(a.slots) else b
    return of_places(np.minimum(a.val2, b.val2))


def check_number(name: str, value: object, least: int, most: int) -> None:
    """Check that a value is a whole number in a range.

    Raises:
        ValueError: it is not.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least:,} to {most:,}, not {value!r:.60}")
