"""Search for numbers that differ from a given one in few bits, without comparing all of them.

Numbers are cut into m blocks. Two numbers that differ in k bits are equal in at least m - k blocks (pigeonhole
principle). For each choice of m - k blocks the numbers are sorted by these blocks. Equal ones are then adjacent, and
only these are compared. More blocks mean longer equal parts and fewer comparisons, but more choices; the cheapest
number is used. The search is complete.

Source: Manku, Jain, Das Sarma 2007, "Detecting near-duplicates for web crawling", section 3. The search of Fowke,
Hinze, Heese 2013, section 6 (sort, look at neighbours, rotate by one bit, repeat), finds only numbers whose differing
bits are adjacent.
"""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from itertools import combinations, pairwise

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.sketch.simhash import BITS, Simhashes, set_bits

_PAIRS_AT_ONCE = 1 << 16  # which the processor's own memory holds
_MOST_MASKS = 64
_DIGIT = 16
_LOOKED_UP = 16
"""Number of comparisons that cost as much as one lookup."""

Ints = NDArray[np.int64]


def masks(bits: int, most: int, count: int = 1) -> list[int]:
    """Return bit masks such that two numbers differing in up to `most` bits are equal in at least one mask.

    Args:
        bits: number of bits, 1 to 64.
        most: number of bits in which two numbers may differ, 0 to `bits` - 1.
        count: number of numbers that are searched; more numbers get more and longer masks. For 1: `most` + 1 disjoint
            masks.
    """
    return [mask for mask, _ in _choices(bits, most, count)]


