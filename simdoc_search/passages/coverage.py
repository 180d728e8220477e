"""Orders documents by how many words each document adds to the coverage of a text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.passages.word_spans import Mask, empty_mask

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Cover(Generic[Item]):
    """The words or tokens of a text that are also in another document.

    `item` represents the other document, such as a hit. If two documents add the same number of words, the smaller
    `rank` comes first. `indices` are those of the words or tokens that are in the other document, ascending. `weight`
    is the number of words that each index stands for: 1 for words, usually more for tokens.
    """

    item: Item
    rank: tuple[int, str, str]
    indices: NDArray[np.int64]
    text_length: int
    weight: float = 1.0


def order_by_added_words(covers: Sequence[Cover[Item]]) -> Iterator[tuple[Item, float]]:
    """Yield each item and the number of words that its document adds to the coverage, the largest number first.

    The order is greedy: the next document is the one that adds the most words. Covers of equal weight must
    refer to the same text or tokens.
    """
    # The number of words that a document adds can only decrease. So the document at the top of the heap is the
    # next one if its number is still correct.
    covered: dict[float, Mask] = {}
    heap = [(-cover.weight * len(cover.indices), cover.rank, index) for index, cover in enumerate(covers)]
    heapify(heap)
    while heap:
        negative_bound, rank, index = heap[0]
        cover = covers[index]
        already_covered = covered.setdefault(cover.weight, empty_mask(cover.text_length))
        new_words = cover.weight * int(np.count_nonzero(~already_covered[cover.indices]))
        if new_words < -negative_bound:
            heapreplace(heap, (-new_words, rank, index))
            continue
        heappop(heap)
        already_covered[cover.indices] = True
        yield cover.item, new_words


def unite_covers(covers: Iterable[Cover[Item]], text_length: int) -> Mask:
    """Return the words of a text of `text_length` words that at least one document covers."""
    covered = empty_mask(text_length)
    for cover in covers:
        covered[cover.indices] = True
    return covered


def count_covered_words(covers: Sequence[Cover[Item]]) -> float:
    """Return the number of words that all documents cover together: the sum of `order_by_added_words`."""
    lengths = {cover.weight: cover.text_length for cover in covers}
    return sum(
        weight * int(np.count_nonzero(unite_covers((cover for cover in covers if cover.weight == weight), length)))
        for weight, length in lengths.items()
    )


def mark_shared_tokens(token_ids: NDArray[np.uint32], other_token_ids: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Return whether each token is in `other_token_ids`; bool, same shape as `token_ids`."""
    return np.isin(token_ids, other_token_ids)
