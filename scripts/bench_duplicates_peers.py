"""Finds pairs of near-duplicates with rensa and datasketch, for bench_duplicates.py and bench_figures.py.

Each uses bands that find a pair with the minimum overlap with a probability of 99 %, and as many rows as its
permutations allow.
"""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import datasketch
import rensa

from simdoc_search.query.planner import choose_banding

OVERLAP, RECALL = Fraction(1, 2), Fraction(99, 100)
PERMUTATIONS, SHINGLE = 512, 5

Pairs = set[tuple[int, int]]


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """Run an action. Return its result, and its processor time in seconds."""
    began = time.process_time()
    return action(), time.process_time() - began


def shingles(text: str) -> list[str]:
    """Return the shingles of a text as these libraries recommend: runs of 5 lower-case words."""
    words = text.lower().split()
    return [" ".join(words[begin : begin + SHINGLE]) for begin in range(max(1, len(words) - SHINGLE + 1))]


def best_bands(permutations: int, overlap: Fraction) -> tuple[int, int]:
    """Return the number of bands and of rows that reach RECALL."""
    rows, bands = choose_banding(permutations, overlap, RECALL)
    return bands, rows


def find_pairs(index: Any, sketches: Sequence[Any]) -> Pairs:
    """Insert all sketches into an index, then query it with each."""
    for number, sketch in enumerate(sketches):
        index.insert(number, sketch)
    return {
        (other, number) for number, sketch in enumerate(sketches) for other in index.query(sketch) if other < number
    }


def with_rensa(sets: Sequence[list[str]], overlap: Fraction = OVERLAP) -> tuple[Pairs, float]:
    """Find pairs with RMinHashLSH of rensa."""
    bands, rows = best_bands(PERMUTATIONS, overlap)
    sketches = []
    for shingles_of_one in sets:
        sketches.append(rensa.RMinHash(num_perm=bands * rows, seed=42))
        sketches[-1].update(shingles_of_one)
    return timed(
        lambda: find_pairs(
            rensa.RMinHashLSH(threshold=float(overlap), num_perm=bands * rows, num_bands=bands), sketches
        )
    )


def with_datasketch(sets: Sequence[list[str]], overlap: Fraction = OVERLAP) -> tuple[Pairs, float]:
    """Find pairs with MinHashLSH of datasketch."""
    bands, rows = best_bands(PERMUTATIONS, overlap)
    sketches = []
    for shingles_of_one in sets:
        sketches.append(datasketch.MinHash(num_perm=bands * rows))
        sketches[-1].update_batch([shingle.encode() for shingle in shingles_of_one])
    return timed(lambda: find_pairs(datasketch.MinHashLSH(num_perm=bands * rows, params=(bands, rows)), sketches))


def connected(found: Pairs, count: int) -> list[list[int]]:
    """Return the connected components with two or more documents. These libraries use them as groups."""
    parents = list(range(count))

    def root(number: int) -> int:
        while parents[number] != number:
            parents[number] = parents[parents[number]]
            number = parents[number]
        return number

    for a, b in found:
        parents[max(root(a), root(b))] = min(root(a), root(b))
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(count):
        groups[root(number)].append(number)
    return [group for group in groups.values() if len(group) > 1]
