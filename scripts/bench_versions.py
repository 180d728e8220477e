"""Benchmarks versions and related documents in large collections.

    python scripts/bench_versions.py near [SENTENCES ...]
    python scripts/bench_versions.py store [DOCUMENTS [FOLDER]]
    python scripts/bench_versions.py all [DOCUMENTS ...]

`near` finds all pairs of simhashes within 7 bits. The simhashes are synthetic and have 64 bits. Half of them differ
from another one in at most 8 random bits. `find_near_pairs` is compared with brute force: numpy compares each simhash
with all that follow it, using the processor's instruction that counts bits. For more than 20,000 simhashes, the time of
a sample of rows is extrapolated. The output also states whether both find the same pairs.

`store` queries a local store. Its records are like those that `index --with versions,related` writes, but synthetic:
30 sentences, and 40 concepts in 10 paragraphs. Every tenth document is a version of the one before: a third of its
sentences is edited, and some are new. One sentence in ten is one of 50 frequent sentences. The frequencies of concepts
follow Zipf's law. The first 2,000 documents, or a fifth of all, are versions of one document, so a query for one of
them has very many candidates.

`all` finds all families and topics in such stores. It prints both elapsed time and processor time.
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
from simdoc_search.sketch.concepts import PARAGRAPH_END, ConceptSettings
from simdoc_search.sketch.hamming_search import find_near_pairs
from simdoc_search.sketch.sentences import SentenceSettings, encode_simhashes
from simdoc_search.sketch.simhash import SIMHASH_BITS, hamming_distances
from simdoc_search.sketch.thresholds import DEFAULT_MAX_DISTANCE as NEAR_BITS
from simdoc_search.stores.record import Record

COMPARED_WHOLE, SAMPLE = 20_000, 1_000
SENTENCES, COMMON, CONCEPTS, PARAGRAPHS, KNOWN = 30, 50, 40, 10, 200_000
NEAR, QUERIES = 2_000, 40

Values = NDArray[np.uint64]


def main() -> None:
    """Run the benchmark that the first argument names."""
    counts = [int(argument) for argument in sys.argv[2:] if argument.isdigit()]
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
    """Print a row for each number of sentences."""
    print(f"{'sentences':>10}{'pairs':>10}{'s':>9}{'brute force':>13}{'ratio':>8}  same")
    for count in counts:
        values = sentences_of(count)
        began = time.perf_counter()
        a, b = find_near_pairs(values, SIMHASH_BITS, NEAR_BITS)
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
    """Return the offsets of the simhashes after a row that are within NEAR_BITS of it, by brute force."""
    return np.flatnonzero(hamming_distances(values[row + 1 :], values[row]) <= NEAR_BITS)


def sentences_of(count: int) -> Values:
    """Make synthetic simhashes."""
    generator = np.random.default_rng(1)
    values = generator.integers(0, 2**SIMHASH_BITS, count, dtype=np.uint64)
    half = count // 2
    values[half:] = edited(values[generator.integers(0, half, count - half)], generator, 8)
    return values


def edited(values: Values, generator: np.random.Generator, times: int) -> Values:
    """Flip `times` random bits of each value, each with a probability of 1/2."""
    for _ in range(times):
        flips = np.uint64(1) << generator.integers(0, SIMHASH_BITS, values.shape, dtype=np.uint64)
        values = values ^ np.where(generator.random(values.shape) < 0.5, flips, np.uint64(0))
    return values


# --- a store ---


def stored(count: int, folder: Path) -> None:
    """Fill a store, and query it."""
    store = open_store(str(folder), Settings(sentences=SentenceSettings(), concepts=ConceptSettings()), create=True)
    began = time.perf_counter()
    with store.writer() as writer:
        writer.put(records(count))
    spent = time.perf_counter() - began
    size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    print(f"{count:,} documents written in {spent:.0f} s, {size / count:,.0f} bytes each")
    search = SimilaritySearch(store)
    ordinary = [f"d{number}" for number in range(count - 10, max(count // 5, count - 10 * QUERIES - 10), -10)]
    print(f"{'':<20}{'p50 ms':>9}{'p95 ms':>9}{'hits':>7}{'candidates':>12}{'compared':>10}")
    for name, ids in (("ordinary", ordinary), ("flooded", [f"d{number}" for number in range(QUERIES)])):
        for kind, query in (("versions", search.versions), ("related", search.related)):
            times, results = [], []
            for id in ids:
                began = time.perf_counter()
                results.append(query(id))
                times.append(1000 * (time.perf_counter() - began))
            counts = ((len(result.hits), result.candidate_count, result.compared_count) for result in results)
            hits, candidates, compared = (statistics.mean(column) for column in zip(*counts, strict=True))
            print(f"{f'{kind}, {name}':<20}{statistics.median(times):>9.1f}{sorted(times)[len(times) * 19 // 20]:>9.1f}"
                  f"{hits:>7.1f}{candidates:>12,.0f}{compared:>10,.0f}", flush=True)  # fmt: skip
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB")


def grouped(counts: list[int]) -> None:
    """Find all families and topics in stores of several sizes."""
    print(f"{'documents':>10}  {'':<9}{'s':>8}{'cpu s':>8}{'compared':>12}{'pairs':>10}", end="")
    print(f"{'groups':>8}{'members':>9}{'MB':>8}")
    for count in counts:
        with tempfile.TemporaryDirectory() as folder:
            store = open_store(
                f"{folder}/store", Settings(sentences=SentenceSettings(), concepts=ConceptSettings()), create=True
            )
            with store.writer() as writer:
                writer.put(records(count))
            search = SimilaritySearch(store)
            for name, find in (("families", search.version_families), ("topics", search.topics)):
                began = time.perf_counter(), time.process_time()
                found = find()
                spent = time.perf_counter() - began[0], time.process_time() - began[1]
                groups = sum(1 for _ in found.groups())
                memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
                pairs = f"{found.compared_count:>12,}{found.pair_count:>10,}"
                numbers = f"{pairs}{groups:>8,}{found.member_count:>9,}{memory:>8,}"
                print(f"{count:>10,}  {name:<9}{spent[0]:>8.1f}{spent[1]:>8.1f}{numbers}", flush=True)
            store.close()


def records(count: int) -> Iterator[Record]:
    """Yield synthetic documents."""
    generator = np.random.default_rng(2)
    common = generator.integers(0, 2**SIMHASH_BITS, COMMON, dtype=np.uint64)
    share = 1 / np.arange(1, KNOWN + 1)
    cumulative = np.cumsum(share / share.sum())

    def fresh() -> tuple[Values, NDArray[np.uint32]]:
        sentences = generator.integers(0, 2**SIMHASH_BITS, SENTENCES, dtype=np.uint64)
        sentences[:: SENTENCES // 3] = common[generator.integers(0, COMMON, 3)]
        concepts = (1 + np.searchsorted(cumulative, generator.random(CONCEPTS))).astype(np.uint32)
        ends = np.full((PARAGRAPHS, 1), PARAGRAPH_END, np.uint32)
        return sentences, np.hstack((concepts.reshape(PARAGRAPHS, -1), ends)).reshape(-1)

    base, last = fresh(), fresh()
    for number in range(count):
        is_near = number < min(NEAR, count // 5)
        if is_near or number % 10 == 0:
            sentences, concepts = base if is_near else last
            is_edited = generator.random(len(sentences)) < 1 / 3
            sentences = np.where(is_edited, edited(sentences, generator, 6), sentences)
            sentences = np.append(sentences, generator.integers(0, 2**SIMHASH_BITS, 3, dtype=np.uint64))
        else:
            sentences, concepts = fresh()
        last = sentences, concepts
        token_ids = np.array([number], np.uint32)
        yield Record(f"d{number}", token_ids, 1, "", sentences=encode_simhashes(sentences), concepts=concepts)


if __name__ == "__main__":
    main()
