"""A store as it is at one point in time, for queries about each of its documents."""

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
    """A query for the documents that a plan finds.

    Attributes:
        plan: the plan.
        sizes: minimum and maximum number of distinct shingles of a document; None for any.
    """

    plan: Plan
    sizes: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class Found:
    """The answer to a query.

    Attributes:
        records: documents, without texts and unrequested metadata.
        left_over: at most this many further documents were found.
    """

    records: list[Record]
    left_over: int


class Frozen(Protocol):
    """The documents of a store at one point in time that match some filters."""

    @property
    def identity(self) -> str:
        """An identity that no other store has, nor a later one of the same name."""

    def records(self) -> Iterator[Record]:
        """Yield all records, as `Store.scan`; can be called repeatedly."""

    def ask(self, questions: Sequence[Question], *, size: int, once: bool) -> list[Found]:
        """Return the documents that each query finds, in no order.

        Args:
            questions: the queries, sent together.
            size: maximum number of documents; of more, those with the most shingles, if all have that number.
            once: return one of several documents with the same words. All documents must have the hash of their words.
        """


@runtime_checkable
class Freezable(Protocol):
    """A store that can be read at one point in time."""

    def frozen(self, *, filters: Filters | None = None) -> AbstractContextManager[Frozen]:
        """Return the store as it is now, until the `with` block ends. Raises StoreError if it cannot be read."""


@runtime_checkable
class HasFields(Protocol):
    """A store of documents that others wrote, whose metadata is not in the records."""

    def field_hashes(self, places: Sequence[Place]) -> dict[Place, str]:
        """Return a hash of the fields of the documents at some places, without ids; none where records have a digest.

        Raises:
            StoreError: the store cannot be read.
        """
