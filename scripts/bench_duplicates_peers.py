"""How others find pairs of near duplicates: rensa, datasketch, and text-dedup's way. For bench_duplicates.py.

Each has the bands that find a pair of the overlap with 99 %, and as many rows as fit into its permutations.
"""

from __future__ import annotations

import hashlib
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import datasketch
import numpy as np
import rensa

from simdoc_search.query.planner import rows_and_bands_of_enough

OVERLAP, RECALL = Fraction(1, 2), Fraction(99, 100)
PERMUTATIONS, SHINGLE = 512, 5

Pairs = set[tuple[int, int]]


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    """What it gives, and its processor time in seconds."""
    began = time.process_time()
    return action(), time.process_time() - began


def shingles(text: str) -> list[str]:
    """Shingles as the peers' users make them."""
    words = text.lower().split()
    return [" ".join(words[at : at + SHINGLE]) for at in range(max(1, len(words) - SHINGLE + 1))]


def best_bands(permutations: int, overlap: Fraction) -> tuple[int, int]:
    """Bands and rows for the recall."""
    rows, bands = rows_and_bands_of_enough(permutations, overlap, RECALL)
    return bands, rows


def with_rensa(sets: Sequence[list[str]], overlap: Fraction = OVERLAP) -> tuple[Pairs, float]:
    """RMinHashLSH: build and query."""
    bands, rows = best_bands(PERMUTATIONS, overlap)
    sketches = []
    for each in sets:
        sketches.append(rensa.RMinHash(num_perm=bands * rows, seed=42))
        sketches[-1].update(each)

    def way() -> Pairs:
        index = rensa.RMinHashLSH(threshold=float(overlap), num_perm=bands * rows, num_bands=bands)
        for number, each in enumerate(sketches):
            index.insert(number, each)
        return {
            (other, number) for number, each in enumerate(sketches) for other in index.query(each) if other < number
        }

    return timed(way)


def with_datasketch(sets: Sequence[list[str]], overlap: Fraction = OVERLAP) -> tuple[Pairs, float]:
    """MinHashLSH: build and query."""
    bands, rows = best_bands(PERMUTATIONS, overlap)
    sketches = []
    for each in sets:
        sketches.append(datasketch.MinHash(num_perm=bands * rows))
        sketches[-1].update_batch([shingle.encode() for shingle in each])

    def way() -> Pairs:
        index = datasketch.MinHashLSH(num_perm=bands * rows, params=(bands, rows))
        for number, each in enumerate(sketches):
            index.insert(number, each)
        return {
            (other, number) for number, each in enumerate(sketches) for other in index.query(each) if other < number
        }

    return timed(way)


def bands_of_permutations(pieces: Sequence[str], overlap: Fraction) -> Pairs:
    """As text-dedup finds pairs: 256 permutations of 32-bit hashes in numpy, all of a band's equal keys."""
    bands, rows = best_bands(256, overlap)
    rng = np.random.default_rng(42)
    prime = np.uint64((1 << 61) - 1)
    a, b = (rng.integers(1, 1 << 61, bands * rows, np.uint64) for _ in range(2))
    tables: list[dict[bytes, list[int]]] = [defaultdict(list) for _ in range(bands)]
    for number, text in enumerate(pieces):
        hashes = np.array(
            [int.from_bytes(hashlib.sha1(each.encode()).digest()[:4], "little") for each in set(shingles(text))],  # noqa: S324
            np.uint64,
        )
        minima = ((hashes[:, None] * a + b) % prime & np.uint64(0xFFFFFFFF)).min(axis=0).astype(np.uint32)
        for band, table in enumerate(tables):
            table[minima[band * rows : (band + 1) * rows].tobytes()].append(number)
    return {(run[0], other) for table in tables for run in table.values() for other in run[1:]}


def connected(found: Pairs, count: int) -> list[list[int]]:
    """Whoever is connected, over however many others: what others take for a group."""
    above = list(range(count))

    def top(number: int) -> int:
        while above[number] != number:
            above[number] = above[above[number]]
            number = above[number]
        return number

    for a, b in found:
        above[max(top(a), top(b))] = min(top(a), top(b))
    groups: dict[int, list[int]] = defaultdict(list)
    for number in range(count):
        groups[top(number)].append(number)
    return [each for each in groups.values() if len(each) > 1]
