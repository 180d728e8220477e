"""Documents a second of an application's loader: bare, with fingerprints made by it, or made by the engine.

    python scripts/bench_pipeline.py URL [--documents N] [--words N] [--rounds N] [--shards N]

URL is that of an engine that runs, like http://127.0.0.1:9201, with as many nodes as are to be measured. There are N
(3000) documents of bench_figures.py, of N (1050) words. The ways take turns, so that what else the machine does burdens
all alike; the median of the rounds counts. All indices are made here, have N (1) shards and no replica, and are deleted
at the end, and so is the pipeline.

Then the same index filled afterwards: by `_update_by_query` with the pipeline, sliced, and by our own backfill. And
what the engine itself says of the time in the pipeline.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

from bench_figures import documents
from bench_indices import new_index, send

from simdoc_search.attach.actions import fingerprint_actions
from simdoc_search.attach.backfill import Backfill, BackfillOptions
from simdoc_search.attach.pipeline import build_pipeline_body
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.schema import component_template

ALONE = 500
WAYS = ("bare", "by the loader", "by the engine")
PIPELINE = f"bench-{uuid4().hex[:12]}"


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description="Fingerprints by the engine's pipeline: throughput.")
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=3000)
    parser.add_argument("--words", type=int, default=1050, help="of a document")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--shards", type=int, default=1)
    given = parser.parse_args()
    texts = [each.text for each in documents(given.documents, given.words)]
    engine, _ = connect(given.url, expects_index=False)
    nodes = engine.call("GET", ["_nodes"])["_nodes"]["total"]
    size = sum(len(each.encode()) for each in texts)
    print(f"{len(texts):,} documents of {size / len(texts):,.0f} bytes; {nodes} nodes, {given.shards} shards")
    engine.call("PUT", ["_ingest", "pipeline", PIPELINE], build_pipeline_body())
    try:
        load(engine, WAYS[-1], texts, given.shards)  # compiled by then
        loading(engine, texts, given.rounds, given.shards)
        filling(engine, texts, given.shards)
        one_by_one(engine, texts[:ALONE], given.shards)
    finally:
        engine.call("DELETE", ["_ingest", "pipeline", PIPELINE])


@contextmanager
def index(engine: Engine, way: str, shards: int) -> Iterator[str]:
    """An application's index with our field."""
    ours = component_template()["template"]["mappings"]["properties"]
    pipeline = {"index.final_pipeline": PIPELINE} if way == WAYS[-1] else {}
    with new_index(engine, {"body": {"type": "text"}, **ours}, number_of_shards=shards, **pipeline) as name:
        yield name


def load(engine: Engine, way: str, texts: list[str], shards: int) -> float:
    """Documents a second of one loader."""
    with index(engine, way, shards) as name:
        return len(texts) / send_texts(engine, name, way, texts)


def send_texts(engine: Engine, name: str, way: str, texts: list[str]) -> float:
    """Index all documents. Return the seconds."""
    actions: Iterator[dict[str, Any]] = ({"_id": str(n), "body": text} for n, text in enumerate(texts))
    if way == WAYS[1]:
        actions = fingerprint_actions(actions, "body")
    return send(engine, name, (({"index": {"_id": action.pop("_id")}}, action) for action in actions))


def loading(engine: Engine, texts: list[str], rounds: int, shards: int) -> None:
    """Print each way's documents a second."""
    rates: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            rates[way].append(load(engine, way, texts, shards))
    print(f"\n{'fingerprints made':<28}{'documents/s':>12}{'least':>8}{'most':>8}")
    for way, each in rates.items():
        print(f"  {way:<26}{statistics.median(each):>12,.0f}{min(each):>8,.0f}{max(each):>8,.0f}")
    shares = [ours / theirs for ours, theirs in zip(rates[WAYS[2]], rates[WAYS[1]], strict=True)]
    print(f"  {'engine to loader':<26}{statistics.median(shares):>12.2f}{min(shares):>8.2f}{max(shares):>8.2f}")


def filling(engine: Engine, texts: list[str], shards: int) -> None:
    """Print how long documents take that are there already."""
    print(f"\n{'an index filled afterwards':<28}{'documents/s':>12}")
    with index(engine, WAYS[0], shards) as name:
        send_texts(engine, name, WAYS[0], texts)
        began = time.perf_counter()
        done = update_by_query(engine, name, {"match_all": {}}, pipeline=PIPELINE)
        print(f"  {'_update_by_query':<26}{done.updated_count / (time.perf_counter() - began):>12,.0f}")
    with index(engine, WAYS[0], shards) as name:
        send_texts(engine, name, WAYS[0], texts)
        report = Backfill(engine, name, BackfillOptions("body")).run()
        print(f"  {'simdoc-search backfill':<26}{report.updated_count / report.seconds:>12,.0f}")


def one_by_one(engine: Engine, texts: list[str], shards: int) -> None:
    """Print the pipeline's share of a write; of a bulk an engine counts the time of all for each document."""
    before, began = in_pipeline(engine), time.perf_counter()
    with index(engine, WAYS[-1], shards) as name:
        for number, each in enumerate(texts):
            engine.call("PUT", [name, "_doc", str(number)], {"body": each})
    whole = 1000 * (time.perf_counter() - began)
    count, milliseconds = (a - b for a, b in zip(in_pipeline(engine), before, strict=True))
    print(f"\nwrites one by one: {whole / count:.2f} ms each, {milliseconds / count:.2f} ms of it in the pipeline")


def in_pipeline(engine: Engine) -> tuple[int, int]:
    """How many documents all nodes put through it, and their milliseconds."""
    nodes = engine.call("GET", ["_nodes", "stats", "ingest"])["nodes"].values()
    stats = [each["ingest"]["pipelines"][PIPELINE] for each in nodes]
    return sum(each["count"] for each in stats), sum(each["time_in_millis"] for each in stats)


if __name__ == "__main__":
    main()
