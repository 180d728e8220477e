"""A random sample of documents, the same each time, and its exact overlaps."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.exact import shingle_set
from simdoc_search.versions.ragged_arrays import expanded

MAX_CHARACTERS = 8_000_000
"""Maximum length of all texts of a sample together: exact overlaps need all shingles in memory."""

Item = TypeVar("Item")

_SEED = 1

Ints = NDArray[np.int64]


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


@dataclass(frozen=True, slots=True, eq=False)
class ExactOverlaps:
    """The pairs of a sample that share a shingle."""

    ids: tuple[str, ...]  # the documents
    first: Ints  # the number of the first document of each pair; int64, shape (pairs,)
    second: Ints  # the number of the second document
    jaccard: NDArray[np.float64]  # their Jaccard similarity, over 0, up to 1; float64, shape (pairs,)

    def count(self, least: float, most: float = 1.0) -> int:
        """Return the number of pairs with an overlap in this range."""
        return int(np.count_nonzero((self.jaccard >= least) & (self.jaccard <= most)))

    def partners(self, least: float) -> dict[str, set[str]]:
        """Return for each document the documents that overlap it at least this much, if there are any."""
        partners: dict[str, set[str]] = {}
        for pair in np.flatnonzero(self.jaccard >= least).tolist():
            a, b = self.ids[self.first[pair]], self.ids[self.second[pair]]
            partners.setdefault(a, set()).add(b)
            partners.setdefault(b, set()).add(a)
        return partners


def exact_overlaps(texts: Mapping[str, str], analysis: Analysis | None = None) -> ExactOverlaps:
    """Compute the overlaps of all pairs of documents that share a shingle."""
    number_of: dict[str, int] = {}
    sets = [
        np.array([number_of.setdefault(shingle, len(number_of)) for shingle in shingle_set(text, analysis)], np.int64)
        for text in texts.values()
    ]
    sizes = np.array([len(shingles) for shingles in sets], np.int64)
    shingles = np.concatenate([*sets, np.zeros(0, np.int64)])
    owners = np.repeat(np.arange(len(sets)), sizes)[np.argsort(shingles, kind="stable")]
    owner_counts = np.bincount(shingles, minlength=len(number_of))
    begins = np.cumsum(owner_counts) - owner_counts
    first, second, jaccard = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for number, own in enumerate(sets):
        _, places = expanded(begins[own], owner_counts[own])
        shared = np.bincount(owners[places], minlength=len(sets))
        shared[: number + 1] = 0
        others = np.flatnonzero(shared)
        first.append(np.full(len(others), number))
        second.append(others)
        jaccard.append(shared[others] / (sizes[number] + sizes[others] - shared[others]))
    return ExactOverlaps(tuple(texts), np.concatenate(first), np.concatenate(second), np.concatenate(jaccard))
