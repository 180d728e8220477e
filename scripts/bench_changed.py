"""Fingerprints of changed texts: what it costs to find them by all texts, and by what was written since.

    python scripts/bench_changed.py URL [--documents N] [--words N] [--changed N] [--shards N]

URL is that of an engine that runs, like http://127.0.0.1:9201. The index is made here, without replicas, and is deleted
at the end. It gets N (100000) documents of random words and a backfill. Then updates in bulks change N (500) texts, and
as many other fields, each time before one of the ways is measured, and it is seen whether that found all.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any
from uuid import uuid4

from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.attach.inspection import Inspection, inspect_indices
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine

AT_ONCE = 1000
VOCABULARY = [
    f"{first}{middle}{last}" for first in "bdfgk" for middle in ("an", "el", "ir", "om", "us") for last in "aeiou"
]


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
    name, chance = f"bench-{uuid4()}", random.Random(1)
    settings = {"number_of_shards": given.shards, "number_of_replicas": 0}
    fields = {"body": {"type": "text"}, "views": {"type": "integer"}}
    engine.call("PUT", [name], {"settings": settings, "mappings": {"properties": fields}})
    try:
        measure(engine, name, given, chance)
    finally:
        engine.call("DELETE", [name])


def measure(engine: Engine, name: str, given: argparse.Namespace, chance: random.Random) -> None:
    """Measure one way after the other."""
    ids = [str(number) for number in range(given.documents)]
    written = ({"body": text(chance, given.words), "views": 0} for _ in ids)
    timed("write", lambda: send(engine, name, ({"index": {"_id": id}} for id in ids), written))
    print(f"  {len(ids):,} documents of {len(text(chance, given.words)):,} characters, {given.shards} shards")
    timed("backfill", lambda: run(engine, name))
    timed("backfill again, nothing to do", lambda: run(engine, name))

    def change() -> None:
        some = chance.sample(ids, 2 * given.changed)
        texts = ({"doc": {"body": text(chance, given.words)}} for _ in range(given.changed))
        views = ({"doc": {"views": 1}} for _ in range(given.changed))
        send(engine, name, ({"update": {"_id": id}} for id in some), (*texts, *views))

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


def text(chance: random.Random, words: int) -> str:
    """Some words."""
    return " ".join(chance.choices(VOCABULARY, k=words))


def send(engine: Engine, name: str, actions: Iterable[Any], documents: Iterable[Any]) -> str:
    """Write in bulks, as an application does, past all pipelines."""
    lines = (json.dumps(line) for pair in zip(actions, documents, strict=True) for line in pair)
    for some in batches(lines, 2 * AT_ONCE):
        sent = "".join(f"{line}\n" for line in some).encode()
        if engine.call("POST", [name, "_bulk"], sent)["errors"]:
            raise SystemExit("the engine refused documents")
    engine.refresh(name)
    return ""


def batches(lines: Iterator[str], size: int) -> Iterator[list[str]]:
    """So many at a time."""
    while some := list(islice(lines, size)):
        yield some


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
