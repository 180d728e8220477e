"""Texts of files, and random fingerprints, for bench_duplicates.py."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simdoc_search.duplicates.fingerprint_table import FingerprintTable

DOCUMENTS = 12_000
LEAST, MOST = 1_000, 60_000  # bytes of a file
FILL, NEAR, BITS, BUCKETS = 0.52, 0.1, 15, 512  # of the random fingerprints: 266 tokens, every tenth is a near copy


def read(folders: Sequence[str]) -> list[str]:
    """Return the texts of some files in UTF-8."""
    files = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    random.Random(1).shuffle(files)
    texts: list[str] = []
    for file in files:
        if LEAST <= file.stat().st_size <= MOST and len(texts) < DOCUMENTS:
            try:
                texts.append(file.read_text("utf-8"))
            except UnicodeDecodeError:
                continue
    return texts


def table_of(codes: Sequence[Any], shingle_counts: Sequence[int]) -> FingerprintTable:
    """Return the table of some fingerprints."""
    counts = np.array(list(map(len, codes)), np.int64)
    sizes = np.array(shingle_counts, np.int64)
    return FingerprintTable(np.concatenate(codes), np.cumsum(counts) - counts, counts, sizes, BITS, BUCKETS)


def synthetic(count: int) -> tuple[FingerprintTable, list[tuple[int, int, float]]]:
    """Return random fingerprints. The last tenth overlaps the first one, by 0.4 to 1.

    Returns:
        The table; and the two documents and the overlap of each of these pairs.
    """
    rng = np.random.default_rng(3)
    copies = int(count * NEAR)
    shares = rng.uniform(0.4, 1, copies)
    parts, counts, done = [], [], 0
    originals: list[Any] = []
    for size in [*[10_000] * (count // 10_000), count % 10_000]:
        filled = rng.random((size, BUCKETS)) < FILL
        values = rng.integers(0, 1 << BITS, (size, BUCKETS), np.uint32)
        for row in range(max(0, count - copies - done), size):
            original = done + row - (count - copies)
            filled_before, values_before = originals[original // 10_000]
            kept = rng.random(BUCKETS) < shares[original]
            filled[row] = filled_before[original % 10_000]
            values[row] = np.where(kept, values_before[original % 10_000], values[row])
        if len(originals) * 10_000 < copies:
            originals.append((filled, values))
        parts.append((values | (np.arange(BUCKETS, dtype=np.uint32) << np.uint32(BITS)))[filled])
        counts.append(filled.sum(axis=1))
        done += size
    sizes = np.concatenate(counts).astype(np.int64)
    shingles = np.ceil(-BUCKETS * np.log1p(-sizes / (BUCKETS + 1))).astype(np.int64)
    table = FingerprintTable(np.concatenate(parts), np.cumsum(sizes) - sizes, sizes, shingles, BITS, BUCKETS)
    return table, [(number, count - copies + number, float(shares[number])) for number in range(copies)]
