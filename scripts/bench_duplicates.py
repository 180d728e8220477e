"""Benchmarks the search for duplicates in a whole collection against datasketch, rensa and the method of text-dedup.

    pip install '.[bench,cli]'
    python scripts/bench_duplicates.py pairs FOLDER...        all pairs >= 50 %: time, and recall against exact pairs
    python scripts/bench_duplicates.py texts FOLDER...        from texts to groups: documents per second and core
    python scripts/bench_duplicates.py growth [COUNT...]      synthetic fingerprints: time, memory, candidate pairs
    python scripts/bench_duplicates.py stars                  10,000 documents: a chain, a template, boilerplate
    python scripts/bench_duplicates.py fold                   folding a page of 100 hits: milliseconds
    python scripts/bench_duplicates.py engine URL FOLDER...   duplicates in an index of an engine

Seconds are processor time. Each library uses bands that find a pair with the minimum overlap with a probability of
99 %, and as many rows as its permutations allow. At most 12,000 documents in the folders are used, in random order with
a fixed seed. `pairs` leaves out documents with equal words.
"""

from __future__ import annotations

import os

os.environ.update(RAYON_NUM_THREADS="1", OMP_NUM_THREADS="1")

import random
import statistics
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from bench_duplicates_material import DOCUMENTS, read, synthetic, table_of
from bench_duplicates_peers import (
    OVERLAP,
    RECALL,
    Pairs,
    bands_of_permutations,
    connected,
    shingles,
    timed,
    with_datasketch,
    with_rensa,
)

from simdoc_search import Analysis, Document, SimilaritySearch, fingerprints, open_store
from simdoc_search.attach import fingerprint_fields
from simdoc_search.duplicates import duplicates_among, fold_near_duplicates
from simdoc_search.duplicates.measures import Measure
from simdoc_search.duplicates.pairs import join
from simdoc_search.duplicates.verification import shingle_hashes
from simdoc_search.passages.exact_overlap import jaccard, shingle_set
from simdoc_search.sketch.settings import Settings

GROWTH = (12_000, 100_000, 1_000_000)


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
        "ours", seconds, set(zip(found.first.tolist(), found.second.tolist(), strict=True)), truth, found.compared
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


# --- texts to groups ---


