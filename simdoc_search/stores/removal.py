"""Which documents are removed from a store, on which condition; and why one was not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simdoc_search.documents import Place

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


def refusals(wanted: Mapping[Place, Removal], now: Mapping[Place, str]) -> dict[Place, str]:
    """The documents that do not meet their condition, each with the reason.

    Args:
        wanted: what is to be removed.
        now: the `text_hash` of each document concerned that is in the store.
    """
    left = {}
    for place, each in wanted.items():
        if now.get(place) != each.text_hash:
            left[place] = TEXT_CHANGED if place in now else NOT_THERE
        elif each.kept and now.get(each.kept[0]) != each.kept[1]:
            left[place] = KEPT_GONE
    return left
