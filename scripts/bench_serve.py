"""Measures a real `simdoc-search serve` under load and under attack.

    python scripts/bench_serve.py [NAME...] [--documents 3000]

Each case runs against a server of its own, so that its peak memory can be measured. All servers use the same store.
The case `load` opens 100 connections at once; the other cases are attacks. During a case, a thread requests a static
file every 50 ms, and the column `static` is its longest wait. A status of 0 means that there was no answer. CPU seconds
and memory are those of the server.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import httpx
import psutil  # type: ignore[import-untyped]

sys.path.insert(0, str(Path(__file__).parents[1]))

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support.texts import documents, text

CONNECTIONS, REQUESTS, SECONDS = 100, 20, 300.0
JSON = {"Content-Type": "application/json"}
RNG = random.Random("serve")

Answer = tuple[int, float]
"""The status of an answer, and the seconds until all of it had arrived."""
Case = Callable[[httpx.AsyncClient], Coroutine[Any, Any, list[Answer]]]


def letters(count: int) -> str:
    """Return a text of words of one letter."""
    return " ".join(RNG.choices("abcdefghijklmnopqrstuvwxyz", k=count))


async def send(client: httpx.AsyncClient, method: str, path: str, **options: Any) -> Answer:
    """Send a request and read the answer."""
    began = time.monotonic()
    try:
        status = (await client.request(method, path, **options)).status_code
    except httpx.HTTPError:
        status = 0
    return status, time.monotonic() - began


async def load(client: httpx.AsyncClient) -> list[Answer]:
    """Send 20 requests over each of 100 connections."""
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("GET", "/static/site.css", {}),
        ("GET", "/status.json", {}),
        *(("GET", f"/similar.json?q=doc{RNG.randrange(1000)}_20", {}) for _ in range(4)),
        *(("GET", f"/passages.json?id=doc{RNG.randrange(1000)}", {}) for _ in range(2)),
        *(("POST", "/similar.json", {"json": {"text": text(RNG, 300)}}) for _ in range(2)),
    ]

    async def use_connection(number: int) -> list[Answer]:
        chosen = [requests[(number + step) % len(requests)] for step in range(REQUESTS)]
        return [await send(client, method, path, **options) for method, path, options in chosen]

    answers = await asyncio.gather(*map(use_connection, range(CONNECTIONS)))
    return [answer for of_connection in answers for answer in of_connection]


def repeat(method: str, path: str, make_options: Callable[[], dict[str, Any]] = dict, count: int = 4) -> Case:
    """Return a case that sends a request several times at once."""

    async def case(client: httpx.AsyncClient) -> list[Answer]:
        options = make_options()
        return list(await asyncio.gather(*(send(client, method, path, **options) for _ in range(count))))

    return case


def send_text(make_text: Callable[[], str], path: str = "/similar.json") -> Case:
    """Return a case that sends a text several times at once."""
    return repeat("POST", path, lambda: {"json": {"text": make_text()}})


def send_json(make_body: Callable[[], bytes]) -> Case:
    """Return a case that sends JSON several times at once."""
    return repeat("POST", "/similar.json", lambda: {"content": make_body(), "headers": JSON})


async def disconnect(client: httpx.AsyncClient) -> list[Answer]:
    """Send 40 requests without waiting for their answers, and then one whose answer is read."""
    long_text = {"text": text(RNG, 300_000)}
    for _ in range(40):
        await send(client, "POST", "/similar.json", json=long_text, timeout=httpx.Timeout(SECONDS, read=0.05))
    return [await send(client, "POST", "/similar.json", json={"text": text(RNG, 300)})]


CASES: dict[str, Case] = {
    "load": load,
    "prose": send_text(lambda: text(RNG, 300_000)),
    "ligatures": send_text(lambda: "\ufdfa" * 6_600_000),
    "marks": send_text(lambda: "a" + "\u0301\u0323" * 900_000),
    "letters": send_text(lambda: letters(990_000)),
    "passages-letters": send_text(lambda: letters(990_000), "/passages.json"),
    "json-lists": send_json(lambda: b'{"a":[' + b"[]," * 6_600_000 + b"[]]}"),
    "json-deep": send_json(lambda: b"[" * 19_000_000),
    "form-fields": repeat("POST", "/similar.json", lambda: {"data": {"a": ["b"] * 4_900_000}}),
    "far-page": repeat("GET", "/similar.json?id=doc1&size=200&offset=10000", count=20),
    "compare": repeat("GET", "/compare?a=large0&b=large1"),
    "compare-letters": repeat("GET", "/compare.json?a=letters0&b=letters1"),
    "disconnect": disconnect,
}


def make_store(folder: Path, count: int) -> Path:
    """Make a store of short documents, and of four that are almost too long to be compared. Return its path."""
    large, dense = text(RNG, 160_000), letters(900_000)
    long_documents = [
        Document("large0", large),
        Document("large1", f"{large[5000:]} {text(RNG, 500)}"),
        Document("letters0", dense),
        Document("letters1", dense[::-1]),
    ]
    with open_store(folder / "store", create=True) as store:
        SimilaritySearch(store).index([*documents("serve", count, 300), *long_documents])
    return folder / "store"


def measure(case: Case, store: Path) -> tuple[list[Answer], float, float, float]:
    """Return the answers, the longest wait for a static file, and the server's CPU seconds and peak memory in MB."""
    command = [sys.executable, "-m", "simdoc_search", "serve", "--port", "0", "--store", str(store)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        line = server.stdout.readline() if server.stdout else ""
        address = re.search(r"http://\S+:\d+", line)
        if address is None:
            raise SystemExit(f"the server does not start: {line}")
        process, waits, ended = psutil.Process(server.pid), [0.0], threading.Event()
        peak = 0

        def watch() -> None:
            nonlocal peak
            while not ended.wait(0.05):
                began = time.monotonic()
                httpx.get(f"{address[0]}/static/icon.svg", timeout=SECONDS)
                waits.append(time.monotonic() - began)
                peak = max(peak, process.memory_info().rss)

        watcher = threading.Thread(target=watch)
        watcher.start()
        answers = asyncio.run(answers_of(case, address[0]))
        ended.set()
        watcher.join()
        cpu = process.cpu_times()
        server.send_signal(signal.SIGINT)
    return answers, max(waits), cpu.user + cpu.system, peak / 1e6


async def answers_of(case: Case, address: str) -> list[Answer]:
    """Run a case, and return the answers."""
    limits = httpx.Limits(max_connections=CONNECTIONS)
    async with httpx.AsyncClient(base_url=address, timeout=SECONDS, limits=limits) as client:
        return await case(client)


def main() -> None:
    """Print one row for each case."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"cases: {', '.join(CASES)}; all by default")
    parser.add_argument("--documents", type=int, default=3000)
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(CASES):
        parser.error(f"no case {', '.join(sorted(unknown))}")
    with tempfile.TemporaryDirectory() as folder:
        store = make_store(Path(folder), arguments.documents)
        heads = f"{'median s':>9} {'longest':>8} {'static s':>8} {'CPU s':>6} {'MB':>6}"
        print(f"{'case':<18} {heads}  answers by status")
        for name in arguments.names or CASES:
            answers, static, cpu, peak = measure(CASES[name], store)
            seconds = [duration for _, duration in answers]
            counts = sorted(Counter(status for status, _ in answers).items())
            statuses = ", ".join(f"{count} x {status}" for status, count in counts)
            times = f"{statistics.median(seconds):>9.2f} {max(seconds):>8.2f} {static:>8.2f}"
            print(f"{name:<18} {times} {cpu:>6.1f} {peak:>6.0f}  {statuses}", flush=True)


if __name__ == "__main__":
    main()
