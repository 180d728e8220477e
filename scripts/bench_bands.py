"""Is a query with a probability faster than the same one without? Among documents that share boilerplate.

    python scripts/bench_bands.py [URL] [--documents N] [--foot WORDS] [--estimate]

12,000 synthetic documents of 400 words end with the same 60 words, as pages or letters do. Every tenth is a version of
the one before. They are in a local store, and with URL in a new index of that engine, which is deleted at the end. Each
query runs with and without a probability by turns. Hits are compared by their texts, unless --estimate is given. Times
are processor time for the local store, and seconds for an engine. `plain` is the share of the banded queries that were
sent without bands, `candidates` their number without and with a probability.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

from bench_figures import documents as synthetic_documents

from simdoc_search import Document, SearchResult, SimilaritySearch, open_store
from simdoc_search.query.plans import ThresholdPlan
from simdoc_search.query.syntax import FingerprintQuery

OVERLAPS, PROBABILITY = (20, 50, 80), Fraction(4, 5)
WORDS, SOURCES, ROUNDS = 400, 30, 3


def main() -> None:
    """Print a table for each store."""
    parser = argparse.ArgumentParser(description="A probability against none, among documents that share boilerplate.")
    parser.add_argument("url", nargs="?")
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--foot", type=int, default=60, help="words that all documents end with")
    parser.add_argument("--estimate", action="store_true", help="estimate overlaps instead of comparing texts")
    given = parser.parse_args()
    made = list(synthetic_documents(given.documents, WORDS))
    foot = " ".join(made[-1].text.split()[: given.foot])
    documents = [replace(each, text=f"{each.text} {foot}") for each in made]
    with tempfile.TemporaryDirectory() as folder:
        measure("local store", str(Path(folder) / "store"), documents, time.process_time, verify=not given.estimate)
    if given.url:
        address = f"{given.url.rstrip('/')}/bench-bands-{uuid4()}"
        try:
            measure("engine", address, documents, time.perf_counter, verify=not given.estimate)
        finally:
            urllib.request.urlopen(urllib.request.Request(address, method="DELETE"))  # noqa: S310 - the caller's own


def measure(name: str, location: str, documents: list[Document], clock: Callable[[], float], *, verify: bool) -> None:
    """Print the table of one store."""
    search = SimilaritySearch(open_store(location, create=True))
    search.index(documents)
    sources = [f"d{number}" for number in range(9, len(documents), len(documents) // SOURCES // 10 * 10)][:SOURCES]
    print(f"{name}: {len(documents):,} documents, {len(sources)} sources, median ms")
    print(f"{'overlap':<9}{'without':>9}{'with 80':>9}{'ratio':>7}{'plain':>7}{'candidates':>12}{'hits':>6}")
    for overlap in OVERLAPS:
        without, banded = [], []
        for turn in range(ROUNDS + 1):
            for id in sources:
                one, other = (
                    ask(search, FingerprintQuery(id, Fraction(overlap, 100), probability), clock, verify)
                    for probability in (None, PROBABILITY)
                )
                if turn:  # the first one warms up
                    without.append(one)
                    banded.append(other)
        ratio = statistics.median(one[0] / other[0] for one, other in zip(without, banded, strict=True))
        plain = statistics.mean(isinstance(result.plan, ThresholdPlan) for _, result in banded)
        counts = [statistics.mean(each.candidate_count for _, each in rows) for rows in (without, banded)]
        candidates = "/".join(f"{count:.0f}" for count in counts)
        hits = statistics.mean(len(result.hits) for _, result in banded)
        times = [statistics.median(ms for ms, _ in rows) for rows in (without, banded)]
        print(f"{overlap:>5} %  {times[0]:>9.2f}{times[1]:>9.2f}{ratio:>7.2f}{plain:>7.0%}{candidates:>12}{hits:>6.1f}",
              flush=True)  # fmt: skip


def ask(
    search: SimilaritySearch, query: FingerprintQuery, clock: Callable[[], float], verify: bool
) -> tuple[float, SearchResult]:
    """Run a query. Return its milliseconds and its result."""
    began = clock()
    result = search.similar(query, verify=verify)
    return 1000 * (clock() - began), result


if __name__ == "__main__":
    main()
