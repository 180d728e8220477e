"""Searches for simhashes that differ in few bits, without comparing all pairs.

The numbers are cut into m blocks. Two numbers that differ in k bits are equal in at least m - k blocks (pigeonhole
principle). For each choice of m - k blocks, the numbers are sorted by these blocks. Numbers whose chosen blocks are
equal are then adjacent, and only these numbers are compared. For a larger m, there are more choices. But the chosen
blocks have more bits in total, so fewer numbers are compared. The module uses the m with the lowest cost. The search
finds all pairs within the distance.

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
from simdoc_search.analysis.ragged_arrays import positions_in_runs, slices_by_cost
from simdoc_search.sketch.simhash import SIMHASH_BITS, Simhashes, count_set_bits

_PAIRS_PER_BATCH = 1 << 16  # more pairs do not fit into the processor's cache
_DEFAULT_MASK_LIMIT = 64
_DIGIT_BITS = 16  # number of bits per pass of the radix sort
_LOOKUP_COST = 16  # a lookup takes as long as this many comparisons

Ints = NDArray[np.int64]


def make_block_masks(max_distance: int, value_count: int) -> list[tuple[int, list[int]]]:
    """Return bit masks. Two numbers that differ in up to `max_distance` bits are equal in at least one mask.

    `max_distance` is at most 63. `value_count` is the number of values to search. For more values, the function returns
    more and longer masks. For one value, it returns `max_distance` + 1 disjoint masks.

    Returns:
        Pairs of a mask and a list of blocks. Numbers that are equal in this mask and in one of these blocks were
        already found with an earlier mask.
    """

    def cost(blocks: int) -> float:
        compared = math.ldexp(value_count, -(SIMHASH_BITS * (blocks - max_distance) // blocks))
        return math.comb(blocks, max_distance) * (_LOOKUP_COST + compared)

    limit = max(_DEFAULT_MASK_LIMIT, max_distance + 1)
    numbers = range(max_distance + 1, SIMHASH_BITS + 1)
    blocks = min((number for number in numbers if math.comb(number, max_distance) <= limit), key=cost)
    edges = [SIMHASH_BITS * number // blocks for number in range(blocks + 1)]
    parts = [(1 << end) - (1 << begin) for begin, end in pairwise(edges)]
    return [
        (sum(parts[n] for n in chosen), [parts[n] for n in range(chosen[-1]) if n not in chosen])
        for chosen in combinations(range(blocks), blocks - max_distance)
    ]


class HammingIndex:
    """An index that finds all numbers within a Hamming distance of a query.

    `max_distance` is the maximum number of bits in which two near numbers differ. Each number takes 16 bytes of memory
    per mask.
    """

    def __init__(self, values: Simhashes, max_distance: int) -> None:
        self._max_distance, self._count = max_distance, len(values)
        self._orders = [_SortedNumbers(values, *choice) for choice in make_block_masks(max_distance, len(values))]

    def find_near(self, queries: Simhashes) -> tuple[Ints, Ints]:
        """Return, for each pair of a query and a near number, both indices; int64, shape (pairs,), sorted."""
        pairs = (pair for order in self._orders for pair in order.find_near(queries, self._max_distance))
        keys = [query * self._count + value for query, value in pairs]
        return _decode_pairs(np.sort(_concatenate(keys)), self._count)


def find_near_pairs(values: Simhashes, max_distance: int) -> tuple[Ints, Ints]:
    """Return, for each pair of near numbers, the smaller and the larger index; both int64, shape (pairs,), sorted.

    This takes less memory and time than one query per number.
    """
    orders = (_SortedNumbers(values, *choice) for choice in make_block_masks(max_distance, len(values)))
    keys = _concatenate(key for order in orders for key in order.pair_keys(max_distance))
    return _decode_pairs(np.sort(keys), len(values))


def sample_near_pairs(values: Simhashes, max_distance: int, sample_count: int) -> tuple[Ints, Ints]:
    """Return the pairs of near numbers that are equal in at least one of `sample_count` random samples of bits.

    The result is that of `find_near_pairs`. Each sample has enough bits that the number of compared pairs does not
    exceed the number of values. A pair that differs in d of 64 bits is missed with
    probability (1 - C(64-d, b) / C(64, b))**sample_count, where b is the number of bits in a sample. The samples are
    the same in every run.
    """
    generator = random.Random(64)  # noqa: S311 - not used for secrets
    width = max(1, len(values).bit_length() - 1)
    keys: list[Ints] = []
    for _ in range(sample_count):
        while True:
            order = _SortedNumbers(values, sum(1 << bit for bit in generator.sample(range(SIMHASH_BITS), width)), [])
            if width == SIMHASH_BITS or order.comparison_count <= len(values):
                break
            width = min(SIMHASH_BITS, width + 2)
        keys += order.pair_keys(max_distance)
    return _decode_pairs(distinct(_concatenate(keys)), len(values))


def _concatenate(keys: Iterable[Ints]) -> Ints:
    return np.concatenate([np.zeros(0, np.int64), *keys])


def _decode_pairs(keys: Ints, count: int) -> tuple[Ints, Ints]:
    return keys // max(1, count), keys % max(1, count)


class _SortedNumbers:
    """Numbers sorted by the bits of a mask. Pairs that are also equal in one of the `earlier_blocks` are omitted."""

    def __init__(self, values: Simhashes, mask: int, earlier_blocks: list[int]) -> None:
        self._mask = np.uint64(mask)
        self._earlier_blocks = [np.uint64(block) for block in earlier_blocks]
        self._order = _sort_by_mask(values, mask)
        self._values = values[self._order]

    @property
    def comparison_count(self) -> int:
        """Number of pairs that `pair_keys` compares."""
        keys = self._values & self._mask
        runs = np.diff(np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True]))))
        return int((runs * (runs - 1) // 2).sum()) if len(keys) else 0

    def find_near(self, queries: Simhashes, max_distance: int) -> Iterator[tuple[Ints, Ints]]:
        """Yield the indices of the near pairs that are equal in this mask and in none of the `earlier_blocks`."""
        order = _sort_by_mask(queries, int(self._mask))  # sorted queries are looked up faster
        keys, queries = self._values & self._mask, queries[order]
        begins = np.searchsorted(keys, queries & self._mask)
        ends = np.searchsorted(keys, queries & self._mask, side="right")
        return self._find_near_in_ranges(queries, order, begins, ends - begins, max_distance)

    def pair_keys(self, max_distance: int) -> Iterator[Ints]:
        """Yield the pairs of near numbers, encoded as smaller index × count + larger index."""
        keys = self._values & self._mask
        is_last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        ends = np.flatnonzero(is_last)[np.cumsum(is_last) - is_last] + 1
        begins = np.arange(1, len(keys) + 1)
        for a, b in self._find_near_in_ranges(self._values, self._order, begins, ends - begins, max_distance):
            yield np.minimum(a, b) * len(keys) + np.maximum(a, b)

    def _find_near_in_ranges(
        self, queries: Simhashes, order: Ints, begins: Ints, counts: Ints, max_distance: int
    ) -> Iterator[tuple[Ints, Ints]]:
        """Compare each query with a range of the sorted numbers, given by its first index and its length."""
        for part in slices_by_cost(counts, _PAIRS_PER_BATCH):
            sizes = counts[part]
            index = positions_in_runs(begins[part], sizes)
            difference = np.repeat(queries[part], sizes) ^ self._values[index]
            near = np.flatnonzero(count_set_bits(difference) <= max_distance)
            for block in self._earlier_blocks:
                near = near[difference[near] & block != 0]
            query = part.start + np.searchsorted(np.cumsum(sizes), near, side="right")
            yield order[query], self._order[index[near]]


def _sort_by_mask(values: Simhashes, mask: int) -> Ints:
    """Return the indices that sort numbers by the bits of a mask. This is a radix sort in linear time."""
    order: Ints = np.arange(len(values))
    for digit in range(0, SIMHASH_BITS, _DIGIT_BITS):
        if bits := mask >> digit & (1 << _DIGIT_BITS) - 1:
            keys = (values >> np.uint64(digit)).astype(np.uint16) & np.uint16(bits)
            order = order[np.argsort(keys[order], kind="stable")]
    return order
