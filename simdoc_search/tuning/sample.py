"""Draws a reproducible random sample of documents, and computes the exact overlaps of its pairs."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.passages.exact_overlap import shingle_set
from simdoc_search.versions.ragged_arrays import expand_runs

MAX_TOTAL_CHARACTERS = 8_000_000
"""Maximum total length of the texts in a sample. It is limited because exact overlaps need all shingles in memory."""

Item = TypeVar("Item")

_SEED = 1

Ints = NDArray[np.int64]


def draw_sample(
    items: Iterable[Item], size: int, required_names: Collection[str] = (), get_name: Callable[[Item], str] = str
) -> tuple[list[Item], int]:
    """Draw `size` items at random, in addition to all items with a required name.

    Source: Vitter 1985, "Random sampling with a reservoir", algorithm R.

    Returns:
        The required items followed by the drawn items in random order, and the total number of items.
    """
    rng, total = random.Random(_SEED), 0  # noqa: S311 - not used for secrets
    required_items: list[Item] = []
    drawn: list[Item] = []
    for total, item in enumerate(items, 1):
        if get_name(item) in required_names:
            required_items.append(item)
            continue
        seen_count = total - len(required_items)
        position = seen_count - 1 if seen_count <= size else rng.randrange(seen_count)
        if position < size:
            drawn[position : position + 1] = [item]
    rng.shuffle(drawn)
    return [*required_items, *drawn], total


def limit_texts(documents: Iterable[tuple[str, str]], required_ids: Collection[str] = ()) -> dict[str, str]:
    """Map ids to texts: the first texts whose total length is at most `MAX_TOTAL_CHARACTERS`.

    The first two texts and the required texts are included even if they exceed it.
    """
    texts: dict[str, str] = {}
    size = 0
    for id, text in documents:
        if size + len(text) > MAX_TOTAL_CHARACTERS and len(texts) > 1 and id not in required_ids:
            break
        texts[id] = text
        size += len(text)
    return texts


@dataclass(frozen=True, slots=True, eq=False)
class ExactOverlaps:
    """All pairs of a sample that share a shingle."""

    ids: tuple[str, ...]
    first_documents: Ints  # index in `ids` of the first document of each pair; int64, shape (pairs,)
    second_documents: Ints  # index in `ids` of the second document of each pair
    # Jaccard similarity of each pair, greater than 0 and at most 1; float64, shape (pairs,)
    jaccard: NDArray[np.float64]

    def count_pairs(self, minimum: float, maximum: float = 1.0) -> int:
        """Return the number of pairs with an overlap in this range, including both ends."""
        return int(np.count_nonzero((self.jaccard >= minimum) & (self.jaccard <= maximum)))

    def find_overlapping_ids(self, minimum: float) -> dict[str, set[str]]:
        """Map each document with an overlap of at least `minimum` to the documents that it overlaps."""
        overlapping_ids: dict[str, set[str]] = {}
        for pair in np.flatnonzero(self.jaccard >= minimum).tolist():
            first, second = self.ids[self.first_documents[pair]], self.ids[self.second_documents[pair]]
            overlapping_ids.setdefault(first, set()).add(second)
            overlapping_ids.setdefault(second, set()).add(first)
        return overlapping_ids


def compute_exact_overlaps(texts: Mapping[str, str], analysis: Analysis | None = None) -> ExactOverlaps:
    """Compute the overlaps of all pairs of documents that share a shingle."""
    shingle_ids: dict[str, int] = {}
    sets = [
        np.array(
            [shingle_ids.setdefault(shingle, len(shingle_ids)) for shingle in shingle_set(text, analysis)], np.int64
        )
        for text in texts.values()
    ]
    sizes = np.array([len(shingles) for shingles in sets], np.int64)
    shingles = np.concatenate([*sets, np.zeros(0, np.int64)])
    owners = np.repeat(np.arange(len(sets)), sizes)[np.argsort(shingles, kind="stable")]
    owner_counts = np.bincount(shingles, minlength=len(shingle_ids))
    starts = np.cumsum(owner_counts) - owner_counts
    first, second, jaccard = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for number, ids_of_document in enumerate(sets):
        _, positions = expand_runs(starts[ids_of_document], owner_counts[ids_of_document])
        shared = np.bincount(owners[positions], minlength=len(sets))
        shared[: number + 1] = 0
        overlapping = np.flatnonzero(shared)
        first.append(np.full(len(overlapping), number))
        second.append(overlapping)
        jaccard.append(shared[overlapping] / (sizes[number] + sizes[overlapping] - shared[overlapping]))
    return ExactOverlaps(tuple(texts), np.concatenate(first), np.concatenate(second), np.concatenate(jaccard))
