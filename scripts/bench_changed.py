"""Fingerprints of changed texts: what it costs to find them by all texts, and by what was written since.

    python scripts/bench_changed.py URL [--documents N] [--words N] [--changed N] [--shards N]

URL is that of an engine that runs, like http://127.0.0.1:9201. The index is made here, without replicas, and is deleted
at the end. It gets N (100000) documents of bench_figures.py and a backfill. Then updates in bulks change N (500) texts,
and as many other fields, each time before one of the ways is measured, and it is seen whether that found all.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable

from bench_figures import Writer, documents
from bench_indices import new_index, send

from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.attach.inspection import Inspection, inspect_indices
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine

PROPERTIES = {"body": {"type": "text"}, "views": {"type": "integer"}}


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description="What finds changed texts, and what it costs.")
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=100_000)
    parser.add_argument("--words", type=int, default=450)
    parser.add_argument("--changed", type=int, default=500)
    parser.add_argument("--shards", type=int, default=1)
    given = parser.parse_args()
    engine, _ = connect(given.url, expects_index=False)
    with new_index(engine, PROPERTIES, number_of_shards=given.shards) as name:
        measure(engine, name, given)


def measure(engine: Engine, name: str, given: argparse.Namespace) -> None:
    """Measure one way after the other."""
    chance, writer = random.Random(1), Writer(1)
    made = documents(given.documents, given.words)
    send(engine, name, (({"index": {"_id": each.id}}, {"body": each.text, "views": 0}) for each in made))
    print(f"{given.documents:,} documents of {given.words:,} words, {given.shards} shards")
    timed("backfill", lambda: run(engine, name))
    timed("backfill again, nothing to do", lambda: run(engine, name))

    def change() -> None:
        numbers = chance.sample(range(given.documents), 2 * given.changed)
        texts = [{"body": " ".join(writer.sentences(given.words))} for _ in range(given.changed)]
        changes = [*texts, *[{"views": 1}] * given.changed]
        pairs = zip(numbers, changes, strict=True)
        send(engine, name, (({"update": {"_id": f"d{number}"}}, {"doc": change}) for number, change in pairs))

    change()
    timed("status before texts were compared", lambda: told(inspect_indices(engine, name, sample_size=200)))
    timed("backfill --stale, the first one", lambda: run(engine, name, stale=True))
    timed("status, nothing was written since", lambda: told(inspect_indices(engine, name, sample_size=200)))
    change()
    timed("status", lambda: told(inspect_indices(engine, name, sample_size=200)))
    timed("status --sample 2000", lambda: told(inspect_indices(engine, name, sample_size=2000)))
    timed("backfill --stale", lambda: run(engine, name, stale=True))
    change()
    timed("backfill --stale --full", lambda: run(engine, name, stale=True, full=True))
    timed("backfill --stale, nothing was written since", lambda: run(engine, name, stale=True))


def run(engine: Engine, name: str, *, stale: bool = False, full: bool = False) -> str:
    """A backfill, and what it did."""
    report = Backfill(engine, name, BackfillOptions("body", stale=stale, full=full)).run()
    return f"{report.document_count:,} read, {report.updated_count:,} updated"


def told(inspection: Inspection) -> str:
    """The sample of `status`."""
    sample = inspection.sample
    low, high = sample.stale_share_interval
    compared = f"{sample.sampled_count:,} of {sample.unchecked_count:,} compared"
    return f"{compared}, {sample.stale_count:,} stale: {low:.2%} to {high:.2%} of all"


def timed(what: str, done: Callable[[], str]) -> None:
    """Print how long it took."""
    began = time.perf_counter()
    said = done()
    print(f"{time.perf_counter() - began:8.2f} s  {what}: {said}", flush=True)


if __name__ == "__main__":
    main()
