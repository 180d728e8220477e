"""Runs every command of an installed simdoc-search once: `smoke.py PROGRAM`.

It uses an empty folder and no engine. The installation needs the extras `full` and `datasets`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TEXT = "The committee approved the budget for the new library on Monday after a short debate. "
FILES = {
    "notes/first.txt": TEXT * 2 + "A reading room opens in spring.",
    "notes/copy.txt": TEXT * 2 + "A reading room opens in spring.",
    "notes/second.md": TEXT + "The mayor thanked all members for their patience during the long night.",
    "rows.jsonl": '{"id": "1", "text": "one two three four five six seven"}\n' * 2,
}
UNREACHABLE = "http://127.0.0.1:9/articles"

COMMANDS: tuple[tuple[str, int, str], ...] = (
    ("index notes --with versions,related", 0, "3 indexed"),
    ("similar first_80", 0, "copy"),
    ("passages first", 0, "second"),
    ("compare first second", 0, "second"),
    ("versions first", 0, ""),
    ("related first", 0, ""),
    ("duplicates --plan plan.csv", 0, "plan.csv"),
    ("apply plan.csv --move-to moved", 0, "1 file moved"),
    ("dedupe rows.jsonl -o kept.jsonl", 0, "1"),
    ("list", 0, "second"),
    ("show copy", 0, "library"),
    ("info", 0, "documents  2"),
    ("languages", 0, "en"),
    ("check .simdoc", 0, ""),
    ("repair .simdoc --to repaired", 0, ""),
    ("backup .simdoc saved", 0, "saved"),
    ("defaults", 0, ""),
    ("tune --overlap 80 --probability 95", 0, ""),
    ("explain copy_80", 0, ""),
    ("delete second.md", 0, "1 document deleted"),
    ("template show", 0, "simdoc"),
    (f"backfill {UNREACHABLE} --field text", 1, "Error: "),
    (f"status {UNREACHABLE}", 1, "Error: "),
    (f"watch --list --store {UNREACHABLE}", 1, "Error: "),
    ("engine --help", 0, "start"),
    ("serve --help", 0, "--port"),
    ("mcp --help", 0, "--store"),
)
"""Command lines, with their exit status and a part of their output."""


def main(program: str) -> None:
    """Run the commands. Exit with 1 if one behaves differently, or if one is missing in COMMANDS."""
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "80", "SIMDOC_RETRY_SECONDS": "0"}
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment["HOME"] = str(folder)
        for path, text in FILES.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        for line, status, part in (*COMMANDS, ("--help", 0, "Maintenance")):
            done = subprocess.run(
                [program, *line.split()], check=False, cwd=folder, env=environment, capture_output=True, text=True
            )
            output = done.stdout + done.stderr
            if done.returncode != status or part not in output or "Traceback" in output:
                faults.append(f"{line}: exit status {done.returncode}, expected {status} and {part!r}\n{output}")
    tested = {line.split()[0] for line, _, _ in COMMANDS}
    faults += [f"{name} is not tested" for name in re.findall(r"(?m)^  ([a-z]+) ", output) if name not in tested]
    print("\n".join(faults) or f"{len(tested)} commands work")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(str(Path(sys.argv[1]).absolute()))
