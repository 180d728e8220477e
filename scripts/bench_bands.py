"""Is a query with a probability faster than the same one without? Among documents that share boilerplate.

    python scripts/bench_bands.py [URL] [--documents N] [--foot WORDS]

12,000 synthetic documents of 400 words end with the same 60 words, as pages or letters do; every tenth is a copy of
another one with changes. They are in a local store, and with URL in an index of that engine too, which is made here and
deleted at the end. Each source is asked about with and without a probability by turns, so that the ratio counts and not
the machine; hits are compared by their texts, as by default. `plain` is the share of the banded queries that were
sent without bands, `candidates` their number without and with a probability.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
import urllib.request
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from uuid import uuid4

from bench_opensearch_material import synthetic

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
    given = parser.parse_args()
    made = synthetic(given.documents, WORDS).documents
    foot = " ".join(made[-1].text.split()[: given.foot])
    documents = [replace(each, text=f"{each.text} {foot}") for each in made]
    with tempfile.TemporaryDirectory() as folder:
        measure("local store", str(Path(folder) / "store"), documents)
    if given.url:
        address = f"{given.url.rstrip('/')}/bench-bands-{uuid4()}"
        try:
            measure("engine", address, documents)
        finally:
            urllib.request.urlopen(urllib.request.Request(address, method="DELETE"))  # noqa: S310 - the caller's own


def measure(name: str, location: str, documents: list[Document]) -> None:
    """The table of one store."""
    search = SimilaritySearch(open_store(location, create=True))
    search.index(documents)
    usual = [each.id for each in documents[len(documents) // 5 :]]  # the first are nearly equal
    sources = usual[:: max(1, len(usual) // SOURCES)][:SOURCES]
    print(f"{name}: {len(documents):,} documents, {len(sources)} sources, median ms")
    print(f"{'overlap':<9}{'without':>9}{'with 80':>9}{'ratio':>7}{'plain':>7}{'candidates':>12}{'hits':>6}")
    for overlap in OVERLAPS:
        without, banded = [], []
        for turn in range(ROUNDS + 1):
            for id in sources:
                one, other = (ask(search, id, overlap, probability) for probability in (None, PROBABILITY))
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


def ask(search: SimilaritySearch, id: str, overlap: int, probability: Fraction | None) -> tuple[float, SearchResult]:
    """A query: milliseconds and the answer."""
    query = FingerprintQuery(id, Fraction(overlap, 100), probability)
    began = time.perf_counter()
    result = search.similar(query)
    return 1000 * (time.perf_counter() - began), result


if __name__ == "__main__":
    main()
