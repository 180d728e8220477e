"""Versions and relations at size: near sentences beside brute force, and queries to a local store.

    python scripts/bench_versions.py near [SENTENCES ...]
    python scripts/bench_versions.py store [DOCUMENTS [FOLDER]]
    python scripts/bench_versions.py all [DOCUMENTS ...]

`near`: synthetic simhashes of 64 bits, half of them within 8 random bits of another. All pairs within 7 bits, by
`near_pairs` and by comparing each with all that follow (numpy, with the processor's instruction that counts bits; of
more than 20,000 a sample of the rows, scaled up), and that the pairs are the same.

`store`: records as `index --with versions,relations` writes them, their tokens synthetic: 30 sentences and 40 concepts
in 10 paragraphs. Every tenth document is a version of the one before (a third of its sentences edited, some new), one
sentence in ten is one of 50 that stand everywhere, concepts are as frequent as words of a language (Zipf). The first
2,000, or a fifth, are versions of one document: a query for one of them is flooded.

`all`: such stores, of which all families and topics are found; seconds by the clock, and of the processor.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from simdoc_search import Settings, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import PARAGRAPH_END, Concepts
from simdoc_search.sketch.limits import BITS as NEAR_BITS
from simdoc_search.sketch.near_bits import near_pairs
from simdoc_search.sketch.sentences import Sentences, codes_of_sentences
from simdoc_search.sketch.simhash import BITS, distances
from simdoc_search.stores.record import Record

COMPARED_WHOLE, SAMPLE = 20_000, 1_000
SENTENCES, COMMON, CONCEPTS, PARAGRAPHS, KNOWN = 30, 50, 40, 10, 200_000
NEAR, QUERIES = 2_000, 40

Values = NDArray[np.uint64]


def main() -> None:
    """Print one of the tables."""
    counts = [int(each) for each in sys.argv[2:] if each.isdigit()]
    if sys.argv[1] == "near":
        near(counts or [1_000, 10_000, 100_000, 1_000_000])
    elif sys.argv[1] == "all":
        grouped(counts or [1_000, 10_000, 100_000])
    else:
        count = int(sys.argv[2]) if len(sys.argv) > 2 else 10_000
        with tempfile.TemporaryDirectory() as folder:
            stored(count, Path(sys.argv[3] if len(sys.argv) > 3 else folder) / "store")


# --- near sentences ---


def near(counts: list[int]) -> None:
    """One row for each number of sentences."""
    print(f"{'sentences':>10}{'pairs':>10}{'s':>9}{'brute force':>13}{'ratio':>8}  same")
    for count in counts:
        values = sentences_of(count)
        began = time.perf_counter()
        a, b = near_pairs(values, BITS, NEAR_BITS)
        spent = time.perf_counter() - began
        rows = np.arange(count)
        if count > COMPARED_WHOLE:
            rows = np.random.default_rng(1).choice(count, SAMPLE, replace=False)
        began = time.perf_counter()
        expected = [(row, row + 1 + after) for row in rows.tolist() for after in near_to(values, row).tolist()]
        brute = (time.perf_counter() - began) * count / len(rows)
        chosen = np.isin(a, rows)
        same = sorted(expected) == list(zip(a[chosen].tolist(), b[chosen].tolist(), strict=True))
        print(f"{count:>10,}{len(a):>10,}{spent:>9.3f}{brute:>13.2f}{brute / spent:>8.1f}  {same}", flush=True)


def near_to(values: Values, row: int) -> NDArray[np.int64]:
    """Which of the following ones are near, by comparing with all."""
    return np.flatnonzero(distances(values[row + 1 :], values[row]) <= NEAR_BITS)


def sentences_of(count: int) -> Values:
    """The synthetic simhashes."""
    generator = np.random.default_rng(1)
    values = generator.integers(0, 2**BITS, count, dtype=np.uint64)
    half = count // 2
    values[half:] = edited(values[generator.integers(0, half, count - half)], generator, 8)
    return values


def edited(values: Values, generator: np.random.Generator, times: int) -> Values:
    """Each bit of some flipped with the chance of a half."""
    for _ in range(times):
        flips = np.uint64(1) << generator.integers(0, BITS, values.shape, dtype=np.uint64)
        values = values ^ np.where(generator.random(values.shape) < 0.5, flips, np.uint64(0))
    return values


# --- a store ---


def stored(count: int, folder: Path) -> None:
    """Fill a store and ask it."""
    store = open_store(str(folder), Settings(sentences=Sentences(), concepts=Concepts()), create=True)
    began = time.perf_counter()
    with store.writer() as writer:
        writer.put(records(count))
    spent = time.perf_counter() - began
    size = sum(each.stat().st_size for each in folder.rglob("*") if each.is_file())
    print(f"{count:,} documents written in {spent:.0f} s, {size / count:,.0f} bytes each")
    search = SimilaritySearch(store)
    ordinary = [f"d{number}" for number in range(count - 10, max(count // 5, count - 10 * QUERIES - 10), -10)]
    print(f"{'':<20}{'p50 ms':>9}{'p95 ms':>9}{'hits':>7}{'candidates':>12}{'compared':>10}")
    for name, ids in (("ordinary", ordinary), ("flooded", [f"d{each}" for each in range(QUERIES)])):
        for kind, ask in (("versions", search.versions), ("related", search.related)):
            times, answers = [], []
            for id in ids:
                began = time.perf_counter()
                answers.append(ask(id))
                times.append(1000 * (time.perf_counter() - began))
            hits, found, compared = (
                statistics.mean(column)
                for column in zip(*((len(each.hits), each.candidates, each.compared) for each in answers), strict=True)
            )
            print(f"{f'{kind}, {name}':<20}{statistics.median(times):>9.1f}{sorted(times)[len(times) * 19 // 20]:>9.1f}"
                  f"{hits:>7.1f}{found:>12,.0f}{compared:>10,.0f}", flush=True)  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB")


def grouped(counts: list[int]) -> None:
    """Find the families and the topics of stores of some sizes."""
    print(f"{'documents':>10}  {'':<9}{'s':>8}{'cpu s':>8}{'compared':>12}{'pairs':>10}", end="")
    print(f"{'groups':>8}{'members':>9}{'MB':>8}")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(f"{folder}/store", Settings(sentences=Sentences(), concepts=Concepts()), create=True)
            with store.writer() as writer:
                writer.put(records(count))
            search = SimilaritySearch(store)
            for name, find in (("families", search.version_families), ("topics", search.topics)):
                began = time.perf_counter(), time.process_time()
                found = find()
                spent = time.perf_counter() - began[0], time.process_time() - began[1]
                groups = sum(1 for _ in found.groups())
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                pairs = f"{found.compared:>12,}{found.edge_count:>10,}"
                numbers = f"{pairs}{groups:>8,}{found.member_count:>9,}{memory:>8,}"
                print(f"{count:>10,}  {name:<9}{spent[0]:>8.1f}{spent[1]:>8.1f}{numbers}", flush=True)
            store.close()


def records(count: int) -> Iterator[Record]:
    """The synthetic documents."""
    generator = np.random.default_rng(2)
    common = generator.integers(0, 2**BITS, COMMON, dtype=np.uint64)
    share = 1 / np.arange(1, KNOWN + 1)
    cumulative = np.cumsum(share / share.sum())

    def fresh() -> tuple[Values, NDArray[np.uint32]]:
        sentences = generator.integers(0, 2**BITS, SENTENCES, dtype=np.uint64)
        sentences[:: SENTENCES // 3] = common[generator.integers(0, COMMON, 3)]
        concepts = (1 + np.searchsorted(cumulative, generator.random(CONCEPTS))).astype(np.uint32)
        ends = np.full((PARAGRAPHS, 1), PARAGRAPH_END, np.uint32)
        return sentences, np.hstack((concepts.reshape(PARAGRAPHS, -1), ends)).reshape(-1)

    base, last = fresh(), fresh()
    for number in range(count):
        is_near = number < min(NEAR, count // 5)
        if is_near or number % 10 == 0:
            sentences, concepts = base if is_near else last
            some = generator.random(len(sentences)) < 1 / 3
            sentences = np.where(some, edited(sentences, generator, 6), sentences)
            sentences = np.append(sentences, generator.integers(0, 2**BITS, 3, dtype=np.uint64))
        else:
            sentences, concepts = fresh()
        last = sentences, concepts
        codes = np.array([number], np.uint32)
        yield Record(f"d{number}", codes, 1, "", sentences=codes_of_sentences(sentences), concepts=concepts)


if __name__ == "__main__":
    main()
