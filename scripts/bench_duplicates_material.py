"""Texts of files, and fingerprints of random tokens, for bench_duplicates.py."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simdoc_search.duplicates.fingerprint_table import FingerprintTable

DOCUMENTS = 12_000
LEAST, MOST = 1_000, 60_000  # bytes of a file
FILL, NEAR, BITS, BUCKETS = 0.52, 0.1, 15, 512  # of the synthetic fingerprints: 266 tokens, every tenth nearly copied


def read(folders: Sequence[str]) -> list[str]:
    """The texts of files that can be read as UTF-8."""
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
    """Fingerprints as the join takes them."""
    counts = np.array([len(each) for each in codes], np.int64)
    sizes = np.array(shingle_counts, np.int64)
    return FingerprintTable(np.concatenate(codes), np.cumsum(counts) - counts, counts, sizes, BITS, BUCKETS)


def synthetic(count: int) -> tuple[FingerprintTable, list[tuple[int, int, float]]]:
    """Random fingerprints; each of the last tenth is like one of the first, by a share from 0.4 to 1."""
    rng = np.random.default_rng(3)
    copies = int(count * NEAR)
    shares = rng.uniform(0.4, 1, copies)
    parts, counts, done = [], [], 0
    firsts: list[Any] = []
    for size in [*[10_000] * (count // 10_000), count % 10_000]:
        filled = rng.random((size, BUCKETS)) < FILL
        values = rng.integers(0, 1 << BITS, (size, BUCKETS), np.uint32)
        for row_ in range(max(0, count - copies - done), size):
            which = done + row_ - (count - copies)
            own_filled, own_values = firsts[which // 10_000]
            kept = rng.random(BUCKETS) < shares[which]
            filled[row_] = own_filled[which % 10_000]
            values[row_] = np.where(kept, own_values[which % 10_000], values[row_])
        if len(firsts) * 10_000 < copies:
            firsts.append((filled, values))
        parts.append((values | (np.arange(BUCKETS, dtype=np.uint32) << np.uint32(BITS)))[filled])
        counts.append(filled.sum(axis=1))
        done += size
    sizes = np.concatenate(counts).astype(np.int64)
    likely = np.ceil(-BUCKETS * np.log1p(-sizes / (BUCKETS + 1))).astype(np.int64)
    table = FingerprintTable(np.concatenate(parts), np.cumsum(sizes) - sizes, sizes, likely, BITS, BUCKETS)
    return table, [(each, count - copies + each, float(shares[each])) for each in range(copies)]
