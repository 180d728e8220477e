"""The protocols for reading a store at one point in time, for queries about all of its documents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simdoc_search.documents import DocumentKey
from simdoc_search.query.plans import Plan
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record


@dataclass(frozen=True, slots=True)
class SizedPlan:
    """A plan, and the allowed sizes of documents.

    Attributes:
        plan: the plan.
        shingle_range: minimum and maximum number of distinct shingles in a document. None allows any number.
    """

    plan: Plan
    shingle_range: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class FoundRecords:
    """The documents that a plan found.

    Attributes:
        records: the documents, without texts and unrequested metadata.
        max_omitted_count: upper bound of the number of documents that the plan found but `records` does not contain.
    """

    records: list[Record]
    max_omitted_count: int


class FrozenStore(Protocol):
    """The documents of a store at one point in time that match some filters."""

    @property
    def identity(self) -> str:
        """An identifier that no other store has, not even a later store with the same name."""

    def records(self) -> Iterator[Record]:
        """Yield all records, as `Store.scan` does. The method can be called repeatedly."""

    def search(self, plans: Sequence[SizedPlan], *, size: int, distinct_words: bool) -> list[FoundRecords]:
        """Return the documents that each plan finds, in no particular order.

        Args:
            plans: the plans, which are sent together.
            size: maximum number of documents per plan. If the index has the field `shingles`, the documents with
                the most shingles are returned.
            distinct_words: return only one of several documents with the same words. All documents must then have a
                `words_hash`.
        """


@runtime_checkable
class Freezable(Protocol):
    """A store that can be read at one point in time."""

    def freeze(self, *, filters: Filters | None = None) -> AbstractContextManager[FrozenStore]:
        """Open the current state of the store. It can be read until the `with` block ends.

        Raises:
            StoreError: the store cannot be read.
        """


@runtime_checkable
class HasFields(Protocol):
    """A store in an index that simdoc-search did not create. Its records do not contain the fields of the documents."""

    def field_hashes(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, str]:
        """Return a hash of the fields of each document, without its id. Return an empty dict if records have digests.

        Raises:
            StoreError: the store cannot be read.
        """
