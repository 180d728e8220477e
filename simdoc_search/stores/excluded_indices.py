"""Which indices behind an alias have documents that no answer finds?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from simdoc_search.display import counted


@dataclass(frozen=True, slots=True)
class LeftOutIndex:
    """An index whose documents are not compared.

    Attributes:
        index: its name.
        documents: how many it has; None: it is closed, so they cannot be counted.
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
        """The indices that cannot be asked, as they were some seconds ago at most."""


def left_out_indices(store: object) -> tuple[LeftOutIndex, ...]:
    """The indices of a store that cannot be asked; none where a store has no indices."""
    return tuple(store.left_out_indices()) if isinstance(store, HasIndices) else ()
