"""Benchmarks the search for all pairs of near-duplicates against datasketch and rensa.

    pip install '.[bench,cli]'
    python scripts/bench_duplicates.py pairs FOLDER...        all pairs >= 50 %: time, and recall against exact pairs
    python scripts/bench_duplicates.py growth [COUNT...]      synthetic fingerprints: time, memory, candidate pairs

Seconds are processor time. Each library uses bands that find a pair with the minimum overlap with a probability of
99 %, and as many rows as its permutations allow. At most 12,000 documents in the folders are used, in random order with
a fixed seed. `pairs` leaves out documents with equal words.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")

import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from bench_duplicates_peers import (
    OVERLAP,
    RECALL,
    Pairs,
    shingles,
    timed,
    with_datasketch,
    with_rensa,
)

from simdoc_search import Analysis, fingerprints
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join
from simdoc_search.duplicates.verification import shingle_hashes
from simdoc_search.sketch.tokens import HASH_BITS

GROWTH = (12_000, 100_000, 1_000_000)
DOCUMENTS = 12_000
MIN_BYTES, MAX_BYTES = 1_000, 60_000  # size of a file
# A random fingerprint has 512 buckets, of which 52 % are filled (266 tokens). One tenth of them are near copies.
FILL, NEAR, BUCKETS = 0.52, 0.1, 512


# --- documents ---


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


# --- pairs ---


def pairs(folders: Sequence[str]) -> None:
    """Find all pairs with the minimum overlap. The time excludes making fingerprints."""
    read_texts = read(folders)
    sketched = zip(read_texts, fingerprints(read_texts, with_words_hash=True), strict=True)
    distinct = {sketch.words_hash: (text, sketch) for text, sketch in sketched if sketch.shingle_count}
    longest_first = sorted(distinct.values(), key=lambda text_and_sketch: -text_and_sketch[1].shingle_count)
    texts, sketches = [text for text, _ in longest_first], [sketch for _, sketch in longest_first]
    truth = exact_pairs(texts)
    print(f"{len(texts)} documents, {len(truth)} pairs of at least {float(OVERLAP):.0%}")
    print(f"{'':<12}{'seconds':>9}{'recall':>9}{'pairs':>13}{'compared':>12}")
    table = table_of([sketch.token_ids() for sketch in sketches], [sketch.shingle_count for sketch in sketches])
    measure = Measure("jaccard", OVERLAP)
    found, seconds = timed(lambda: join(table, np.arange(len(texts)), measure, recall=RECALL))
    print_row(
        "ours", seconds, set(zip(found.first.tolist(), found.second.tolist(), strict=True)), truth, found.compared_count
    )
    for name, method in (("rensa", with_rensa), ("datasketch", with_datasketch)):
        others, seconds = method([shingles(text) for text in texts])
        print_row(name, seconds, others, truth, len(others))


def print_row(name: str, seconds: float, found: Pairs, truth: Pairs, compared: int) -> None:
    """Print one line of the table."""
    print(f"{name:<12}{seconds:>9.2f}{len(found & truth) / max(1, len(truth)):>9.4f}{len(found):>13}{compared:>12}")


def exact_pairs(texts: Sequence[str]) -> Pairs:
    """Return all pairs with the minimum overlap, by comparing each document with every other."""
    sets = [shingle_hashes([text], Analysis(), (1, 2))[0] for text in texts]
    sizes = np.array(list(map(len, sets)))
    _, columns = np.unique(np.concatenate(sets), return_inverse=True)
    rows = np.repeat(np.arange(len(sets)), sizes)
    matrix = scipy.sparse.csr_matrix((np.ones(len(rows), np.int32), (rows, columns)))
    other = matrix.T.tocsr()
    found: Pairs = set()
    for start in range(0, len(sets), 200):
        shared = (matrix[start : start + 200] @ other).tocoo()
        a, b = shared.row + start, shared.col
        enough = (a < b) & (shared.data >= float(OVERLAP) * (sizes[a] + sizes[b] - shared.data))
        found.update(zip(a[enough].tolist(), b[enough].tolist(), strict=True))
    return found


# --- growth ---


def growth(counts: Sequence[str]) -> None:
    """Measure each size in its own process, to measure its memory."""
    print(f"{'documents':>10}{'overlap':>9}{'seconds':>9}{'compared':>12}{'pairs':>9}{'recall':>8}{'tokens MB':>11}"
          f"{'peak MB':>9}{'bytes/doc':>11}", flush=True)  # fmt: skip
    for count in counts or GROWTH:
        for overlap in ("1/2", "4/5"):
            subprocess.run([sys.executable, __file__, "one_size", str(count), overlap], check=True)


def one_size(count: int, overlap: str) -> None:
    """Print the row of one size."""
    table, near = synthetic(count)
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = memory("VmRSS")
    found, seconds = timed(
        lambda: join(table, np.arange(len(table.token_counts)), Measure("jaccard", Fraction(overlap)), recall=RECALL)
    )
    peak = memory("VmHWM")
    wanted = {(a, b) for a, b, share in near if share >= Fraction(overlap) + Fraction(2, 100)}
    paired = set(zip(found.first.tolist(), found.second.tolist(), strict=True))
    tokens = table.token_ids.nbytes / 1e6
    print(f"{count:>10}{float(Fraction(overlap)):>9.0%}{seconds:>9.2f}{found.compared_count:>12}{len(found.first):>9}"
          f"{len(wanted & paired) / max(1, len(wanted)):>8.4f}{tokens:>11.0f}{peak:>9.0f}"
          f"{(peak - before) * 1e6 / count:>11.0f}", flush=True)  # fmt: skip


def memory(name: str) -> float:
    """Return a memory figure of this process, such as VmRSS, in MB."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(f"{name}:"))


def main() -> None:
    """Run the benchmark that the first argument names."""
    parts: dict[str, Callable[[Sequence[str]], None]] = {
        "pairs": pairs, "growth": growth,
        "one_size": lambda arguments: one_size(int(arguments[0]), arguments[1]),
    }  # fmt: skip
    parts[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
