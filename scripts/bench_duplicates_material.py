"""Reads texts and makes random fingerprints for bench_duplicates.py."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.sketch.tokens import HASH_BITS

DOCUMENTS = 12_000
MIN_BYTES, MAX_BYTES = 1_000, 60_000  # size of a file
# A random fingerprint has 512 buckets, of which 52 % are filled (266 tokens). One tenth of them are near copies.
FILL, NEAR, BUCKETS = 0.52, 0.1, 512


def read(folders: Sequence[str]) -> list[str]:
    """Return the texts of at most DOCUMENTS files in UTF-8, in random order with a fixed seed."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    random.Random(1).shuffle(files)
    texts: list[str] = []
    for file in files:
        if MIN_BYTES <= file.stat().st_size <= MAX_BYTES and len(texts) < DOCUMENTS:
            try:
                texts.append(file.read_text("utf-8"))
            except UnicodeDecodeError:
                continue
    return texts


def table_of(token_ids: Sequence[Any], shingle_counts: Sequence[int]) -> FingerprintTable:
    """Return a table of fingerprints."""
    counts = np.array(list(map(len, token_ids)), np.int64)
    sizes = np.array(shingle_counts, np.int64)
    return FingerprintTable(np.concatenate(token_ids), np.cumsum(counts) - counts, counts, sizes, BUCKETS)


def synthetic(count: int) -> tuple[FingerprintTable, list[tuple[int, int, float]]]:
    """Make random fingerprints. Each one in the last tenth overlaps one in the first tenth by 0.4 to 1.

    Returns:
        The table; and both documents and the overlap of each of these pairs.
    """
    rng = np.random.default_rng(3)
    copies = int(count * NEAR)
    shares = rng.uniform(0.4, 1, copies)
    parts, counts, done = [], [], 0
    originals: list[Any] = []
    for size in [*[10_000] * (count // 10_000), count % 10_000]:
        filled = rng.random((size, BUCKETS)) < FILL
        values = rng.integers(0, 1 << HASH_BITS, (size, BUCKETS), np.uint32)
        for row in range(max(0, count - copies - done), size):
            original = done + row - (count - copies)
            filled_before, values_before = originals[original // 10_000]
            kept = rng.random(BUCKETS) < shares[original]
            filled[row] = filled_before[original % 10_000]
            values[row] = np.where(kept, values_before[original % 10_000], values[row])
        if len(originals) * 10_000 < copies:
            originals.append((filled, values))
        parts.append((values | (np.arange(BUCKETS, dtype=np.uint32) << np.uint32(HASH_BITS)))[filled])
        counts.append(filled.sum(axis=1))
        done += size
    sizes = np.concatenate(counts).astype(np.int64)
    shingles = np.ceil(-BUCKETS * np.log1p(-sizes / (BUCKETS + 1))).astype(np.int64)
    table = FingerprintTable(np.concatenate(parts), np.cumsum(sizes) - sizes, sizes, shingles, BUCKETS)
    return table, [(number, count - copies + number, float(shares[number])) for number in range(copies)]
