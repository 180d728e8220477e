"""Measures the figures that the project has goals for, and compares them with the last run.

    pip install '.[bench,cli,versions]'
    python scripts/bench.py              start, index, query, fingerprint, duplicates: about 10 minutes
    python scripts/bench.py query start  only these groups
    python scripts/bench.py --all        also the groups engine and million: about 40 minutes

Each run appends a line of JSON to `.bench/history.jsonl`, with the commit, the machine and all figures. The next run
prints those of the last line beside its own. `--write-page FILE` writes the table into a page, between its two
comments `<!-- bench -->`. Compare figures only within one run, or between runs on the same idle machine.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import bench_figures
from bench_figures import Figure

os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package does not compile its modules in each process

ROOT = Path(__file__).parents[1]
HISTORY = ROOT / ".bench" / "history.jsonl"
MARK = "<!-- bench -->"
GROUPS: dict[str, Callable[[], Iterator[Figure]]] = {
    "start": bench_figures.start,
    "index": bench_figures.index,
    "query": bench_figures.query,
    "fingerprint": bench_figures.fingerprint,
    "duplicates": bench_figures.duplicates,
    "engine": bench_figures.engine,
    "million": bench_figures.million,
}
LONG_GROUPS = ("engine", "million")


def main() -> None:
    """Run groups, print their figures, and add them to the history."""
    parser = argparse.ArgumentParser(description="Measures the figures that the project has goals for.")
    parser.add_argument("groups", nargs="*", metavar="GROUP", help=", ".join(GROUPS))
    parser.add_argument("--all", action="store_true", help="run all groups")
    parser.add_argument("--write-page", type=Path, metavar="FILE", help="write the table into this page")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.groups if name not in GROUPS]:
        parser.error(f"unknown group {unknown[0]!r}; choose from {', '.join(GROUPS)}")
    names = list(GROUPS) if arguments.all else arguments.groups or [name for name in GROUPS if name not in LONG_GROUPS]
    last_figures = read_last_figures()
    figures: list[Figure] = []
    began = time.time()
    for name in names:
        print(f"== {name} ==", flush=True)
        for figure in GROUPS[name]():
            print(format_row(figure, last_figures.get(figure.name)), flush=True)
            figures.append(figure)
    entry = {
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began)),
        **describe_machine(),
        "figures": {figure.name: figure.as_json() for figure in figures},
    }
    HISTORY.parent.mkdir(exist_ok=True)
    with HISTORY.open("a", encoding="utf-8") as file:
        file.write(json.dumps(entry) + "\n")
    print(f"{sum(figure.is_met is False for figure in figures)} of {len(figures)} figures miss their goal")
    if arguments.write_page:
        write_page(arguments.write_page, entry, figures)


def read_last_figures() -> dict[str, float]:
    """Return the latest value of each figure in the history."""
    values: dict[str, float] = {}
    if HISTORY.exists():
        for line in HISTORY.read_text("utf-8").splitlines():
            values |= {name: figure["value"] for name, figure in json.loads(line)["figures"].items()}
    return values


def describe_machine() -> dict[str, Any]:
    """Return the commit and the machine."""
    command = ["git", "describe", "--always", "--dirty"]
    commit = subprocess.run(command, check=False, capture_output=True, text=True, cwd=ROOT)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "commit": commit.stdout.strip(),
        "machine": f"{os.cpu_count()} x {platform.machine()}, {platform.system()}, Python {platform.python_version()}",
        "has_kernel": bench_figures.has_kernel(),
        "load": load,
    }


def format_row(figure: Figure, last_value: float | None) -> str:
    """Return a line of the printed table."""
    last = "" if last_value is None else f"last {last_value:,.4g}"
    verdict = {True: "met", False: "MISSED", None: ""}[figure.is_met]
    value = f"{figure.value:>10,.4g} {figure.unit:<6}{figure.target:<14}"
    return f"{figure.name:<58}{value}{verdict:<8}{last:<14}{figure.peer}"


def write_page(page: Path, entry: dict[str, Any], figures: list[Figure]) -> None:
    """Replace the table of a page."""
    head, _, rest = page.read_text("utf-8").partition(MARK)
    _, _, tail = rest.partition(MARK)
    kernel = "with" if entry["has_kernel"] else "without"
    lines = [
        f"Commit {entry['commit']}, {entry['machine']}, {kernel} the native kernel.",
        "",
        "| Figure | Value | Goal | Peer, or how it was measured |",
        "|---|---|---|---|",
        *(
            f"| {figure.name} | {figure.value:,.4g} {figure.unit} | {figure.target}"
            f"{' (missed)' if figure.is_met is False else ''} | {figure.peer} |"
            for figure in figures
        ),
    ]
    page.write_text(f"{head}{MARK}\n\n" + "\n".join(lines) + f"\n\n{MARK}{tail}", "utf-8")


if __name__ == "__main__":
    main()
