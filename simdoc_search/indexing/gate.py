"""Who may come in? Asked of the documents that are about to be written; the answer is given by a room above."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from simdoc_search.indexing.preparation import Outcome


class Gate(Protocol):
    """Says which new documents are left out. It is told of all writes, as a store shows them only when committed."""

    @property
    def is_full(self) -> bool:
        """Whether it remembers so much that the store should commit."""

    def passed(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """The outcomes, with why it is left out in place of each document that is.

        Args:
            outcomes: those of one chunk, in order.
            is_stored: says of an id whether the store has a document of it, or is about to; such a one is no new one.
        """

    def removed(self, ids: Iterable[str]) -> None:
        """Be told what the writer deletes."""

    def committed(self) -> None:
        """Be told that the store shows all that was written."""
