"""What all results share: they are sized and iterable, and their hits can have fields of the documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, Generic, TypeVar, cast

from simdoc_search.documents import Placed
from simdoc_search.errors import SimdocError, StoreError
from simdoc_search.stores.base import Store

Result = TypeVar("Result")
AnyHit = TypeVar("AnyHit")
PlacedHit = TypeVar("PlacedHit", bound=Placed)


class Hits(Generic[AnyHit]):
    """A result whose length and iterator are those of its hits.

    Attributes:
        hits: the hits of the page.
    """

    __slots__ = ()
    hits: list[AnyHit]

    def __iter__(self) -> Iterator[AnyHit]:
        return iter(self.hits)

    def __len__(self) -> int:
        return len(self.hits)


def with_fields(store: Store, hits: list[PlacedHit], fields: Sequence[str]) -> list[PlacedHit]:
    """Return the hits with the current values of some fields."""
    if not fields or not hits:
        return hits
    values = store.fields_at([hit.place for hit in hits], fields)
    return [replace(cast(Any, hit), fields=values.get(hit.place, {})) for hit in hits]


def result_or_error(ask: Callable[[], Result]) -> Result | SimdocError:
    """Return the result of one of many queries, or its error. An error of the store is raised: it ends them all."""
    try:
        return ask()
    except StoreError:
        raise
    except SimdocError as error:
        return error


def raise_error(answer: Result | SimdocError) -> Result:
    """Return a result; raise an error."""
    if isinstance(answer, SimdocError):
        raise answer
    return answer
