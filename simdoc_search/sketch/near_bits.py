"""Which of many numbers differ from one in a few bits? Found without comparing it with all.

Cut into m blocks, two numbers that differ in k bits are equal in at least m - k blocks (pigeonhole). So for each choice
of m - k blocks the numbers are sorted by these: those that are equal there stand side by side, and only they are
compared. With more blocks the equal parts are longer, so fewer are compared, but there are more choices; as many are
taken as cost least. All that are near are found.

Source: Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling", section 3. The search of Fowke,
Hinze, Heese 2013, section 6 (sort, look at neighbours, rotate by one bit, again), finds those whose bits differ side by
side.
"""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from simdoc_search.sketch.simhash import BITS, Simhashes, distances

__all__ = ["NearBits", "masks"]

_PAIRS_AT_ONCE = 1 << 22
_MOST_MASKS = 64

Ints = NDArray[np.int64]


def masks(bits: int, most: int, count: int = 1) -> list[int]:
    """Parts of a number: two that differ in up to `most` bits are equal in at least one of them.

    Args:
        bits: how many bits numbers have, 1 to 64.
        most: in how many bits two may differ, 0 to `bits` - 1.
        count: among how many numbers is looked; more, and longer, parts for more. Of 1: `most` + 1 parts that share no
            bit, the ones to index as terms.
    """
    if not (1 <= bits <= BITS and 0 <= most < bits):
        raise ValueError(f"bits must be 1 to {BITS} and most less than that, not {bits} and {most}")

    def cost(blocks: int) -> float:
        compared = math.ldexp(count, -(bits * (blocks - most) // blocks))
        return math.comb(blocks, most) * (math.log2(count + 1) + compared)

    choices = [each for each in range(most + 1, bits + 1) if math.comb(each, most) <= max(_MOST_MASKS, most + 1)]
    blocks = min(choices, key=cost)
    edges = [bits * each // blocks for each in range(blocks + 1)]
    parts = [(1 << end) - (1 << begin) for begin, end in pairwise(edges)]
    return [sum(each) for each in combinations(parts, blocks - most)]


class NearBits:
    """Numbers among which near ones are looked for.

    Args:
        values: numbers of `bits` bits; uint64, shape (values,). They take 16 bytes each for each of the `masks`.
        bits: how many bits they have, 1 to 64.
        most: in how many bits two may differ and are near, 0 to `bits` - 1.
    """

    def __init__(self, values: Simhashes, bits: int, most: int) -> None:
        self._values, self._most = values, most
        self._masks = np.array(masks(bits, most, len(values)), np.uint64)
        self._orders: list[Ints] = [np.argsort(values & each, kind="stable") for each in self._masks]
        self._sorted = [(values & each)[order] for each, order in zip(self._masks, self._orders, strict=True)]

    def near(self, asked: Simhashes) -> tuple[Ints, Ints]:
        """The pairs of a number that is asked for and a number that is near to it.

        Returns:
            Their places in `asked` and among the values, both int64, shape (pairs,), in order.
        """
        found = [np.zeros(0, np.int64)]
        for mask, order, ordered in zip(self._masks, self._orders, self._sorted, strict=True):
            by_key = np.argsort(asked & mask, kind="stable")  # neighbours are looked up faster than strangers
            keys = (asked & mask)[by_key]
            begins = np.searchsorted(ordered, keys)
            counts = np.searchsorted(ordered, keys, side="right") - begins
            ends = np.cumsum(counts)
            for some in np.split(np.arange(len(keys)), np.searchsorted(ends, _steps(ends))):
                who = np.repeat(by_key[some], counts[some])
                at = np.arange(len(who)) + np.repeat(
                    begins[some] - (np.cumsum(counts[some]) - counts[some]), counts[some]
                )
                at = order[at]
                near = distances(asked[who], self._values[at]) <= self._most
                found.append(who[near] * len(self._values) + at[near])
        pairs = np.sort(np.concatenate(found))
        pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])[: len(pairs)]]
        return pairs // max(1, len(self._values)), pairs % max(1, len(self._values))


def _steps(ends: Ints) -> Ints:
    """Where to cut, so that not too many pairs are compared at once."""
    return np.arange(_PAIRS_AT_ONCE, int(ends[-1]) if len(ends) else 0, _PAIRS_AT_ONCE)
