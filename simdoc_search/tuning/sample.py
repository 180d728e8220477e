"""A random sample of documents, the same each time."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable
from typing import TypeVar

MAX_CHARACTERS = 8_000_000
"""Maximum length of all texts of a sample together: exact overlaps need all shingles in memory."""

Item = TypeVar("Item")

_SEED = 1


def draw_sample(
    items: Iterable[Item], size: int, required: Collection[str] = (), name: Callable[[Item], str] = str
) -> tuple[list[Item], int]:
    """Draw items at random; returns them in random order, and the number of all items.

    Items with a required name are added and come first. Source: Vitter 1985, "Random sampling with a reservoir",
    algorithm R.
    """
    chance, total = random.Random(_SEED), 0  # noqa: S311 - not a secret
    added: list[Item] = []
    drawn: list[Item] = []
    for total, item in enumerate(items, 1):
        if name(item) in required:
            added.append(item)
            continue
        seen = total - len(added)
        place = seen - 1 if seen <= size else chance.randrange(seen)
        if place < size:
            drawn[place : place + 1] = [item]
    chance.shuffle(drawn)
    return [*added, *drawn], total


def limit_texts(documents: Iterable[tuple[str, str]], required: Collection[str] = ()) -> dict[str, str]:
    """Return texts by id until they have `MAX_CHARACTERS`; always two texts, and those with a required id."""
    texts: dict[str, str] = {}
    size = 0
    for id, text in documents:
        if size + len(text) > MAX_CHARACTERS and len(texts) > 1 and id not in required:
            break
        texts[id] = text
        size += len(text)
    return texts
