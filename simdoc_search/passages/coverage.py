"""Orders texts by how many words each adds to the coverage of another text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.passages.word_spans import Mask, no_words

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True)
class Cover(Generic[Key]):
    """The words or tokens of a text that another document covers.

    Attributes:
        key: The document that covers them.
        rank: If two documents add the same number of words, the one with the smaller rank comes first.
        places: The numbers of the covered words or tokens; ascending.
        length: The number of words or tokens of the text.
        weight: How many words each place stands for: 1 for a word, usually more for a token.
    """

    key: Key
    rank: tuple[int, str, str]
    places: NDArray[np.int64]
    length: int
    weight: float = 1.0


def by_added_words(covers: Sequence[Cover[Key]]) -> Iterator[tuple[Key, float]]:
    """Yield each key with the number of words that it adds to the coverage, the largest number first.

    The order is greedy: each document is the one that adds most to the documents before it. All covers with the same
    weight must cover the same text.
    """
    # The number of added words can only decrease. The top of the heap is therefore next if its number is up to date.
    covered: dict[float, Mask] = {}
    waiting = [(-cover.weight * len(cover.places), cover.rank, number) for number, cover in enumerate(covers)]
    heapify(waiting)
    while waiting:
        added, rank, number = waiting[0]
        cover = covers[number]
        already_covered = covered.setdefault(cover.weight, no_words(cover.length))
        adds = cover.weight * int(np.count_nonzero(~already_covered[cover.places]))
        if adds < -added:
            heapreplace(waiting, (-adds, rank, number))
            continue
        heappop(waiting)
        already_covered[cover.places] = True
        yield cover.key, adds


def union(covers: Iterable[Cover[Key]], length: int) -> Mask:
    """The words of a text that any document covers. The text has `length` words."""
    covered = no_words(length)
    for cover in covers:
        covered[cover.places] = True
    return covered


def tokens_also_in(tokens: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each token is in `others`; shape of `tokens`."""
    return np.isin(tokens, others)
