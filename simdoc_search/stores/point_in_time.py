"""The protocol of a store at one point in time, which runs a plan for each of its documents."""

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
class SizedPlan:
    """A plan with the sizes of the documents that it may find.

    Attributes:
        plan: the plan.
        sizes: minimum and maximum number of distinct shingles of a document; None for any.
    """

    plan: Plan
    sizes: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """The documents that a plan found.

    Attributes:
        records: documents, without texts and unrequested metadata.
        omitted: at most this many further documents were found.
    """

    records: list[Record]
    omitted: int


class FrozenStore(Protocol):
    """The documents of a store at one point in time that match some filters."""

    @property
    def identity(self) -> str:
        """An identity that no other store has, nor a later one of the same name."""

    def records(self) -> Iterator[Record]:
        """Yield all records, as `Store.scan`; can be called repeatedly."""

    def search(self, plans: Sequence[SizedPlan], *, size: int, distinct_words: bool) -> list[FoundRecords]:
        """Return the documents that each plan finds, in no order.

        Args:
            plans: the plans, sent together.
            size: maximum number of documents. If all have a number of shingles, those with the most are returned.
            distinct_words: return one of several documents with the same words. All documents must have the hash of
                their words.
        """


@runtime_checkable
class Freezable(Protocol):
    """A store that can be read at one point in time."""

    def frozen(self, *, filters: Filters | None = None) -> AbstractContextManager[FrozenStore]:
        """Return the store as it is now, until the `with` block ends. Raises StoreError if it cannot be read."""


@runtime_checkable
class HasFields(Protocol):
    """A store of documents that others wrote, whose metadata is not in the records."""

    def field_hashes(self, places: Sequence[Place]) -> dict[Place, str]:
        """Return a hash of the fields of the documents at some places, without ids; none where records have a digest.

        Raises:
            StoreError: the store cannot be read.
        """
