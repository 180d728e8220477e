"""Runs every command of an installed simdoc-search: `smoke.py FOLDER`, where FOLDER is a virtual environment.

First come the jobs of README.md that need no engine. The commands run in an empty folder, so they cannot use this
checkout. The installation needs the extras `full` and `datasets`.
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
    "essay.txt": f"These words are my own. {TEXT}These words are mine, too.",
    "pairs.tsv": "first.txt\tcopy.txt\tyes\nfirst.txt\tsecond.md\tno\n",
    "rows.jsonl": '{"id": "1", "text": "one two three four five six seven"}\n' * 2,
}
UNREACHABLE = "http://127.0.0.1:9/articles"

COMMANDS: tuple[tuple[str, int, str], ...] = (
    ("duplicates notes", 0, "1 group, 1 duplicate: 1 to drop, 0 to decide"),
    ("passages --file essay.txt --in notes", 0, "60 % of essay.txt (15 of 25 words) appears in 3 indexed documents."),
    ("similar first_20_80", 0, "2 hits, 2 documents compared"),
    ("similar first_80", 0, "1 hit, 2 documents compared"),
    ("index notes --with versions,related", 0, "sentences and concepts added to 3 documents"),
    ("compare first second", 0, "30 words in 2 passages"),
    ("versions first", 0, "1 other version"),
    ("related first", 0, "related  second.md"),
    ("tune --pairs pairs.tsv", 0, "2 pairs"),
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


def main(installation: Path) -> None:
    """Run the commands. Exit with 1 if one behaves differently, or if one is missing in COMMANDS."""
    program = installation / "bin" / "simdoc-search"
    environment = {"PATH": os.environ["PATH"], "COLUMNS": "80", "SIMDOC_RETRY_SECONDS": "0"}
    faults = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment["HOME"] = str(folder)
        for path, text in FILES.items():
            (folder / path).parent.mkdir(exist_ok=True)
            (folder / path).write_text(text, "utf-8")
        code = "import simdoc_search; print(simdoc_search.__file__)"
        python = str(installation / "bin" / "python")
        origin = subprocess.run(
            [python, "-c", code], check=True, cwd=folder, env=environment, capture_output=True, text=True
        ).stdout
        if not Path(origin).is_relative_to(installation):
            faults.append(f"the package is imported from {origin}, which is not in {installation}")
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
    main(Path(sys.argv[1]).absolute())
