"""The protocol of a filter that decides which new documents an index run writes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from simdoc_search.indexing.preparation import Outcome


class DocumentFilter(Protocol):
    """Filters new documents before they are written.

    The filter is notified of every write, because queries do not find documents before the store commits.
    """

    @property
    def needs_commit(self) -> bool:
        """Whether the store should commit because the filter holds too many uncommitted documents."""

    def filter_outcomes(self, outcomes: Sequence[Outcome], is_stored: Callable[[str], bool]) -> list[Outcome]:
        """Return the outcomes, with a `SkippedFile` in place of each document that must not be written.

        `outcomes` are the results of `preparation.prepare_jobs` for one chunk of documents. `is_stored` returns whether
        the store has a document with this id, or will have one.
        """

    def note_removed(self, ids: Iterable[str]) -> None:
        """Record that the writer deletes these documents."""

    def note_committed(self) -> None:
        """Record that the store has committed all changes."""
