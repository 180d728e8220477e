"""Searches for numbers that differ in few bits, without comparing all pairs.

Numbers are cut into m blocks. Two numbers that differ in k bits are equal in at least m - k blocks (pigeonhole
principle). For each choice of m - k blocks, the numbers are sorted by these blocks. Numbers with equal blocks are then
adjacent, and only they are compared. More blocks mean longer equal parts and fewer comparisons, but more choices.
Therefore the number of blocks with the lowest cost is used. The search finds all pairs within the distance.

Source: Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling", section 3.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, set_bits

_PAIRS_AT_ONCE = 1 << 16  # this many pairs fit into the processor's cache
_MAX_MASKS = 64
_DIGIT_BITS = 16  # number of bits that are sorted at once
_LOOKUP_COST = 16  # number of comparisons that cost as much as one lookup

Ints = NDArray[np.int64]


def masks(bits: int, max_distance: int, count: int = 1) -> list[tuple[int, list[int]]]:
    """Return bit masks. Two numbers that differ in up to `max_distance` of `bits` bits are equal in at least one mask.

    `count` is the number of values to search. With more values, there are more and longer masks. For one value, there
    are `max_distance` + 1 disjoint masks.

    Returns:
        Pairs of a mask and a list of other masks. If two numbers are equal in one of the other masks, an earlier mask
        finds them.
    """
    if not (1 <= bits <= SIMHASH_BITS and 0 <= max_distance < bits):
        raise ValueError(
            f"bits must be 1 to {SIMHASH_BITS} and max_distance less than bits, not {bits} and {max_distance}"
        )

    def cost(blocks: int) -> float:
        compared = math.ldexp(count, -(bits * (blocks - max_distance) // blocks))
        return math.comb(blocks, max_distance) * (_LOOKUP_COST + compared)

    limit = max(_MAX_MASKS, max_distance + 1)
    numbers = (number for number in range(max_distance + 1, bits + 1) if math.comb(number, max_distance) <= limit)
    blocks = min(numbers, key=cost)
    edges = [bits * number // blocks for number in range(blocks + 1)]
    parts = [(1 << end) - (1 << begin) for begin, end in pairwise(edges)]
    return [
        (sum(parts[n] for n in chosen), [parts[n] for n in range(chosen[-1]) if n not in chosen])
        for chosen in combinations(range(blocks), blocks - max_distance)
    ]


class NearBits:
    """An index of numbers that finds all numbers near a query.

    Args:
        values: numbers of `bits` bits; uint64, shape (values,). Each takes 16 bytes of memory per mask.
        bits: number of bits, 1 to 64.
        max_distance: maximum number of bits in which near numbers differ, 0 to `bits` - 1.
    """

    def __init__(self, values: Simhashes, bits: int, max_distance: int) -> None:
        self._max_distance, self._count = max_distance, len(values)
        self._orders = [_SortedNumbers(values, *choice) for choice in masks(bits, max_distance, len(values))]

    def near(self, queries: Simhashes) -> tuple[Ints, Ints]:
        """Return all pairs of a query and a near number, as the indices of both; int64, shape (pairs,), sorted."""
        pairs = (pair for order in self._orders for pair in order.near(queries, self._max_distance))
        keys = [query * self._count + value for query, value in pairs]
        return _pairs(np.sort(_concatenated(keys)), self._count)


def near_pairs(values: Simhashes, bits: int, max_distance: int) -> tuple[Ints, Ints]:
    """Return all pairs of near numbers, as the smaller and the larger index; both int64, shape (pairs,), sorted.

    This takes less memory and time than one query per number. The arguments are those of `NearBits`.
    """
    orders = (_SortedNumbers(values, *choice) for choice in masks(bits, max_distance, len(values)))
    keys = _concatenated(key for order in orders for key in order.pair_keys(max_distance))
    return _pairs(np.sort(keys), len(values))


def sampled_near_pairs(values: Simhashes, bits: int, max_distance: int, samples: int) -> tuple[Ints, Ints]:
    """Return the pairs of near numbers that are equal in at least one of `samples` random samples of bits.

    The arguments and the result are otherwise those of `near_pairs`. The cost is linear: a sample has enough bits that
    the number of compared pairs is at most the number of values. A pair that differs in d of 64 bits is missed with
    probability (1 - C(64-d, b) / C(64, b))**samples, where b is the number of bits in a sample. The samples are the
    same in every run.
    """
    generator = random.Random(bits)  # noqa: S311 - not used for secrets
    width = min(bits, max(1, len(values).bit_length() - 1))
    keys: list[Ints] = []
    for _ in range(samples):
        while True:
            order = _SortedNumbers(values, sum(1 << bit for bit in generator.sample(range(bits), width)), [])
            if width == bits or order.compared <= len(values):
                break
            width = min(bits, width + 2)
        keys += order.pair_keys(max_distance)
    return _pairs(distinct(_concatenated(keys)), len(values))


def _concatenated(keys: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *keys])


def _pairs(keys: Ints, count: int) -> tuple[Ints, Ints]:
    return keys // max(1, count), keys % max(1, count)


class _SortedNumbers:
    """Numbers sorted by the bits of a mask. Pairs that are equal in one of the masks `others` are left out."""

    def __init__(self, values: Simhashes, mask: int, others: list[int]) -> None:
        self._mask = np.uint64(mask)
        self._others = [np.uint64(other) for other in others]
        self._order = _order(values, mask)
        self._values = values[self._order]

    @property
    def compared(self) -> int:
        """Number of pairs that `pair_keys` compares."""
        keys = self._values & self._mask
        runs = np.diff(np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True]))))
        return int((runs * (runs - 1) // 2).sum()) if len(keys) else 0

    def near(self, queries: Simhashes, max_distance: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield the near pairs that are equal in this mask and in none of the `others`, as indices of both."""
        order = _order(queries, int(self._mask))  # sorted queries are looked up faster
        keys, queries = self._values & self._mask, queries[order]
        begins = np.searchsorted(keys, queries & self._mask)
        ends = np.searchsorted(keys, queries & self._mask, side="right")
        return self._near_in_ranges(queries, order, begins, ends - begins, max_distance)

    def pair_keys(self, max_distance: int) -> Iterator[Ints]:
        """Yield the near pairs among the numbers, encoded as smaller index × count + larger index."""
        keys = self._values & self._mask
        is_last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        ends = np.flatnonzero(is_last)[np.cumsum(is_last) - is_last] + 1
        begins = np.arange(1, len(keys) + 1)
        for a, b in self._near_in_ranges(self._values, self._order, begins, ends - begins, max_distance):
            yield np.minimum(a, b) * len(keys) + np.maximum(a, b)

    def _near_in_ranges(
        self, queries: Simhashes, order: Ints, begins: Ints, counts: Ints, max_distance: int
    ) -> Iterator[tuple[Ints, Ints]]:
        """Compare each query with a range of the sorted numbers, given by its first index and its length."""
        sums = np.cumsum(counts)
        cuts = np.searchsorted(sums, np.arange(_PAIRS_AT_ONCE, int(sums[-1]) if len(sums) else 0, _PAIRS_AT_ONCE))
        for first, end in pairwise([0, *cuts.tolist(), len(queries)]):
            sizes = counts[first:end]
            index = np.arange(int(sizes.sum())) + np.repeat(begins[first:end] - (np.cumsum(sizes) - sizes), sizes)
            difference = np.repeat(queries[first:end], sizes) ^ self._values[index]
            near = np.flatnonzero(set_bits(difference) <= max_distance)
            for other in self._others:
                near = near[difference[near] & other != 0]
            query = first + np.searchsorted(np.cumsum(sizes), near, side="right")
            yield order[query], self._order[index[near]]


def _order(values: Simhashes, mask: int) -> Ints:
    """Return the order of numbers by the bits of a mask. This is a radix sort in linear time."""
    order: Ints = np.arange(len(values))
    for digit in range(0, SIMHASH_BITS, _DIGIT_BITS):
        if bits := mask >> digit & (1 << _DIGIT_BITS) - 1:
            keys = (values >> np.uint64(digit)).astype(np.uint16) & np.uint16(bits)
            order = order[np.argsort(keys[order], kind="stable")]
    return order
