"""Measures the throughput of a backfill of real documents, and the bytes that it adds.

    python scripts/bench_backfill.py URL FOLDER... [--documents N] [--engine NAME]

URL is that of an engine that runs, like http://127.0.0.1:9201. The files below each FOLDER are the documents; there are
N (12000), repeated with some of their words exchanged. All indices are made here, have one shard and no replica, and
are deleted at the end.

Both are printed next to the estimates of `--dry-run`. The attack "killed backfills" of scripts/faults.py checks that a
backfill loses no writes of other processes.
"""

from __future__ import annotations

import argparse
import json
import random
import signal
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from simdoc_search.attach.backfill import Backfill, BackfillOptions, estimate_cost
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine

AT_ONCE = 500
EXCHANGED = 0.02  # of the words of a repeated document
SECONDS_TO_MERGE = 120  # engines keep old states for half a minute or so

Documents = dict[str, dict[str, Any]]


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description="Backfill: throughput, bytes.")
    parser.add_argument("url")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--engine", choices=["opensearch", "elasticsearch"])
    given = parser.parse_args()
    documents = made_of(given.folders, given.documents)
    engine, _ = connect(given.url, engine=given.engine, expects_index=False)
    length = statistics.mean(len(each["body"].encode()) for each in documents.values())
    print(f"{len(documents):,} documents of {length:,.0f} bytes of text")
    with index(engine) as name:
        measure(engine, name, documents)


def made_of(folders: list[Path], count: int) -> Documents:
    """So many documents from the files, repeated with some words exchanged."""
    files = [path for folder in folders for path in sorted(folder.rglob("*")) if path.is_file()]
    texts = [text for text in (path.read_text("utf-8", "replace") for path in files) if text.strip()]
    chance = random.Random(1)
    documents = {}
    for number in range(count):
        words = texts[number % len(texts)].split(" ")
        for _ in range(round(EXCHANGED * len(words)) if number >= len(texts) else 0):
            words[chance.randrange(len(words))] = f"exchanged{chance.randrange(10**6)}"
        documents[f"{number}"] = {"body": " ".join(words), "count": 0, "title": files[number % len(files)].name}
    return documents


@contextmanager
def index(engine: Engine) -> Iterator[str]:
    """An application's index, deleted whatever ends the block."""
    name = f"bench-{uuid4().hex[:12]}"
    fields = {"body": {"type": "text"}, "title": {"type": "keyword"}, "count": {"type": "long"}}
    settings = {"number_of_shards": 1, "number_of_replicas": 0, "store.stats_refresh_interval": "0s"}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    engine.call("PUT", [name], {"settings": {"index": settings}, "mappings": {"properties": fields}})
    try:
        yield name
    finally:
        engine.call("DELETE", [name], allowed_statuses=(404,))


def load(engine: Engine, name: str, documents: Documents) -> float:
    """Index all documents; seconds."""
    began, lines = time.perf_counter(), []
    for number, (id, source) in enumerate(documents.items(), 1):
        lines += [json.dumps({"index": {"_index": name, "_id": id}}), json.dumps(source)]
        if number % AT_ONCE == 0 or number == len(documents):
            answer = engine.call("POST", ["_bulk"], "".join(f"{line}\n" for line in lines).encode())
            if answer["errors"]:
                sys.exit("some documents were refused; give the engine a larger heap")
            lines.clear()
    engine.call("POST", [name, "_refresh"])
    return time.perf_counter() - began


def measure(engine: Engine, name: str, documents: Documents) -> None:
    """Print throughput and bytes."""
    count = len(documents)
    loading = load(engine, name, documents)
    before = merged_bytes(engine, name)
    judged = estimate_cost(engine, name, BackfillOptions("body"))
    report = Backfill(engine, name, BackfillOptions("body")).run()
    at_once = store(engine, name)["store"]["size_in_bytes"]
    after = merged_bytes(engine, name)
    again = Backfill(engine, name, BackfillOptions("body", stale=True)).run()
    print(f"\n{'':<44}{'documents/s':>12}{'seconds':>9}")
    for what, seconds in (
        ("loading", loading),
        ("backfill", report.seconds),
        ("--stale, nothing to mend", again.seconds),
    ):
        print(f"  {what:<42}{count / seconds:>12,.0f}{seconds:>9.1f}")
    print(f"  {'backfill, as --dry-run judged it':<42}{count / judged.seconds:>12,.0f}{judged.seconds:>9.1f}")
    print(f"\n{'bytes of a document':<44}")
    print(f"  {'before':<42}{before / count:>12,.0f}")
    print(f"  {'just after the backfill':<42}{at_once / count:>12,.0f}")
    print(f"  {'merged':<42}{after / count:>12,.0f}")
    print(f"  {'added, for':>18} {judged.tokens_per_document:>5,.0f} {'tokens':<17}{(after - before) / count:>12,.0f}")
    print(f"  {'added, as --dry-run judged it':<42}{judged.bytes_per_document:>12,.0f}")


def store(engine: Engine, name: str) -> Any:
    """The engine's statistics of an index."""
    return engine.call("GET", [name, "_stats", "store,docs,segments"])["_all"]["primaries"]


def merged_bytes(engine: Engine, name: str) -> int:
    """Bytes of an index once it is one segment without old states of documents."""
    for _ in range(SECONDS_TO_MERGE):
        engine.call("POST", [name, "_flush"], force=True)
        engine.call("POST", [name, "_forcemerge"], max_num_segments=1)
        engine.call("POST", [name, "_refresh"])
        found = store(engine, name)
        if found["segments"]["count"] == 1 and found["docs"]["deleted"] == 0:
            break
        time.sleep(1)
    else:
        print("  (old states are not merged away; the bytes are too many)", file=sys.stderr)
    return int(found["store"]["size_in_bytes"])


if __name__ == "__main__":
    main()