def _choices(bits: int, most: int, count: int) -> list[tuple[int, list[int]]]:
    """Return the masks, each with the blocks that differ in pairs that no earlier mask finds."""
    if not (1 <= bits <= BITS and 0 <= most < bits):
        raise ValueError(f"bits must be 1 to {BITS} and most less than that, not {bits} and {most}")

    def cost(blocks: int) -> float:
        compared = math.ldexp(count, -(bits * (blocks - most) // blocks))
        return math.comb(blocks, most) * (_LOOKED_UP + compared)

    possible = [each for each in range(most + 1, bits + 1) if math.comb(each, most) <= max(_MOST_MASKS, most + 1)]
    blocks = min(possible, key=cost)
    edges = [bits * each // blocks for each in range(blocks + 1)]
    parts = [(1 << end) - (1 << begin) for begin, end in pairwise(edges)]
    chosen = combinations(range(blocks), blocks - most)
    return [
        (sum(parts[each] for each in some), [parts[each] for each in range(some[-1]) if each not in some])
        for some in chosen
    ]


class NearBits:
    """Numbers indexed for the search of near ones.

    Args:
        values: numbers of `bits` bits; uint64, shape (values,). They take 16 bytes each per mask.
        bits: number of bits, 1 to 64.
        most: number of bits in which near numbers may differ, 0 to `bits` - 1.
    """

    def __init__(self, values: Simhashes, bits: int, most: int) -> None:
        self._most, self._count = most, len(values)
        self._parts = [_Part(values, *each) for each in _choices(bits, most, len(values))]

    def near(self, asked: Simhashes) -> tuple[Ints, Ints]:
        """Return the pairs of a query number and a near number.

        Returns:
            Their indices in `asked` and in the values, both int64, shape (pairs,), in order.
        """
        found = [np.zeros(0, np.int64)]
        for part in self._parts:
            found += [who * self._count + at for who, at in part.near(asked, self._most)]
        pairs = np.sort(np.concatenate(found))
        return pairs // max(1, self._count), pairs % max(1, self._count)


def near_pairs(values: Simhashes, bits: int, most: int) -> tuple[Ints, Ints]:
    """Return all pairs of near numbers, in less memory and time than one query per number.

    Args:
        values: numbers of `bits` bits; uint64, shape (values,).
        bits: number of bits, 1 to 64.
        most: number of bits in which near numbers may differ, 0 to `bits` - 1.

    Returns:
        The indices of both numbers of each pair, both int64, shape (pairs,); the first is the smaller.
    """
    found = [np.zeros(0, np.int64)]
    for mask, others in _choices(bits, most, len(values)):
        part = _Part(values, mask, others)
        found += [np.minimum(a, b) * len(values) + np.maximum(a, b) for a, b in part.pairs(most)]
    pairs = np.sort(np.concatenate(found))
    return pairs // max(1, len(values)), pairs % max(1, len(values))


def sampled_near_pairs(values: Simhashes, bits: int, most: int, times: int) -> tuple[Ints, Ints]:
    """Return some pairs of near numbers: those equal in one of a few random choices of bits.

    The cost is linear: a choice has so many bits that it compares at most as many pairs as there are numbers. A pair
    that differs in d of 64 bits is missed with probability (1 - C(64-d, b) / C(64, b))**times, where b is the number
    of bits in a choice. The choices are the same in every run.

    Args:
        values: numbers of `bits` bits; uint64, shape (values,).
        bits: number of bits, 1 to 64.
        most: number of bits in which near numbers may differ, 0 to `bits` - 1.
        times: number of choices.

    Returns:
        As `near_pairs`.
    """
    draw = random.Random(bits)  # noqa: S311 - no secret
    width = min(bits, max(1, len(values).bit_length() - 1))
    found = [np.zeros(0, np.int64)]
    for _ in range(times):
        while True:
            part = _Part(values, sum(1 << each for each in draw.sample(range(bits), width)), [])
            if width == bits or part.compared <= len(values):
                break
            width = min(bits, width + 2)
        found += [np.minimum(a, b) * len(values) + np.maximum(a, b) for a, b in part.pairs(most)]
    pairs = distinct(np.concatenate(found))
    return pairs // max(1, len(values)), pairs % max(1, len(values))


class _Part:
    """The numbers sorted by some of their blocks."""

    def __init__(self, values: Simhashes, mask: int, others: list[int]) -> None:
        self._mask = np.uint64(mask)
        self._others = [np.uint64(each) for each in others]
        self._order = _order(values, mask)
        self._values = values[self._order]

    @property
    def compared(self) -> int:
        """Number of pairs that `pairs` compares."""
        keys = self._values & self._mask
        runs = np.diff(np.flatnonzero(np.concatenate(([True], keys[1:] != keys[:-1], [True]))))
        return int((runs * (runs - 1) // 2).sum()) if len(keys) else 0

    def near(self, asked: Simhashes, most: int) -> Iterator[tuple[Ints, Ints]]:
        """Return the near pairs that are equal in these blocks and that no earlier part finds."""
        order = _order(asked, int(self._mask))  # neighbours are looked up, and read, faster than strangers
        ours, asked = self._values & self._mask, asked[order]
        begins = np.searchsorted(ours, asked & self._mask)
        ends = np.searchsorted(ours, asked & self._mask, side="right")
        return self._compared(asked, order, begins, ends - begins, most)

    def pairs(self, most: int) -> Iterator[tuple[Ints, Ints]]:
        """Return the near pairs among the numbers themselves."""
        keys = self._values & self._mask
        last = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
        ends = np.flatnonzero(last)[np.cumsum(last) - last] + 1
        begins = np.arange(1, len(keys) + 1)
        return self._compared(self._values, self._order, begins, ends - begins, most)

    def _compared(
        self, asked: Simhashes, order: Ints, begins: Ints, counts: Ints, most: int
    ) -> Iterator[tuple[Ints, Ints]]:
        """Compare each number with the given count of ours from its place on."""
        sums = np.cumsum(counts)
        cuts = np.searchsorted(sums, np.arange(_PAIRS_AT_ONCE, int(sums[-1]) if len(sums) else 0, _PAIRS_AT_ONCE))
        for begin, end in pairwise([0, *cuts.tolist(), len(asked)]):
            some = counts[begin:end]
            at = np.arange(int(some.sum())) + np.repeat(begins[begin:end] - (np.cumsum(some) - some), some)
            different = np.repeat(asked[begin:end], some) ^ self._values[at]
            near = np.flatnonzero(set_bits(different) <= most)
            for each in self._others:
                near = near[different[near] & each != 0]
            who = begin + np.searchsorted(np.cumsum(some), near, side="right")
            yield order[who], self._order[at[near]]


def _order(values: Simhashes, mask: int) -> Ints:
    """Return the order of numbers by the bits of a mask, digit by digit: numpy sorts 16 bits in linear time."""
    order: Ints = np.arange(len(values))
    for digit in range(0, BITS, _DIGIT):
        if bits := mask >> digit & (1 << _DIGIT) - 1:
            keys = (values >> np.uint64(digit)).astype(np.uint16) & np.uint16(bits)
            order = order[np.argsort(keys[order], kind="stable")]
    return order
