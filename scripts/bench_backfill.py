"""Measures the throughput of a backfill, and the bytes that it adds.

    python scripts/bench_backfill.py URL [--documents N] [--words N] [--engine NAME]

URL is that of an engine that runs, like http://127.0.0.1:9201. The index has N (12000) documents of bench_figures.py,
of N (700) words. It has one shard and no replica, and is deleted at the end.

Both are printed next to the estimates of `--dry-run`. The attack "killed backfills" of scripts/faults.py checks that a
backfill loses no writes of other processes.
"""

from __future__ import annotations

import argparse
import signal
import statistics
import sys
import time
from typing import Any

from bench_figures import documents
from bench_indices import new_index, send

from simdoc_search.attach.backfill import Backfill, BackfillOptions, estimate_cost
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine

SECONDS_TO_MERGE = 120  # engines keep old states for half a minute or so
PROPERTIES = {"body": {"type": "text"}, "title": {"type": "keyword"}, "count": {"type": "long"}}


def main() -> None:
    """Print what was measured."""
    parser = argparse.ArgumentParser(description="Backfill: throughput, bytes.")
    parser.add_argument("url")
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--words", type=int, default=700, help="of a document")
    parser.add_argument("--engine", choices=["opensearch", "elasticsearch"])
    given = parser.parse_args()
    sources = [{"body": each.text, "count": 0, "title": each.id} for each in documents(given.documents, given.words)]
    engine, _ = connect(given.url, engine=given.engine, expects_index=False)
    length = statistics.mean(len(str(each["body"]).encode()) for each in sources)
    print(f"{len(sources):,} documents of {length:,.0f} bytes of text")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with new_index(engine, PROPERTIES, **{"index.store.stats_refresh_interval": "0s"}) as name:
        measure(engine, name, sources)


def measure(engine: Engine, name: str, sources: list[dict[str, Any]]) -> None:
    """Print throughput and bytes."""
    count = len(sources)
    loading = send(engine, name, (({"index": {"_id": str(number)}}, source) for number, source in enumerate(sources)))
    before = merged_bytes(engine, name)
    judged = estimate_cost(engine, name, BackfillOptions("body"))
    report = Backfill(engine, name, BackfillOptions("body")).run()
    at_once = statistics_of(engine, name)["store"]["size_in_bytes"]
    after = merged_bytes(engine, name)
    again = Backfill(engine, name, BackfillOptions("body", stale=True)).run()
    print(f"\n{'':<44}{'documents/s':>12}{'seconds':>9}")
    for what, seconds in (
        ("loading", loading),
        ("backfill", report.seconds),
        ("--stale, nothing to mend", again.seconds),
        ("backfill, as --dry-run judged it", judged.seconds),
    ):
        print(f"  {what:<42}{count / seconds:>12,.0f}{seconds:>9.1f}")
    print(f"\n{'bytes of a document':<44}")
    print(f"  {'before':<42}{before / count:>12,.0f}")
    print(f"  {'just after the backfill':<42}{at_once / count:>12,.0f}")
    print(f"  {'merged':<42}{after / count:>12,.0f}")
    print(f"  {'added, for':>18} {judged.tokens_per_document:>5,.0f} {'tokens':<17}{(after - before) / count:>12,.0f}")
    print(f"  {'added, as --dry-run judged it':<42}{judged.bytes_per_document:>12,.0f}")


def statistics_of(engine: Engine, name: str) -> Any:
    """The engine's statistics of an index."""
    return engine.call("GET", [name, "_stats", "store,docs,segments"])["_all"]["primaries"]


def merged_bytes(engine: Engine, name: str) -> int:
    """Bytes of an index once it is one segment without old states of documents."""
    for _ in range(SECONDS_TO_MERGE):
        engine.call("POST", [name, "_flush"], force=True)
        engine.call("POST", [name, "_forcemerge"], max_num_segments=1)
        engine.call("POST", [name, "_refresh"])
        found = statistics_of(engine, name)
        if found["segments"]["count"] == 1 and found["docs"]["deleted"] == 0:
            break
        time.sleep(1)
    else:
        print("  (old states are not merged away; the bytes are too many)", file=sys.stderr)
    return int(found["store"]["size_in_bytes"])


if __name__ == "__main__":
    main()
