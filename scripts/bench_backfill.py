"""A backfill of real documents while another process updates them, killed three times: losses, throughput, bytes.

    python scripts/bench_backfill.py URL FOLDER... [--documents N] [--updates N] [--engine NAME]

URL is that of an engine that runs, like http://127.0.0.1:9201. The files below each FOLDER are the documents; there are
N (12000), repeated with some of their words exchanged. All indices are made here, have one shard and no replica, and
are deleted at the end.

First the backfill alone, and what it was judged to take before. Then again, while another process updates documents
at random, N (150) a second at most: replaces them as a loader does, updates a part of them, deletes some. And once
more, while the backfill is killed with -9 when 1/6, 1/2 and 5/6 are done, and started again. In the end `--stale` mends
what changed after its turn, and every document is compared: what the other process wrote last, and the fingerprint.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import random
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from simdoc_search.attach.actions import fingerprint_fields
from simdoc_search.attach.backfill import Backfill, BackfillOptions, estimate_cost
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.remote.connection import connect
from simdoc_search.stores.remote.engine import Engine

KILLED_AT = (1 / 6, 1 / 2, 5 / 6)
AT_ONCE = 500
EXCHANGED = 0.02  # of the words of a repeated document
SECONDS_TO_MERGE = 120  # engines keep old states for half a minute or so

Documents = dict[str, dict[str, Any]]


def main() -> None:
    """Print what was measured and compared."""
    parser = argparse.ArgumentParser(description="Backfill: lost updates, throughput, bytes.")
    parser.add_argument("url")
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--documents", type=int, default=12_000)
    parser.add_argument("--updates", type=int, default=150, help="of the other process, a second")
    parser.add_argument("--engine", choices=["opensearch", "elasticsearch"])
    given = parser.parse_args()
    documents = made_of(given.folders, given.documents)
    engine, _ = connect(given.url, engine=given.engine, expects_index=False)
    length = statistics.mean(len(each["body"].encode()) for each in documents.values())
    print(f"{len(documents):,} documents of {length:,.0f} bytes of text")
    with index(engine) as name:
        alone(engine, name, documents)
    for shares in ((), KILLED_AT):
        with index(engine) as name:
            beside_another(engine, f"{given.url.rstrip('/')}/{name}", documents, given.updates, shares)


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


# --- alone ---


def alone(engine: Engine, name: str, documents: Documents) -> None:
    """Print throughput and bytes of a backfill that nothing disturbs."""
    count = len(documents)
    loading = load(engine, name, documents)
    before = merged_bytes(engine, name)
    judged = estimate_cost(engine, name, BackfillOptions("body"))
    report = Backfill(engine, name, BackfillOptions("body")).run()
    at_once = store(engine, name)["store"]["size_in_bytes"]
    after = merged_bytes(engine, name)
    again = Backfill(engine, name, BackfillOptions("body", stale=True)).run()
    print(f"\n{'alone':<44}{'documents/s':>12}{'seconds':>9}")
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
    print(f"\n  {compared(engine, name, documents)}")


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


# --- beside another process ---


def beside_another(engine: Engine, url: str, documents: Documents, rate: int, shares: Sequence[float]) -> None:
    """Print what is left of another's writes after a backfill that was killed when these shares of it were done."""
    name = url.rpartition("/")[2]
    load(engine, name, documents)
    ours, theirs = multiprocessing.get_context("spawn").Pipe()
    writer = multiprocessing.get_context("spawn").Process(target=write, args=(url, documents, rate, theirs))
    writer.start()
    try:
        moments = [killed_at(engine, url, share * len(documents)) for share in shares]
        report = json.loads(command(url, "--json").communicate()[0])
        ours.send("stop")
        wanted, done = ours.recv()
    finally:
        writer.join()
    mended = Backfill(engine, name, BackfillOptions("body", stale=True)).run()
    killed = f", killed with -9 when {', '.join(f'{each:,}' for each in moments)} were done" if moments else ""
    print(f"\nbeside another process{killed}")
    print(
        f"  {report['updated_count'] / report['seconds']:,.0f} documents/s "
        f"({report['updated_count']:,} in the last run)"
    )
    print(
        f"  {report['conflict_count']:,} read again, as the other was faster; "
        f"then --stale: {mended.updated_count:,} updated"
    )
    print(f"  the other: {', '.join(f'{count:,} {what}' for what, count in sorted(done.items()))}")
    print(f"  {compared(engine, name, wanted)}")


