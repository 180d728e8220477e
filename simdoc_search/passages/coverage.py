"""The order of several texts by the words that each adds to the coverage of another text."""

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
    """What a text, the `key`, covers of another text.

    Attributes:
        rank: If two texts add the same number of words, the one with the smaller rank is first.
        places: The covered words or tokens of the other text, as ascending numbers.
        length: The number of words or tokens of the other text.
        weight: The number of words per word or token.
    """

    key: Key
    rank: tuple[int, str, str]
    places: NDArray[np.int64]
    length: int
    weight: float = 1.0


def by_added_words(covers: Sequence[Cover[Key]]) -> Iterator[tuple[Key, float]]:
    """All texts with the number of words that each adds to the coverage, the text that adds most first.

    The order is greedy. The number that a text adds only decreases, so a text that still adds most is the next one.
    All texts with the same weight cover the same text.
    """
    covered: dict[float, Mask] = {}
    waiting = [(-cover.weight * len(cover.places), cover.rank, number) for number, cover in enumerate(covers)]
    heapify(waiting)
    while waiting:
        added, rank, number = waiting[0]
        cover = covers[number]
        done = covered.setdefault(cover.weight, no_words(cover.length))
        adds = cover.weight * int(np.count_nonzero(~done[cover.places]))
        if adds < -added:
            heapreplace(waiting, (-adds, rank, number))
            continue
        heappop(waiting)
        done[cover.places] = True
        yield cover.key, adds


def union(covers: Iterable[Cover[Key]], length: int) -> Mask:
    """The words of a text of `length` words that any text covers."""
    covered = no_words(length)
    for cover in covers:
        covered[cover.places] = True
    return covered


def tokens_also_in(tokens: NDArray[np.uint32], others: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Whether each token is among others; shape of `tokens`."""
    return np.isin(tokens, others)
