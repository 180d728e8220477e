"""Runs the tests with all versions of the engines, and writes the table in docs/compatibility.md.

    python scripts/compatibility.py                     all versions and suites
    python scripts/compatibility.py 3.8.0 8.19.21       two versions; other lines of the table are kept
    python scripts/compatibility.py 3.8.0 pipeline      one suite with one version; other cells are kept

It starts each version from packages, with one node and with three. The exit status is 1 if more tests of a suite fail
than the table says.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Mapping
from contextlib import nullcontext
from datetime import datetime, timezone
from pathlib import Path

from tests.support import elasticsearch_7, elasticsearch_engine, engines

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "docs" / "compatibility.md"

ROWS = {
    "search": "tests/search",
    "pipeline": "tests/attach/pipeline",
    "backfill": "tests/attach/backfill",
    "template": "tests/attach",
    "store": "tests/stores",
}
"""Suites and their folders. A test belongs to the first one."""

OPENSEARCH = ("2.19.1", "3.0.0", "3.3.2", "3.5.0", "3.8.0")
VERSIONS = {
    **dict.fromkeys(OPENSEARCH, ("OpenSearch", engines.VERSION, "engine and not (elasticsearch or elasticsearch_7)")),
    elasticsearch_7.VERSION: ("Elasticsearch", engines.URL, "opensearch"),
    **dict.fromkeys(elasticsearch_engine.VERSIONS, ("Elasticsearch", elasticsearch_engine.VERSION, "elasticsearch")),
}
"""For each version, the product, the environment variable that chooses it, and the mark of its tests."""

Counts = dict[str, Counter[str]]


def main() -> None:
    """Test one version after the other, and write its line."""
    arguments = sys.argv[1:]
    if unknown := [name for name in arguments if name not in {*VERSIONS, *ROWS}]:
        sys.exit(f"there is no version or suite {unknown[0]}; choose from {', '.join([*VERSIONS, *ROWS])}")
    rows = [row for row in ROWS if row in arguments] or list(ROWS)
    is_worse = False
    for version in [name for name in arguments if name in VERSIONS] or VERSIONS:
        counts = test_version(version, rows)
        is_worse |= has_new_failures(f"{VERSIONS[version][0]} {version}", counts)
        print(write_line(version, counts), flush=True)
    sys.exit(is_worse)


def test_version(version: str, rows: list[str]) -> Counts:
    """Run suites with a version, and return the numbers of tests that passed, failed and were skipped."""
    _, variable, mark = VERSIONS[version]
    is_7 = version == elasticsearch_7.VERSION
    with elasticsearch_7.running_elasticsearch_7() if is_7 else nullcontext(version) as chosen:
        return run_suites(rows, mark, {**os.environ, variable: chosen}, "--require-engine")


def run_suites(rows: list[str], mark: str, environment: Mapping[str, str], *options: str) -> Counts:
    """Run the tests with a mark in some suites, print the failures, and return the outcomes."""
    all_folders = [ROWS[row] for row in rows]
    folders = [folder for folder in all_folders if not any(folder.startswith(f"{other}/") for other in all_folders)]
    with tempfile.TemporaryDirectory() as folder:
        log, report = Path(folder) / "log.txt", Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", mark, "--tb=short", *options]
        with log.open("wb") as output:
            done = subprocess.run(
                [*command, f"--junitxml={report}", *folders],
                cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        text = log.read_text("utf-8", "replace")
        if done.returncode > 1 or not report.exists():  # 1: some tests failed
            sys.exit(f"the tests did not run:\n{text}")
        for line in text.splitlines():
            if line.startswith(("FAILED", "ERROR ", "SKIPPED")):
                print(line)
        return count_outcomes(report, rows)


def count_outcomes(report: Path, rows: list[str]) -> Counts:
    """Return the outcomes in a report, by suite."""
    counts: Counts = {row: Counter() for row in rows}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest has just written it
        path = case.get("classname", "").replace(".", "/") + "/"
        row = next(row for row, folder in ROWS.items() if path.startswith(f"{folder}/"))
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        outcome = "passed" if not kinds else "skipped" if kinds == {"skipped"} else "failed"
        if row in counts:  # a folder may contain that of another suite
            counts[row][outcome] += 1
    return counts


def has_new_failures(engine: str, counts: Counts) -> bool:
    """Return whether more tests of a suite failed than the table says about this version of the engine."""
    lines = [line for line in TABLE.read_text("utf-8").splitlines() if line.startswith(f"| {engine} |")]
    line = lines[-1] if lines else ""  # the page begins with another table
    known = dict(zip(reversed(ROWS), re.findall(r"(?<=\|)[^|]*(?=\|)", line)[1:], strict=False))
    return any(
        outcomes["failed"] > int((re.findall(r"(\d+) failed", known.get(row, "")) or ["0"])[0])
        for row, outcomes in counts.items()
    )


def line_of(engine: str, counts: Counts, before: str = "") -> str:
    """Return a line of the table. Suites that were not run keep their cells."""
    cells_before = [cell.strip() for cell in before.split("|")[2:-2]] or ["not tried"] * len(ROWS)
    pairs = zip(reversed(ROWS), cells_before, strict=True)
    cells = [cell_of(engine, row, counts[row]) if row in counts else cell for row, cell in pairs]
    today = datetime.now(timezone.utc).date().isoformat()
    return f"| {engine} | {' | '.join(cells)} | {today} |"


def cell_of(engine: str, row: str, counts: Counter[str]) -> str:
    """Return the cell of a suite."""
    cell = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped") if counts[outcome])
    if not cell and row == "pipeline" and engine.startswith("Elasticsearch"):
        return "not in the packages"
    return cell or "no tests"


def write_line(version: str, counts: Counts) -> str:
    """Write a line into the table, in the order of VERSIONS, and return it."""
    text = TABLE.read_text("utf-8")
    lines = {known: line for known in VERSIONS for line in text.splitlines() if line.startswith(prefix_of(known))}
    lines[version] = line_of(f"{VERSIONS[version][0]} {version}", counts, lines.get(version, ""))
    before, head, rest = text.partition("|---" * (len(ROWS) + 2) + "|\n")
    after = "".join(line for line in rest.splitlines(keepends=True) if not line.startswith("| "))
    TABLE.write_text(
        before + head + "".join(f"{lines[known]}\n" for known in VERSIONS if known in lines) + after, "utf-8"
    )
    return lines[version]


def prefix_of(version: str) -> str:
    """Return the start of the line of a version."""
    return f"| {VERSIONS[version][0]} {version} |"


if __name__ == "__main__":
    main()
