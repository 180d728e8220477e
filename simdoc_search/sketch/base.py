"""The interface of a sketch: how shingles become tokens, and how the tokens of two texts are compared."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.shingles import ShingleBatch
from simdoc_search.sketch.hash_functions import Hashes
from simdoc_search.sketch.key import HashKey

MAX_PLACES = 4096
"""Maximum number of places. With more, too few bits of a token would be left for the hash."""

TOKEN_LENGTH = 4
"""Default number of characters in a token, 6 bits each."""

_BOOLEANS = {"true": True, "false": False}

Codes = NDArray[np.uint32]


@dataclass(frozen=True, slots=True)
class Minima:
    """The values that a sketch keeps of one text, ordered by place.

    Attributes:
        slots: place of each value; int64, shape (values,), ascending. For MinHash, it is hash function * bucket_count +
            bucket, which is the order in which Lucene emits terms.
        val1: first half of each value. Its highest bits are in the token; uint64, shape (values,).
        val2: second half of each value. Values are ordered by it; uint64, shape (values,).
    """

    slots: NDArray[np.int64]
    val1: Hashes
    val2: Hashes


class Sketch(ABC):
    """Defines how a set of shingles becomes tokens, and how two sets of tokens are compared.

    Every sketch is a frozen dataclass. It has numbered places, and each token contains the number of its place.

    Attributes:
        name: the name in `--sketch`.
        stored_name: the name in stored settings.
        stored_fields: the parameters in stored settings, the size first.
        version: must be increased by one if the tokens of a text with the same settings change.
        fills_all_places: whether a text with at least one shingle has a token for every place.
        key: a secret that is needed to compute tokens. With it, shingles are hashed with SipHash-2-4 instead of
            MurmurHash3, which takes about twice as long. None: no key, as in Lucene.
    """

    name: ClassVar[str]
    stored_name: ClassVar[str]
    stored_fields: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1
    fills_all_places: ClassVar[bool] = True
    key: HashKey | None

    @property
    @abstractmethod
    def places(self) -> int:
        """Number of places."""

    @property
    def values(self) -> tuple[str, ...]:
        """The parameters as they are stored: short words without spaces."""
        return tuple(str(getattr(self, name)).lower() for name in self.stored_fields)

    @classmethod
    def of_values(cls, values: Sequence[str]) -> Sketch:
        """Return the sketch with these stored parameters.

        Raises:
            ValueError: a parameter is malformed.
        """
        kinds: dict[str, Any] = {field.name: type(field.default) for field in fields(cast(Any, cls))}
        parsed: dict[str, Any] = {}
        for name, value in zip(cls.stored_fields, values, strict=True):
            if kinds[name] is bool and value not in _BOOLEANS:
                raise ValueError(f"{value!r:.60} is neither true nor false")
            parsed[name] = _BOOLEANS[value] if kinds[name] is bool else kinds[name](value)
        return cls(**parsed)

    @abstractmethod
    def minima(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the minima of each text.

        `h1` and `h2` are both halves of the hash of each shingle; uint64, shape (shingles,).
        """

    @property
    def can_merge(self) -> bool:
        """Whether the minima of a text can be computed from the minima of its parts."""
        return True

    @abstractmethod
    def merged(self, a: Minima, b: Minima) -> Minima:
        """Return the minima of a text, given the minima of its two parts."""

    def completed(self, minima: Minima) -> Minima:
        """Return the minima that tokens are made from, given the minima of a whole text."""
        return minima

    @abstractmethod
    def shared_and_union(self, a: Codes, b: Codes, length: int = TOKEN_LENGTH) -> tuple[int, int]:
        """Return two counts. `shared / union` is an unbiased estimate of the Jaccard similarity.

        Args:
            a: token codes of one document, ascending, without repeats.
            b: token codes of the other document.
            length: characters of a token, 4 or 5.
        """

    def check_tokens(self) -> None:  # noqa: B027 - only MinHash has settings without tokens
        """Raise a ValueError if these settings have no bucketed tokens."""

    def lucene_terms(self, minima: Minima, *, repeats: bool = False) -> list[str]:  # noqa: ARG002 - for MinHash
        """Return the terms that Lucene's MinHashFilter indexes. Raise a ValueError if the sketch has no such terms."""
        raise ValueError(f"the sketch {self.name} has no Lucene terms; use format 'bucketed'")
