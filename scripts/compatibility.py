"""Tests with which versions of the engines this works, and keeps the table in docs/compatibility.md.

    python scripts/compatibility.py                     all versions, all suites
    python scripts/compatibility.py 3.8.0 8.19.21       some; the other lines of the table stay as they are
    python scripts/compatibility.py 3.8.0 pipeline      a suite of one; its other cells stay

Each version is started from packages, and the suites of ROWS meet it, on one node and on three.
"""

from __future__ import annotations

import os
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
"""Suites and their folders; a test belongs to the first in which it lies."""

OPENSEARCH = ("2.19.1", "3.0.0", "3.3.2", "3.5.0", "3.8.0")
VERSIONS = {
    **dict.fromkeys(OPENSEARCH, ("OpenSearch", engines.VERSION, "engine and not (elasticsearch or elasticsearch_7)")),
    elasticsearch_7.VERSION: ("Elasticsearch", engines.URL, "opensearch"),
    **dict.fromkeys(elasticsearch_engine.VERSIONS, ("Elasticsearch", elasticsearch_engine.VERSION, "elasticsearch")),
}
"""Whose they are, the environment variable that chooses one, and the tests that meet it."""

Counts = dict[str, Counter[str]]


def main() -> None:
    """Test versions one after the other; what is known is written after each."""
    asked = sys.argv[1:]
    if unknown := [each for each in asked if each not in {*VERSIONS, *ROWS}]:
        sys.exit(f"there is no {unknown[0]}; there are {', '.join([*VERSIONS, *ROWS])}")
    rows = [each for each in ROWS if each in asked] or list(ROWS)
    for version in [each for each in asked if each in VERSIONS] or VERSIONS:
        print(write_line(version, tested(version, rows)), flush=True)


def tested(version: str, rows: list[str]) -> Counts:
    """How many tests of some suites passed, failed and were skipped."""
    _, variable, mark = VERSIONS[version]
    is_7 = version == elasticsearch_7.VERSION
    with elasticsearch_7.running_elasticsearch_7() if is_7 else nullcontext(version) as chosen:
        return run_suites(rows, mark, {**os.environ, variable: chosen}, "--require-engine")


def run_suites(rows: list[str], mark: str, environment: Mapping[str, str], *options: str) -> Counts:
    """The outcomes of the tests with a mark in some suites; those that fail are printed."""
    asked = [ROWS[row] for row in rows]
    folders = [each for each in asked if not any(each.startswith(f"{other}/") for other in asked)]
    with tempfile.TemporaryDirectory() as folder:
        said, report = Path(folder) / "said.txt", Path(folder) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-m", mark, "--tb=short", *options]
        with said.open("wb") as output:
            done = subprocess.run(
                [*command, f"--junitxml={report}", *folders],
                cwd=ROOT, env=environment, stdout=output, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
        text = said.read_text("utf-8", "replace")
        if done.returncode > 1 or not report.exists():  # 1: some tests failed
            sys.exit(f"the tests did not run:\n{text}")
        for line in text.splitlines():
            if line.startswith(("FAILED", "ERROR ", "SKIPPED")):
                print(line)
        return counted(report, rows)


def counted(report: Path, rows: list[str]) -> Counts:
    """The outcomes in a report, suite by suite."""
    counts: Counts = {row: Counter() for row in rows}
    for case in ET.parse(report).iter("testcase"):  # noqa: S314 - pytest has just written it
        path = case.get("classname", "").replace(".", "/") + "/"
        row = next(row for row, folder in ROWS.items() if path.startswith(f"{folder}/"))
        kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
        outcome = "passed" if not kinds else "skipped" if kinds == {"skipped"} else "failed"
        if row in counts:  # folders lie in folders
            counts[row][outcome] += 1
    return counts


def line_of(engine: str, counts: Counts, before: str = "") -> str:
    """A line of the table; what was not tried is as it was before."""
    was = [cell.strip() for cell in before.split("|")[2:-2]] or ["not tried"] * len(ROWS)
    pairs = zip(reversed(ROWS), was, strict=True)
    cells = [said_of(engine, row, counts[row]) if row in counts else cell for row, cell in pairs]
    today = datetime.now(timezone.utc).date().isoformat()
    return f"| {engine} | {' | '.join(cells)} | {today} |"


def said_of(engine: str, row: str, counts: Counter[str]) -> str:
    """What a cell says of a suite."""
    said = ", ".join(f"{counts[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped") if counts[outcome])
    if not said and row == "pipeline" and engine.startswith("Elasticsearch"):
        return "not in the packages"
    return said or "no tests"


def write_line(version: str, counts: Counts) -> str:
    """Put a line into the table, in the order of VERSIONS, and return it."""
    text = TABLE.read_text("utf-8")
    lines = {known: line for known in VERSIONS for line in text.splitlines() if line.startswith(start_of(known))}
    lines[version] = line_of(f"{VERSIONS[version][0]} {version}", counts, lines.get(version, ""))
    before, head, rest = text.partition("|---" * (len(ROWS) + 2) + "|\n")
    after = "".join(line for line in rest.splitlines(keepends=True) if not line.startswith("| "))
    TABLE.write_text(before + head + "".join(f"{lines[each]}\n" for each in VERSIONS if each in lines) + after, "utf-8")
    return lines[version]


def start_of(version: str) -> str:
    """How its line begins."""
    return f"| {VERSIONS[version][0]} {version} |"


if __name__ == "__main__":
    main()
