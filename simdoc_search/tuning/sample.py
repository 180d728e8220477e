"""Which documents are looked at: some of all, by chance but the same each time; and copies of them with edits."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

from simdoc_search.analysis.settings import Analysis

MOST_CHARACTERS = 8_000_000
"""Of all texts of a sample together."""

Item = TypeVar("Item")

_SPREAD = 0.1  # how far from the wanted overlap copies are made


@dataclass(frozen=True, slots=True)
class Planted:
    """A copy that was made with edits.

    Attributes:
        id: what it is called here.
        of: the document that it is a copy of.
        text: its text.
    """

    id: str
    of: str
    text: str


def drawn(
    items: Iterable[Item], size: int, seed: int, wanted: Collection[str] = (), name: Callable[[Item], str] = str
) -> tuple[list[Item], int]:
    """So many of them, each as likely as any other, in an order by chance; and how many there were.

    Args:
        items: read once.
        size: how many; those that are wanted come on top, and first.
        seed: the same seed draws the same ones.
        wanted: names of those that are taken in any case.
        name: what an item is called.

    Source: Vitter 1985, "Random sampling with a reservoir", algorithm R.
    """
    chance, total = random.Random(seed), 0  # noqa: S311 - no secret
    sure: list[Item] = []
    kept: list[Item] = []
    for total, item in enumerate(items, 1):
        if name(item) in wanted:
            sure.append(item)
            continue
        seen = total - len(sure)
        place = seen - 1 if seen <= size else chance.randrange(seen)
        if place < size:
            kept[place : place + 1] = [item]
    chance.shuffle(kept)
    return [*sure, *kept], total


def fitting(documents: Iterable[tuple[str, str]], wanted: Collection[str] = ()) -> dict[str, str]:
    """The texts by id, until they have `MOST_CHARACTERS`; exact values need all shingles in memory.

    Args:
        documents: ids and texts, as `drawn` orders them.
        wanted: ids of those that are taken in any case.
    """
    texts: dict[str, str] = {}
    size = 0
    for id, text in documents:
        if size + len(text) > MOST_CHARACTERS and len(texts) > 1 and id not in wanted:
            break
        texts[id] = text
        size += len(text)
    return texts


def planted(
    texts: Mapping[str, str], overlap: float, count: int, seed: int, analysis: Analysis | None = None
) -> list[Planted]:
    """Copies of some documents in which words are replaced by others of the sample, so many that they overlap about so.

    Of the shingles of k words s stay if each word stays with probability s**(1/k), and then J = s / (2 - s). Targets
    lie evenly around the overlap; what a copy really overlaps is computed as for any document.

    Args:
        texts: by id.
        overlap: about which Jaccard similarity, over 0, up to 1.
        count: how many copies at most, one of a document.
        seed: the same seed makes the same ones.
        analysis: what a shingle is.
    """
    analysis, chance = analysis or Analysis(), random.Random(seed)  # noqa: S311 - no secret
    long_enough = sorted(id for id, text in texts.items() if len(text.split()) > 2 * analysis.shingle_size)
    chosen = chance.sample(long_enough, min(count, len(long_enough)))
    words = sorted({word for id in chosen for word in texts[id].split()})
    length = 1 if analysis.unit == "word" else 1 + sum(map(len, words)) / max(1, len(words))
    size = 1 + (analysis.shingle_size - 1) / length  # words that a shingle has something of
    made = []
    for place, id in enumerate(chosen):
        target = overlap + _SPREAD * (2 * (place + 0.5) / len(chosen) - 1)
        target = min(0.99, max(0.02, target))
        stays = (2 * target / (1 + target)) ** (1 / size)
        text = " ".join(word if chance.random() < stays else chance.choice(words) for word in texts[id].split())
        made.append(Planted(f"planted: {id}", id, text))
    return made
