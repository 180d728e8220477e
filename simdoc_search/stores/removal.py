"""Conditions under which documents are removed from a store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from simdoc_search.documents import Place

NOT_THERE = "it is not in the store"
TEXT_CHANGED = "its text has changed since the plan was written"
KEPT_GONE = "the document that is kept for it has changed or is gone"


@dataclass(frozen=True, slots=True)
class Removal:
    """The condition under which a document is removed.

    Attributes:
        text_hash: the document must still have this hash.
        kept: place and `text_hash` of another document that must be in the store; None for no such condition.
    """

    text_hash: str
    kept: tuple[Place, str] | None = None


def refusals(removals: Mapping[Place, Removal], hashes: Mapping[Place, str]) -> dict[Place, str]:
    """Return the documents that do not meet their condition, each with the reason.

    Args:
        removals: the condition of each document.
        hashes: the current `text_hash` of each document in the store.
    """
    refused = {}
    for place, removal in removals.items():
        if hashes.get(place) != removal.text_hash:
            refused[place] = TEXT_CHANGED if place in hashes else NOT_THERE
        elif removal.kept and hashes.get(removal.kept[0]) != removal.kept[1]:
            refused[place] = KEPT_GONE
    return refused
