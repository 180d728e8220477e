"""Conditional removal of documents from a store."""

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


def refusals(wanted: Mapping[Place, Removal], now: Mapping[Place, str]) -> dict[Place, str]:
    """Return the documents that do not meet their condition, each with the reason.

    Args:
        wanted: the removals.
        now: the current `text_hash` of each document concerned.
    """
    left = {}
    for place, each in wanted.items():
        if now.get(place) != each.text_hash:
            left[place] = TEXT_CHANGED if place in now else NOT_THERE
        elif each.kept and now.get(each.kept[0]) != each.kept[1]:
            left[place] = KEPT_GONE
    return left
