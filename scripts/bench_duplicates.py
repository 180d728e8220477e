"""Benchmarks the search for all pairs of near-duplicates against datasketch and rensa.

    pip install '.[bench,cli]'
    python scripts/bench_duplicates.py FOLDER...

All pairs of 50 % or more: time, and recall against exact pairs. Seconds are processor time. datasketch and rensa use
bands that find a pair with the minimum overlap with a probability of 99 %, and as many rows as their permutations
allow. simdoc-search always finds it with 99.9 %. At most 12,000 documents in the folders are used, in random order with
a fixed seed. Documents with equal words are left out.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")

import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from bench_duplicates_peers import OVERLAP, Pairs, shingles, timed, with_datasketch, with_rensa

from simdoc_search import Analysis, fingerprints
from simdoc_search.duplicates.fingerprint_table import FingerprintTable
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join
from simdoc_search.duplicates.verification import shingle_hashes

DOCUMENTS = 12_000
MIN_BYTES, MAX_BYTES = 1_000, 60_000  # size of a file
BUCKETS = 512


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
    found, seconds = timed(lambda: join(table, np.arange(len(texts)), measure))
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


if __name__ == "__main__":
    pairs(sys.argv[1:])
