"""The base class of all results, and helpers that add fields to hits and handle errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from simdoc_search.documents import HasDocumentKey
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.stores.base import Store

Result = TypeVar("Result")
AnyHit = TypeVar("AnyHit")
HitWithKey = TypeVar("HitWithKey", bound=HasDocumentKey)


class HitsResult(Generic[AnyHit]):
    """A result with hits. Iterating yields the hits, and `len` returns their number.

    Attributes:
        hits: the hits on the page.
    """

    __slots__ = ()
    hits: list[AnyHit]

    def __iter__(self) -> Iterator[AnyHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def add_fields(store: Store, hits: list[HitWithKey], fields: Sequence[str]) -> list[HitWithKey]:
    """Return the hits with the current values of these fields."""
    if not fields or not hits:
        return hits
    values = store.read_fields([hit.key for hit in hits], fields)
    return [replace(cast(Any, hit), fields=values.get(hit.key, {})) for hit in hits]


def catch_error(run_query: Callable[[], Result]) -> Result | SimdocError:
    """Run one of many queries. Return its result or its error.

    Raises:
        StoreError: the store failed, so the other queries would fail too.
    """
    try:
        return run_query()
    except StoreError:
        raise
    except SimdocError as error:
        return error


def raise_if_error(outcome: Result | SimdocError) -> Result:
    """Return the result of a query, or raise it if it is an error."""
    if isinstance(outcome, SimdocError):
        raise outcome
    return outcome
