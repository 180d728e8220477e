"""A store as it is at one moment, for whoever asks it about each of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simdoc_search.documents import Place
from simdoc_search.query.plans import Plan
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record


@dataclass(frozen=True, slots=True)
class Question:
    """Which documents does a plan find?

    Attributes:
        plan: what they share with somebody.
        sizes: least and greatest number of distinct shingles that they have; None: any.
    """

    plan: Plan
    sizes: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a question.

    Attributes:
        records: documents, without texts and metadata that nobody asked for.
        left_over: at most so many were found beside them.
    """

    records: list[Record]
    left_over: int


class Frozen(Protocol):
    """The documents of a store at one moment, those for which some filters hold."""

    @property
    def identity(self) -> str:
        """What tells the store from any other one, and from one that gets its name."""

    def records(self) -> Iterator[Record]:
        """All of them, as `Store.scan` gives them; as often as they are asked for."""

    def ask(self, questions: Sequence[Question], *, size: int, once: bool) -> list[Found]:
        """The documents that each question finds, in no order.

        Args:
            questions: they are asked together.
            size: how many documents are given at the most; of more, those of most shingles, if all have that number.
            once: of those of the same words one is enough. All documents must have the hash of their words.
        """


@runtime_checkable
class Freezable(Protocol):
    """A store that can be asked so."""

    def frozen(self, *, filters: Filters | None = None) -> AbstractContextManager[Frozen]:
        """The store as it is now, until the `with` block ends. Raises StoreError if it cannot be read."""


@runtime_checkable
class HasFields(Protocol):
    """A store of documents that others wrote, and whose metadata no record has."""

    def field_hashes(self, places: Sequence[Place]) -> dict[Place, str]:
        """A hash of the fields of the documents at some places, without their ids; none where records have a digest.

        Raises:
            StoreError: the store cannot be read.
        """
