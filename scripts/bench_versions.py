"""Measures how long it takes to find all families and topics of a collection.

    python scripts/bench_versions.py [DOCUMENTS ...]

The documents are synthetic, like those that `index --with versions,related` writes: 30 sentences, and 40 concepts in 10
paragraphs. Every tenth is a version of the one before: a third of its sentences is edited, and some are new. One
sentence in ten is one of 50 frequent sentences. The frequencies of concepts follow Zipf's law. The first 2,000
documents, or a fifth of all, are versions of one document. The script prints elapsed time and processor time.
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simdoc_search import Settings, SimilaritySearch, open_store
from simdoc_search.sketch.concepts import PARAGRAPH_END, ConceptSettings
from simdoc_search.sketch.sentences import SentenceSettings, encode_simhashes
from simdoc_search.sketch.simhash import SIMHASH_BITS
from simdoc_search.stores.record import Record

SENTENCES, COMMON, CONCEPTS, PARAGRAPHS, KNOWN = 30, 50, 40, 10, 200_000
NEAR = 2_000

Values = NDArray[np.uint64]


def main() -> None:
    """Find all families and topics in stores of several sizes."""
    counts = list(map(int, sys.argv[1:])) or [1_000, 10_000, 100_000]
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


def edited(values: Values, generator: np.random.Generator, times: int) -> Values:
    """Flip `times` random bits of each value, each with a probability of 1/2."""
    for _ in range(times):
        flips = np.uint64(1) << generator.integers(0, SIMHASH_BITS, values.shape, dtype=np.uint64)
        values = values ^ np.where(generator.random(values.shape) < 0.5, flips, np.uint64(0))
    return values


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
