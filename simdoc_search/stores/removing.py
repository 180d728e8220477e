"""Which documents are removed from a store, on which condition; and why one was not."""

from __future__ import annotations

from dataclasses import dataclass

from simdoc_search.documents import Place

__all__ = ["KEPT_GONE", "NOT_THERE", "TEXT_CHANGED", "Removal"]

NOT_THERE = "it is not in the store"
TEXT_CHANGED = "its text has changed since the plan was written"
KEPT_GONE = "the document that is kept for it has changed or is gone"


@dataclass(frozen=True, slots=True)
class Removal:
    """On which condition a document is removed.

    Attributes:
        text_hash: it still has this one.
        kept: place and `text_hash` of a document that must be in the store, too; None: there is none.
    """

    text_hash: str
    kept: tuple[Place, str] | None = None
