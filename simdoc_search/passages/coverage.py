"""Which texts cover a text together, and in which order do they add most?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Key = TypeVar("Key")

Mask = NDArray[np.bool_]
"""For each word of a text whether it is chosen."""


@dataclass(frozen=True, slots=True)
class Cover(Generic[Key]):
    """What one text covers of another.

    Attributes:
        key: the text that covers.
        rank: of two that add the same number of words, the one of the smaller rank is first.
        places: the numbers of the words of the other text, or of its tokens, that are covered; ascending.
        length: how many words or tokens the other text has.
        weight: how many words each of them stands for.
    """

    key: Key
    rank: tuple[int, str, str]
    places: NDArray[np.int64]
    length: int
    weight: float = 1.0


def by_added_words(covers: Sequence[Cover[Key]]) -> Iterator[tuple[Key, float]]:
    """All texts, first those that add most words to what is covered, each with the number of words that it adds.

    The order is greedy and made lazily: what a text adds only shrinks, so one that still adds most is the next one.

    Args:
        covers: in any order. Those of one weight cover the same text.
    """
    covered: dict[float, Mask] = {}
    waiting = [(-each.weight * len(each.places), each.rank, number) for number, each in enumerate(covers)]
    heapify(waiting)
    while waiting:
        most, rank, number = waiting[0]
        each = covers[number]
        done = covered.setdefault(each.weight, no_words(each.length))
        adds = each.weight * int(np.count_nonzero(~done[each.places]))
        if adds < -most:
            heapreplace(waiting, (-adds, rank, number))
            continue
        heappop(waiting)
        done[each.places] = True
        yield each.key, adds


def union(covers: Iterable[Cover[Key]], length: int) -> Mask:
    """The words that any of some texts covers, of a text of that many words."""
    found = no_words(length)
    for each in covers:
        found[each.places] = True
    return found


def no_words(length: int = 0) -> Mask:
    """None of that many words is chosen."""
    return np.zeros(length, bool)


def also_in(codes: NDArray[np.uint32], others: NDArray[np.uint32]) -> Mask:
    """Which of some tokens are among others."""
    return np.isin(codes, others)
