"""What every sketch beside ours is, and what those with numbered places have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.minhash import MinHash, Minima
from simdoc_search.sketch.sentences import mixed
from simdoc_search.sketch.slices import Hashes

__all__ = ["MOST_PLACES", "AnySketch", "Codes", "Sketch", "check_number", "of_places", "smaller_of_places"]

MOST_PLACES = 4096
"""Numbered places of tokens; more leave too few bits of a token for its hash."""

Codes = NDArray[np.uint32]


class Sketch(ABC):
    """How a set of shingles becomes tokens, and what the tokens of two texts say; a frozen dataclass each.

    Attributes:
        name: what people and stored settings call it.
        version: raised by one whenever the same text and settings would give other tokens.
        key: the secret with which shingles are hashed, as in `MinHash`.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    key: HashKey | None

    @property
    def positions(self) -> int:
        """How many numbered places there are, of which a token names its own; 0: tokens are a set."""
        return 0

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """What tells one of this name from another, as it is stored; short words without spaces."""

    @classmethod
    @abstractmethod
    def of_values(cls, values: Sequence[str]) -> Sketch:
        """The sketch of such values; those that are missing have their defaults.

        Raises:
            ValueError: they are none.
        """

    @abstractmethod
    def kept(self, shingles: ShingleBatch, hashes: Hashes) -> list[Minima]:
        """What is kept of each text of a batch.

        Args:
            shingles: those of the texts.
            hashes: 64 bits of each; uint64, shape (shingles,).
        """

    @abstractmethod
    def merged(self, a: Minima, b: Minima) -> Minima:
        """What is kept of a text, from two parts of it."""

    @abstractmethod
    def shared_and_union(self, a: Codes, b: Codes) -> tuple[int, int]:
        """Two counts of which `shared / union` estimates the Jaccard similarity without bias.

        Args:
            a: codes of a document's tokens, ascending, none twice.
            b: codes of another's.
        """

    def banded(self, count: int, overlap: Fraction) -> int:
        """Of how many of its first tokens a document may cut bands: such as another one of the overlap can have."""
        del overlap
        return count


AnySketch = MinHash | Sketch
"""Ours, or one of the others."""


def of_places(minima: NDArray[np.uint64]) -> Minima:
    """The minima of numbered places, of which tokens take the top bits after these were mixed."""
    return Minima(np.arange(len(minima)), mixed(minima), minima)


def smaller_of_places(a: Minima, b: Minima) -> Minima:
    """The smaller value of each place, of two parts of a text; a part without shingles has none."""
    if not len(a.slots) or not len(b.slots):
        return a if len(a.slots) else b
    return of_places(np.minimum(a.val2, b.val2))


def check_number(name: str, value: object, least: int, most: int) -> None:
    """Refuse what is no whole number in a range.

    Raises:
        ValueError: so it is.
    """
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueError(f"{name} must be a whole number from {least:,} to {most:,}, not {value!r:.60}")
