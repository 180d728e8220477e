"""Defines the interface of a sketch, which converts shingles to tokens. Tokens are the index terms of a fingerprint.

`estimate.py` compares the tokens of two texts.
"""

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

MAX_SLOTS = 4096
"""Maximum number of slots of a `Sketch`. The index of a slot and the hash in this slot must fit into a token."""

_BOOLEANS = {"true": True, "false": False}


@dataclass(frozen=True, slots=True)
class Minima:
    """The hashes of one text that a sketch keeps: the smallest ones of each slot. `val1` and `val2` are Lucene's names.

    Attributes:
        slots: slot of each value; int64, shape (values,), ascending. For MinHash, the slot is hash function *
            bucket_count + bucket. Lucene emits terms in this order.
        val1: first half of each value. Tokens contain its highest bits; uint64, shape (values,).
        val2: second half of each value. The smallest value is the one with the smallest `val2`; uint64, shape
            (values,).
    """

    slots: NDArray[np.int64]
    val1: Hashes
    val2: Hashes


class Sketch(ABC):
    """Defines how a set of shingles becomes tokens.

    Every sketch is a frozen dataclass. It has numbered slots, and each token contains the index of its slot. In
    MinHash, a slot is a bucket. In the other sketches, a slot is a hash function.

    Attributes:
        name: the value of the option `--sketch`.
        stored_name: the name in stored settings.
        parameter_names: names of the parameters in stored settings. The first parameter is the size.
        version: version of the tokens. Increase it by one if a code change alters the tokens of a text.
        fills_all_slots: whether a text with at least one shingle has a token for every slot.
        key: a secret that is needed to compute tokens. If there is a key, the hash function is SipHash-2-4, which takes
            about twice as long as MurmurHash3. None: no key, as in Lucene.
    """

    name: ClassVar[str]
    stored_name: ClassVar[str]
    parameter_names: ClassVar[tuple[str, ...]]
    version: ClassVar[int] = 1
    fills_all_slots: ClassVar[bool] = True
    key: HashKey | None

    @property
    @abstractmethod
    def slot_count(self) -> int:
        """Number of slots."""

    @property
    def stored_parameters(self) -> tuple[str, ...]:
        """The parameters as strings without spaces, in the order of `parameter_names`."""
        return tuple(str(getattr(self, name)).lower() for name in self.parameter_names)

    @classmethod
    def from_stored_parameters(cls, values: Sequence[str]) -> Sketch:
        """Return the sketch with these stored parameters.

        Raises:
            ValueError: a parameter is malformed.
        """
        types: dict[str, Any] = {field.name: type(field.default) for field in fields(cast(Any, cls))}
        parsed: dict[str, Any] = {}
        for name, value in zip(cls.parameter_names, values, strict=True):
            if types[name] is bool and value not in _BOOLEANS:
                raise ValueError(f"{name} must be true or false, not {value!r:.60}")
            parsed[name] = _BOOLEANS[value] if types[name] is bool else types[name](value)
        return cls(**parsed)

    @abstractmethod
    def minima(self, shingles: ShingleBatch, h1: Hashes, h2: Hashes) -> list[Minima]:
        """Return the minima of each text.

        `h1` and `h2` are the two halves of the hash of each shingle; uint64, shape (shingles,).
        """

    @property
    def can_merge(self) -> bool:
        """Whether the minima of a text can be computed from the minima of its parts."""
        return True

    @abstractmethod
    def merge(self, a: Minima, b: Minima) -> Minima:
        """Return the minima of a text, given the minima of its two parts."""

    def complete(self, minima: Minima) -> Minima:
        """Return the final minima of a whole text, from which tokens are made. A sketch may fill its empty slots."""
        return minima

    def require_bucketed_tokens(self) -> None:  # noqa: B027 - only `MinHash` has settings without such tokens
        """Raise a ValueError if tokens in the format `bucketed` cannot be computed with these settings."""

    def lucene_terms(self, minima: Minima, *, keep_repeats: bool = False) -> list[str]:  # noqa: ARG002 - `MinHash` uses `keep_repeats`
        """Return the terms of Lucene's MinHashFilter. With `keep_repeats`, return each as often as Lucene does.

        Raises:
            ValueError: the sketch has no such terms.
        """
        raise ValueError(f"the sketch {self.name} has no Lucene terms; use format 'bucketed'")
