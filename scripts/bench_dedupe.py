"""Measures `simdoc-search dedupe` on a generated dataset, next to rensa, text-dedup and datatrove.

    pip install '.[cli,datasets]' psutil
    python -m venv PEERS && PEERS/bin/python -m pip install rensa text-dedup 'datatrove[processing]' spacy
    python scripts/bench_dedupe.py [ROWS] [CHARACTERS] [--peers PEERS]      default: 100,000 rows of 2,000 characters

A fifth of the rows are copies of an earlier row, with up to one in forty words replaced. Each program reads the same
Parquet file and writes the kept rows to another one, in its own process. The table shows the wall time, the processor
time and the peak memory of all its processes. Recall is the share of the pairs of a copy and its original with an
overlap of 80 % or more of which one row was removed. A removed row is wrong if no kept row of its family overlaps it by
80 % or more. A family is an original and its copies. All other rows are random words.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pyarrow as pa
from pyarrow import parquet

from simdoc_search.passages.exact_overlap import jaccard, shingle_set

PEERS = ("rensa", "text-dedup", "datatrove")
OVERLAP = Fraction(4, 5)
COPIES, VOCABULARY, ROWS_AT_ONCE, MAX_ORIGINALS = 0.2, 50_000, 10_000, 50_000
WORD_CHARACTERS = 7  # with the space
MAX_CHECKED = 20_000  # pairs and removed rows whose exact overlap is computed
SCHEMA = pa.schema([("id", pa.int64()), ("text", pa.string()), ("copy_of", pa.int64())])


def make_dataset(path: Path, rows: int, characters: int) -> None:
    """Write the dataset. The column `copy_of` has the number of the original, or null."""
    rng = random.Random(1)
    words = ["".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=rng.randint(3, 9))) for _ in range(VOCABULARY)]
    size = characters // WORD_CHARACTERS
    originals: list[tuple[int, str]] = []
    with parquet.ParquetWriter(path, SCHEMA) as writer:
        for begin in range(0, rows, ROWS_AT_ONCE):
            count = min(ROWS_AT_ONCE, rows - begin)
            texts: list[str] = []
            copy_of: list[int | None] = []
            for number in range(begin, begin + count):
                if originals and rng.random() < COPIES:
                    original, text = originals[rng.randrange(len(originals))]
                    own = text.split()
                    for _ in range(rng.randint(0, max(1, size // 40))):
                        own[rng.randrange(size)] = rng.choice(words)
                    texts.append(" ".join(own))
                    copy_of.append(original)
                else:
                    texts.append(" ".join(rng.choices(words, k=size)))
                    copy_of.append(None)
                    originals.append((number, texts[-1]))
            del originals[:-MAX_ORIGINALS]
            writer.write_table(pa.table([range(begin, begin + count), texts, copy_of], schema=SCHEMA))


def dedupe_command(source: Path, target: Path) -> list[str]:
    """Return the command of `simdoc-search dedupe`."""
    return [sys.executable, "-m", "simdoc_search", "dedupe", str(source), "-o", str(target), "--text", "text"]


def measure(command: Sequence[str]) -> tuple[float, float, float]:
    """Run a command. Return its wall time and processor time in seconds, and the peak memory in MB."""
    began = time.monotonic()
    process = psutil.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak, seconds = 0.0, {}
    while process.poll() is None:
        memory = 0.0
        for one in _with_children(process):
            try:
                memory += one.memory_info().rss / 1e6
                times = one.cpu_times()
                seconds[one.pid] = times.user + times.system
            except psutil.NoSuchProcess:
                continue
        peak = max(peak, memory)
        time.sleep(0.1)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed with status {process.returncode}")
    return time.monotonic() - began, sum(seconds.values()), peak


def _with_children(process: psutil.Process) -> list[psutil.Process]:
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def evaluate(source: Path, target: Path) -> tuple[int, float, int, int]:
    """Return the numbers of removed rows, the recall, and how many of how many checked removed rows are wrong."""
    table = parquet.read_table(source)
    texts, copy_of = table.column("text"), table.column("copy_of").to_pylist()
    kept = set(parquet.read_table(target, columns=["id"]).column("id").to_pylist())
    families: defaultdict[int, list[int]] = defaultdict(list)
    for row, original in enumerate(copy_of):
        families[row if original is None else original].append(row)

    def is_similar(a: int, b: int) -> bool:
        return jaccard(shingle_set(texts[a].as_py()), shingle_set(texts[b].as_py())) >= OVERLAP

    def sample(rows: list[int]) -> list[int]:
        return random.Random(2).sample(rows, min(MAX_CHECKED, len(rows)))

    copies = sample([row for row, original in enumerate(copy_of) if original is not None])
    similar = [row for row in copies if is_similar(row, copy_of[row])]
    found = sum(row not in kept or copy_of[row] not in kept for row in similar)
    removed = [row for row in range(len(copy_of)) if row not in kept]
    checked = sample(removed)
    wrong = 0
    for row in checked:
        family = families[row if copy_of[row] is None else copy_of[row]]
        wrong += not any(is_similar(row, other) for other in family if other in kept)
    return len(removed), found / max(1, len(similar)), wrong, len(checked)


def main() -> None:
    """Measure all programs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="?", default=100_000)
    parser.add_argument("characters", type=int, nargs="?", default=2_000)
    parser.add_argument("--peers", type=Path, help="a virtual environment with the other programs")
    options = parser.parse_args()
    peers_script = Path(__file__).with_name("bench_dedupe_peers.py")
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "data.parquet")
        make_dataset(source, options.rows, options.characters)
        print(f"{options.rows:,} rows of {options.characters:,} characters, {source.stat().st_size / 1e6:,.0f} MB")
        print(f"{os.cpu_count()} cores; load: the average number of running processes of the last minute")
        columns = "".join(
            f"{name:>9}" for name in ("wall s", "cpu s", "load", "MB", "removed", "recall", "wrong", "checked")
        )
        print(f"{'':<12}{columns}")
        for name in ("dedupe", *(PEERS if options.peers else ())):
            target = Path(folder, f"{name}.parquet")
            python = str(options.peers / "bin/python") if options.peers else ""
            command = [python, str(peers_script), name, str(source), str(target)]
            wall, cpu, memory = measure(dedupe_command(source, target) if name == "dedupe" else command)
            load = os.getloadavg()[0]
            removed, recall, wrong, checked = evaluate(source, target)
            print(f"{name:<12}{wall:>9.1f}{cpu:>9.1f}{load:>9.1f}{memory:>9.0f}", end="")
            print(f"{removed:>9,}{recall:>9.4f}{wrong:>9,}{checked:>9,}", flush=True)


if __name__ == "__main__":
    main()