def texts(folders: Sequence[str]) -> None:
    """Group texts that overlap by 80 %. The texts are pieces of 2 kB; every tenth piece has an edited copy."""
    rng = random.Random(2)
    pieces = [text[at : at + 2000] for text in read(folders) for at in range(0, len(text) - 1999, 2000)]
    pieces = rng.sample(pieces, min(len(pieces), DOCUMENTS))
    pieces += [f"{piece[:1000]} changed {piece[1000:]}" for piece in rng.sample(pieces, len(pieces) // 10)]
    rng.shuffle(pieces)
    print(f"{len(pieces)} texts of 2 kB")
    print(f"{'':<12}{'documents/s':>12}{'groups':>9}{'wrong':>8}")
    methods: dict[str, Callable[[], list[list[int]]]] = {
        "ours": lambda: groups_of_ours(pieces, verify=True),
        "ours, est.": lambda: groups_of_ours(pieces, verify=False),
        "rensa": lambda: connected(with_rensa([shingles(piece) for piece in pieces], Fraction(4, 5))[0], len(pieces)),
        "text-dedup": lambda: connected(bands_of_permutations(pieces, Fraction(4, 5)), len(pieces)),
    }
    for name, method in methods.items():
        groups, seconds = timed(method)
        sets = {number: shingle_set(pieces[number]) for group in groups for number in group}
        wrong = sum(jaccard(sets[group[0]], sets[other]) < 0.8 for group in groups for other in group[1:])
        print(f"{name:<12}{len(pieces) / seconds:>12.0f}{len(groups):>9}{wrong:>8}")


def groups_of_ours(pieces: Sequence[str], *, verify: bool) -> list[list[int]]:
    """Return the groups that simdoc-search finds. The kept document comes first."""
    documents = (Document(str(number), piece) for number, piece in enumerate(pieces))
    found = duplicates_among(documents, verify=verify)
    return [[int(group.kept.id), *(int(duplicate.id) for duplicate in group.duplicates)] for group in found.groups()]


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


# --- stars ---


def stars(_: Sequence[str]) -> None:
    """Group collections of 10,000 documents that need many comparisons, or easily give wrong groups."""
    rng = random.Random(4)
    words = [f"w{rng.randrange(50_000)}" for _ in range(10_000 * 12)]
    footer = " ".join(words[-120:])
    collections = {
        "chain": [" ".join(words[number * 10 : number * 10 + 100]) for number in range(10_000)],
        "template": [f"{' '.join(words[:200])} invoice {number}" for number in range(10_000)],
        "boilerplate": [f"{' '.join(rng.choices(words, k=120))} {footer}" for _ in range(10_000)],
    }
    print(f"{'':<12}{'groups':>8}{'members':>9}{'wrong':>7}{'seconds':>9}  overflow")
    for name, pieces in collections.items():
        documents = [Document(f"{number:05}", piece) for number, piece in enumerate(pieces)]
        found, seconds = timed(partial(duplicates_among, documents, keep="first"))
        wrong = sum(
            jaccard(shingle_set(pieces[int(group.kept.id)]), shingle_set(pieces[int(duplicate.id)])) < 0.8
            for group in found.groups() for duplicate in group.duplicates
        )  # fmt: skip
        print(
            f"{name:<12}{found.group_count:>8}{found.duplicate_count:>9}{wrong:>7}{seconds:>9.1f}  {found.large_sets}"
        )


# --- a page of hits ---


def fold(_: Sequence[str]) -> None:
    """Fold 100 hits of 400 or 4,000 words, which fill some or all of the 512 buckets. Some hits are near-duplicates."""
    rng = random.Random(5)
    words = [f"w{number}" for number in range(5_000)]
    print(f"{'':<12}{'tokens':>8}{'shown':>7}{'best ms':>9}{'median ms':>11}")
    for word_count in (400, 4_000):
        for name, different in (("none near", 100), ("half near", 50), ("all near", 1)):
            pieces = [" ".join(rng.choices(words, k=word_count)) for _ in range(different)]
            fields = fingerprint_fields([pieces[number % different] for number in range(100)], Settings())
            hits = [{"_id": str(number), "_source": {"simdoc": field}} for number, field in enumerate(fields)]
            took = []
            for _run in range(300):
                began = time.perf_counter()
                shown = fold_near_duplicates(hits)
                took.append(time.perf_counter() - began)
            tokens = sum(field["buckets"] for field in fields if field) / len(fields)
            print(
                f"{name:<12}{tokens:>8.0f}{len(shown):>7}{1e3 * min(took):>9.2f}{1e3 * statistics.median(took):>11.2f}"
            )


# --- engine ---


def engine(arguments: Sequence[str]) -> None:
    """Find duplicates in a store in memory, and in a new index of an engine. The index is removed afterwards."""
    url = f"{arguments[0]}/dups-bench"
    pieces = read(arguments[1:])
    stores: Iterator[tuple[str, Any]] = iter(
        [("memory", open_store(":memory:")), ("engine", open_store(url, create=True))]
    )
    try:
        for name, store in stores:
            search = SimilaritySearch(store)
            search.index(Document(f"{number:05}", piece) for number, piece in enumerate(pieces))
            ended: dict[str, float] = {}
            began = time.perf_counter()
            found = search.duplicates(
                progress=lambda stage, _: ended.update({stage: time.perf_counter() - began}),  # noqa: B023 - it is called within this round
            )
            ends = ", ".join(f"{stage} until {seconds:.1f} s" for stage, seconds in ended.items())
            print(f"{name:<8}{found.document_count} documents, {found.group_count} groups: {ends}")
    finally:
        urllib.request.urlopen(urllib.request.Request(url, method="DELETE")).close()  # noqa: S310 - the caller's own


def main() -> None:
    """Run the benchmark that the first argument names."""
    parts: dict[str, Callable[[Sequence[str]], None]] = {
        "pairs": pairs, "texts": texts, "growth": growth, "stars": stars, "fold": fold, "engine": engine,
        "one_size": lambda arguments: one_size(int(arguments[0]), arguments[1]),
    }  # fmt: skip
    parts[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
