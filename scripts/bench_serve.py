"""Many connections, and hostile requests, to a real `simdoc-search serve`: answers by status, seconds, peak memory.

    python scripts/bench_serve.py [NAME...] [--documents 3000]

Each case has a server of its own over the same store, so that its peak memory is its own. `load` and `flood` open 100
and 400 connections at once. The other cases are attacks. Meanwhile another process asks for a static file every 50 ms,
and the longest wait for it is printed. A status of 0 is a connection that ended without an answer. The processor's
seconds and the memory of the server are read from /proc.
"""

from __future__ import annotations

import argparse
import asyncio
import multiprocessing
import random
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from http.client import HTTPConnection, HTTPException
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench_serve_attacks import CASES, Case, letters
from bench_serve_server import PATIENCE, Answer, Server

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support.texts import documents, text


def make_store(folder: Path, count: int) -> Path:
    """A store of short documents and some as long as can be compared."""
    rng = random.Random("large")
    large = text(rng, 160_000)
    dense = letters(900_000, rng)
    extra = [Document("large0", large), Document("large1", f"{large[5000:]} {text(rng, 500)}"),
             Document("letters0", dense), Document("letters1", dense[::-1])]  # fmt: skip
    with open_store(folder / "store", create=True) as store:
        SimilaritySearch(store).index([*documents("serve", count, 300), *extra])
    return folder / "store"


def look(port: int, longest: Synchronized[float]) -> None:
    """Ask for a static file again and again; in a process of its own, which the attack does not delay."""
    while True:
        began = time.monotonic()
        with suppress(OSError, HTTPException), closing(HTTPConnection("127.0.0.1", port, timeout=PATIENCE)) as asking:
            asking.request("GET", "/static/icon.svg", headers={"Host": "localhost"})
            asking.getresponse().read()
        longest.value = max(longest.value, time.monotonic() - began)
        time.sleep(0.05)


@contextmanager
def looking(port: int) -> Iterator[Synchronized[float]]:
    """The longest wait for a static file, until the end of the block."""
    context = multiprocessing.get_context("spawn")
    longest = context.Value("d", 0.0)
    process = context.Process(target=look, args=(port, longest), daemon=True)
    process.start()
    try:
        yield longest
    finally:
        process.terminate()
        process.join()


def main() -> None:
    """Print a line per case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(CASES)}")
    parser.add_argument("--documents", type=int, default=3000)
    asked = parser.parse_args()
    if unknown := set(asked.names) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder), asked.documents)
        heads = f"{'median s':>9} {'p99 s':>7} {'longest':>8} {'static s':>8} {'CPU s':>6} {'MB':>6}"
        print(f"{'case':<18} {heads}  answers by status")
        for name in asked.names or CASES:
            server = Server(store)
            with looking(server.port) as longest:
                answers = asyncio.run(answers_of(CASES[name], server))
            computed, peak = server.end()
            seconds = sorted(each for _, each in answers)
            p99 = seconds[min(len(seconds) - 1, len(seconds) * 99 // 100)]
            counts = sorted(Counter(status for status, _ in answers).items())
            statuses = ", ".join(f"{count} x {status}" for status, count in counts)
            times = f"{statistics.median(seconds):>9.2f} {p99:>7.2f} {seconds[-1]:>8.2f} {longest.value:>8.2f}"
            print(f"{name:<18} {times} {computed:>6.1f} {peak:>6.0f}  {statuses}", flush=True)


async def answers_of(case: Case, server: Server) -> list[Answer]:
    """What a case answers, for `asyncio.run`."""
    return await case(server)


if __name__ == "__main__":
    main()
