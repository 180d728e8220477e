"""What every sketch is: how a set of shingles becomes tokens, and what the tokens of two texts say."""

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
"""Numbered places of tokens; more leave too few bits of a token for its hash."""

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Minima:
    """What is kept of one text: the minima of its places, in the order of these.

    Attributes:
        slots: the place of each value; int64, shape (values,), ascending. Of MinHash it is hash function *
            bucket_count + bucket, the order in which Lucene emits them.
        val1: the first half of each value, whose top bits are in its token; uint64, shape (values,).
        val2: the second half, which orders them; uint64, shape (values,).
    """

    slots: NDArray[np.int64]
    val1: Hashes
    val2: Hashes


class Sketch(ABC):
    """How a set of shingles becomes tokens, and what the tokens of two texts say; a frozen dataclass each.

    Attributes:
        name: what people call it.
        size_field: which of its fields is its size, as in minhash:512.
        version: raised by one whenever the same text and settings would give other tokens.
        fills_all_places: whether a text that has any shingle has a token of each numbered place.
        key: a secret with which shingles are hashed by SipHash-2-4 instead of MurmurHash3; a fingerprint then takes
            about twice the time, and only who has the key can tell its values. None: no key, as in Lucene.
    """

    name: ClassVar[str]
    size_field: ClassVar[str] = "count"
    version: ClassVar[int] = 1
    fills_all_places: ClassVar[bool] = True
    key: HashKey | None

    @property
    def stored_name(self) -> str:
        """What stored settings call it."""
        return self.name

    @property
    def positions(self) -> int:
        """How many numbered places there are, of which a token names its own; 0: tokens are a set."""
        return 0

    @property
    @abstractmethod
    def values(self) -> tuple[str, ...]:
        """What tells one of this name from another, as it is stored, the size first; short words without spaces."""

    @classmethod
    @abstractmethod
    def of_values(cls, values: Sequence[str]) -> Sketch:
        """The sketch of such values; those that are missing have their defaults.

        Raises:
            ValueError: they are none.
        """

    @abstractmethod
    def kept(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """What is kept of each text of a batch.

        Args:
            shingles: those of the texts.
            h1: the first 64 bits of the hash of each; uint64, shape (shingles,).
            h2: the other 64 bits; likewise.
        """

    @property
    def can_merge(self) -> bool:
        """Whether what is kept of a text follows from what is kept of its parts."""
        return True

    @abstractmethod
    def merged(self, a: Minima, b: Minima) -> Minima:
        """What is kept of a text, from two parts of it."""

    def completed(self, minima: Minima) -> Minima:
        """What tokens are made of, from what is kept of a whole text."""
        return minima

    @abstractmethod
    def shared_and_union(self, a: Codes, b: Codes, length: int = 4) -> tuple[int, int]:
        """Two counts of which `shared / union` estimates the Jaccard similarity without bias.

        Args:
            a: codes of a document's tokens, ascending, none twice.
            b: codes of another's.
            length: characters of a token, 4 or 5.
        """

    def banded(self, count: int, overlap: Fraction) -> int:
        """Of how many of its first tokens a document may cut bands: such as another one of the overlap can have."""
        del overlap
        return count

    def check_tokens(self) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse settings that have no bucketed tokens.

        Raises:
            ValueError: these are such.
        """

    def lucene_terms(self, minima: Minima, *, repeats: bool = False) -> list[str]:
        """The terms that Lucene's MinHashFilter indexes.

        Raises:
            ValueError: it has none.
        """
        del minima, repeats
        raise ValueError(f"the sketch {self.name} has no terms of Lucene's; use format 'bucketed'")


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
