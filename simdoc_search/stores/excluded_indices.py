"""Indices behind an alias whose documents no answer includes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simdoc_search.display import counted


@dataclass(frozen=True, slots=True)
class LeftOutIndex:
    """An index whose documents are not compared.

    Attributes:
        index: name of the index.
        documents: number of its documents; None if it is closed, so that they cannot be counted.
        reason: why, and what to do.
    """

    index: str
    documents: int | None
    reason: str

    def __str__(self) -> str:
        if self.documents is None:
            return f"the index {self.index} is left out, as {self.reason}"
        verb = "is" if self.documents == 1 else "are"
        return f"{counted(self.documents, 'document')} of the index {self.index} {verb} not compared, as {self.reason}"


@runtime_checkable
class HasIndices(Protocol):
    """A store whose documents are in one or more indices of an engine."""

    def left_out_indices(self) -> Sequence[LeftOutIndex]:
        """Return the indices that cannot be queried; the answer may be some seconds old."""


def left_out_indices(store: object) -> tuple[LeftOutIndex, ...]:
    """Return the indices of a store that cannot be queried; none for a store without indices."""
    return tuple(store.left_out_indices()) if isinstance(store, HasIndices) else ()
