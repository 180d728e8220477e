"""Measures `simdoc-search dedupe` on a generated dataset, next to rensa.

    pip install '.[bench,cli,datasets]' psutil
    python scripts/bench_dedupe.py [ROWS] [CHARACTERS]      default: 100,000 rows of 2,000 characters

A fifth of the rows are copies of an earlier row, with up to one in forty words replaced. Each program reads the same
Parquet file and writes the kept rows to another one, in its own process. The table shows the wall time, the processor
time and the peak memory of all its processes; the share of the pairs of a copy and its original with an overlap of
80 % or more of which one row was removed; and the removed rows whose overlap with the kept row is below 80 %.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path

import psutil  # type: ignore[import-untyped]
import pyarrow as pa
from pyarrow import parquet

from simdoc_search.passages.exact import jaccard, shingle_set

DEFAULTS = (100_000, 2_000)  # rows and characters
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
                    if len(originals) < MAX_ORIGINALS:
                        originals.append((number, texts[-1]))
            writer.write_table(pa.table([range(begin, begin + count), texts, copy_of], schema=SCHEMA))


def run_dedupe(source: Path, target: Path, pairs: Path) -> list[str]:
    """Return the command of `simdoc-search dedupe`."""
    return [
        sys.executable, "-m", "simdoc_search", "dedupe", str(source), "-o", str(target), "--text", "text",
        "--pairs", str(pairs),
    ]  # fmt: skip


def run_rensa(source: Path, target: Path, pairs: Path) -> list[str]:
    """Return the command that runs `dedupe_with_rensa`."""
    return [sys.executable, __file__, "rensa", str(source), str(target), str(pairs)]


def dedupe_with_rensa(source: Path, target: Path, pairs: Path) -> None:
    """Remove all rows of a connected component but the first one, with 128 permutations."""
    import rensa  # noqa: PLC0415 - only this process needs it
    from bench_duplicates_peers import best_bands, connected, shingles  # noqa: PLC0415

    table = parquet.read_table(source)
    bands, rows = best_bands(128, OVERLAP)
    index = rensa.RMinHashLSH(threshold=float(OVERLAP), num_perm=bands * rows, num_bands=bands)
    found = set()
    for number, text in enumerate(table.column("text").to_pylist()):
        sketch = rensa.RMinHash(num_perm=bands * rows, seed=42)
        sketch.update(shingles(text))
        found |= {(other, number) for other in index.query(sketch)}
        index.insert(number, sketch)
    removed = {other: group[0] for group in connected(found, table.num_rows) for other in group[1:]}
    is_kept = [number not in removed for number in range(table.num_rows)]
    parquet.write_table(table.filter(pa.array(is_kept)), target)
    parquet.write_table(pa.table({"row": list(removed), "duplicate_of": list(removed.values())}), pairs)


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


def evaluate(source: Path, pairs: Path) -> tuple[int, float, int]:
    """Return the number of removed rows, the recall, and the number of wrong ones among those that are checked."""
    table = parquet.read_table(source)
    texts = table.column("text").to_pylist()
    found = parquet.read_table(pairs)
    kept_of = dict(zip(found.column("row").to_pylist(), found.column("duplicate_of").to_pylist(), strict=True))

    def overlaps(couples: list[tuple[int, int]]) -> list[float]:
        couples = random.Random(2).sample(couples, min(MAX_CHECKED, len(couples)))
        checked.extend(couples)
        return [jaccard(shingle_set(texts[a]), shingle_set(texts[b])) for a, b in couples]

    checked: list[tuple[int, int]] = []
    copy_of = table.column("copy_of").to_pylist()
    shares = overlaps([(number, original) for number, original in enumerate(copy_of) if original is not None])
    true_pairs = [pair for pair, share in zip(checked, shares, strict=True) if share >= OVERLAP]
    recalled = sum(a in kept_of or b in kept_of for a, b in true_pairs)
    wrong = sum(share < OVERLAP for share in overlaps(list(kept_of.items())))
    return len(kept_of), recalled / max(1, len(true_pairs)), wrong


def main() -> None:
    """Measure all programs."""
    if sys.argv[1:2] == ["rensa"]:
        dedupe_with_rensa(*map(Path, sys.argv[2:]))
        return
    given = [int(value) for value in sys.argv[1:]]
    rows, characters = (*given, *DEFAULTS[len(given) :])
    programs: dict[str, Callable[[Path, Path, Path], list[str]]] = {"dedupe": run_dedupe, "rensa": run_rensa}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder, "data.parquet")
        make_dataset(source, rows, characters)
        print(f"{rows:,} rows of {characters:,} characters, {source.stat().st_size / 1e6:,.0f} MB")
        print(f"{'':<8}{'wall s':>8}{'cpu s':>8}{'MB':>8}{'removed':>10}{'recall':>9}{'wrong':>7}")
        for name, command in programs.items():
            pairs = Path(folder, f"{name}.pairs.parquet")
            wall, cpu, memory = measure(command(source, Path(folder, f"{name}.parquet"), pairs))
            removed, recall, wrong = evaluate(source, pairs)
            print(f"{name:<8}{wall:>8.1f}{cpu:>8.1f}{memory:>8.0f}{removed:>10,}{recall:>9.4f}{wrong:>7}", flush=True)


if __name__ == "__main__":
    main()
