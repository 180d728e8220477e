"""The local store at size: indexing from end to end, bytes, memory, and queries by plan.

    python scripts/bench_store.py [DOCUMENTS [WORDS]]

Synthetic documents of 700 words, or as many as are asked for, drawn from 20,000 words as in a language (Zipf). Every
tenth is a copy of the one before with up to 15 % of its words replaced; the first 2,000 are near-duplicates of one
text, and a query for one of them is flooded with candidates. `_20` and `_80` ask for all tokens: the OR that banded
plans are compared with.

`1000000 12` shows whether indexing stays as fast as it began: the rate of each 100,000 documents, and what a run
remembers of each. On a busy machine the seconds of this process tell.
"""

from __future__ import annotations

import random
import resource
import statistics
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from fractions import Fraction
from itertools import islice, pairwise
from pathlib import Path

import numpy as np

from simdoc_search import Document, SimilaritySearch, open_store
from simdoc_search.indexing.seen_ids import SeenIds
from simdoc_search.query.plans import BandPlan
from simdoc_search.query.syntax import FingerprintQuery

VOCABULARY, NEAR, QUERIES, WORKERS, PART = 20_000, 2_000, 40, 2, 100_000
WORDS = int(sys.argv[2]) if __name__ == "__main__" and len(sys.argv) > 2 else 700
PLANS = ((20, None), (80, None), (20, 80), (80, 80))


def documents(count: int) -> Iterator[Document]:
    """The synthetic documents, the same on every machine."""
    generator = np.random.default_rng(1)
    letters = random.Random(1)
    vocabulary = np.array(["".join(letters.choices("abcdefghijklmnopqrstuvwxyz", k=letters.randint(2, 10)))
                           for _ in range(VOCABULARY)])  # fmt: skip
    share = 1 / np.arange(1, VOCABULARY + 1)
    cumulative = np.cumsum(share / share.sum())

    def fresh(words: int) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
        return vocabulary[np.minimum(np.searchsorted(cumulative, generator.random(words)), VOCABULARY - 1)]

    base, last = fresh(WORDS), fresh(WORDS)
    for number in range(count):
        near = number < min(NEAR, count // 5)
        words = base.copy() if near else last.copy() if number % 10 == 0 else fresh(WORDS)
        if near or number % 10 == 0:
            changed = generator.random(WORDS) < generator.random() * (0.05 if near else 0.15)
            words[changed] = fresh(int(changed.sum()))
        last = words
        yield Document(f"d{number}", " ".join(words))


class Rates:
    """How fast each 100,000 documents are done; to be told of progress."""

    def __init__(self) -> None:
        self.done = 0
        self.times = [(time.perf_counter(), time.process_time())]

    def __call__(self, count: int) -> None:
        """So many more are done."""
        self.done += count
        if self.done >= PART * len(self.times):
            self.times.append((time.perf_counter(), time.process_time()))
            (before, used_before), (now, used) = self.times[-2:]
            print(f"{self.done:>11,}: {PART / (now - before):,.0f} docs/s, {used - used_before:.1f} s of this process",
                  flush=True)  # fmt: skip

    def print(self) -> None:
        """How far apart they are."""
        if len(self.times) > 2:
            for name, each in (("rates", 0), ("seconds", 1)):
                took = [end[each] - begin[each] for begin, end in pairwise(self.times)]
                middle = statistics.median(took)
                print(f"{name}: slowest {max(took) / middle - 1:+.0%}, last {took[-1] / middle - 1:+.0%} of the median")


def remembered(count: int) -> float:
    """Bytes that a run keeps of each of so many ids."""
    tracemalloc.start()
    seen = SeenIds()
    for number in range(count):
        seen.add(f"d{number}", 0, None)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / count


def main() -> None:
    """Print the table for one size."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    began = time.perf_counter()
    for _ in islice(documents(count), 2000):
        pass
    making = (time.perf_counter() - began) / min(count, 2000)
    with tempfile.TemporaryDirectory() as folder:
        search = SimilaritySearch(open_store(Path(folder) / "store", create=True))
        rates = Rates()
        report = search.index(documents(count), workers=WORKERS, progress=rates)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{count:,} documents of {WORDS} words: {report.seconds:.1f} s, {count / report.seconds:,.0f} docs/s with"
              f" {WORKERS} workers (making them took {making * count:.1f} s of it), peak {peak:,.0f} MB")  # fmt: skip
        rates.print()
        print(f"a run remembers {remembered(count):.0f} bytes of each id")
        print_bytes(Path(folder) / "store", search)
        print(
            f"{'source':<8}{'query':<9}{'planner':<9}{'clauses':>8}{'candidates':>12}{'hits':>6}{'p50 ms':>9}{'p95':>9}"
        )
        sources = {
            "usual": [f"d{number}" for number in range(count - 10 * QUERIES, count, 10)],
            "flooded": ["d7"] * QUERIES,
        }
        for kind, ids in sources.items():
            for overlap, probability in PLANS:
                for planner in ("enough", "all") if probability else ("-",):
                    print_query(search, kind, ids, (overlap, probability), planner)


def print_bytes(folder: Path, search: SimilaritySearch) -> None:
    """What a document costs: the index of its tokens, its text, the rest."""
    info = search.info()
    size = info.bytes or 0
    files: dict[str, int] = {}
    for file in (folder / "index").iterdir():
        files[file.suffix] = files.get(file.suffix, 0) + file.stat().st_size
    tokens, texts = files.get(".term", 0) + files.get(".idx", 0), info.text_bytes or 0
    # fmt: off
    print(f"bytes a document: {size / info.document_count:,.0f} = {tokens / info.document_count:,.0f} index of tokens"
          f" + {texts / info.document_count:,.0f} text + {(size - tokens - texts) / info.document_count:,.0f} rest")
    # fmt: on


def print_query(
    search: SimilaritySearch, kind: str, ids: list[str], asked: tuple[int, int | None], planner: str
) -> None:
    """One row: a query by many sources."""
    overlap, probability = Fraction(asked[0], 100), None if asked[1] is None else Fraction(asked[1], 100)
    times, candidates, hits, clauses = [], [], [], 0
    for id in ids:
        query = FingerprintQuery(id, overlap, probability)
        began = time.perf_counter()
        result = search.similar(query, planner="all" if planner == "all" else "enough")
        times.append(1000 * (time.perf_counter() - began))
        candidates.append(result.candidate_count)
        hits.append(len(result.hits))
        plan = result.plan
        clauses = plan.clause_count if isinstance(plan, BandPlan) else len(plan.tokens)
    name = f"_{asked[0]}" + (f"_{asked[1]}" if asked[1] else "")
    print(f"{kind:<8}{name:<9}{planner:<9}{clauses:>8}{statistics.mean(candidates):>12.1f}{statistics.mean(hits):>6.1f}"
          f"{statistics.median(times):>9.2f}{sorted(times)[int(0.95 * len(times))]:>9.2f}")  # fmt: skip


if __name__ == "__main__":
    main()