def command(url: str, *options: str) -> subprocess.Popen[bytes]:
    """A backfill in a process of its own."""
    arguments = ["backfill", url, "--text-field", "body", *options]
    return subprocess.Popen([sys.executable, "-m", "simdoc_search", *arguments], stdout=subprocess.PIPE)


def killed_at(engine: Engine, url: str, least: float) -> int:
    """Start a backfill, and kill it when so many documents are done; how many are."""
    running = command(url)
    while (done := fingerprinted(engine, url.rpartition("/")[2])) < least and running.poll() is None:
        time.sleep(0.1)
    if running.poll() is not None:
        sys.exit("the backfill ended before it could be killed; give more documents")
    running.kill()
    running.communicate()
    return done


def fingerprinted(engine: Engine, name: str) -> int:
    """How many documents have a fingerprint."""
    engine.call("POST", [name, "_refresh"])
    query = {"query": {"exists": {"field": "simdoc.format"}}}
    return int(engine.call("POST", [name, "_count"], query)["count"])


def write(url: str, documents: Documents, rate: int, stop: Any) -> None:
    """The other process: writes until it is told to stop; then sends what it wrote last, and counts."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    engine, name = connect(url)
    chance, ids, done, began = random.Random(2), list(documents), Counter[str](), time.monotonic()
    while not stop.poll():
        number = chance.randrange(len(ids))
        what = chance.choices(["replaced", "counted up", "rewritten", "deleted"], [40, 40, 18, 2])[0]
        change(engine, name, ids[number], documents, what)
        if what == "deleted":
            ids[number] = ids[-1]
            ids.pop()
        done[what] += 1
        time.sleep(max(0.0, began + sum(done.values()) / rate - time.monotonic()))
    stop.recv()
    stop.send((documents, done))


def change(engine: Engine, name: str, id: str, documents: Documents, what: str) -> None:
    """Replace a document, update a part of it, or delete it: here, and in the index."""
    count = documents[id]["count"] + 1
    changed: dict[str, Any] = {"count": count}
    if what in {"replaced", "rewritten"}:
        changed["body"] = f"{documents[id]['body']} written for the {count} time by another process"
    if what == "replaced":
        engine.call("PUT", [name, "_doc", id], documents[id] | changed)
    elif what == "deleted":
        engine.call("DELETE", [name, "_doc", id])
        del documents[id]
        return
    else:
        engine.call("POST", [name, "_update", id], {"doc": changed}, retry_on_conflict=20)
    documents[id] = documents[id] | changed


def compared(engine: Engine, name: str, wanted: Documents) -> str:
    """What of the documents that should be there is not as it should be."""
    engine.call("POST", [name, "_refresh"])
    there = int(engine.call("POST", [name, "_count"])["count"])
    ids, lost, wrong = list(wanted), 0, 0
    for start in range(0, len(ids), AT_ONCE):
        some = ids[start : start + AT_ONCE]
        found = [each.get("_source", {}) for each in engine.call("POST", [name, "_mget"], {"ids": some})["docs"]]
        ours = [each.pop("simdoc", None) for each in found]
        right = fingerprint_fields([wanted[id]["body"] for id in some], Settings())
        lost += sum(wanted[id] != each for id, each in zip(some, found, strict=True))
        wrong += sum(one != other for one, other in zip(ours, right, strict=True))
    return (
        f"compared {len(ids):,} documents ({there:,} are in the index): {lost:,} lost a write, "
        f"{wrong:,} have not the one right fingerprint"
    )


if __name__ == "__main__":
    main()
