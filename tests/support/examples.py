"""Runs the examples, and contains the titles of their documents."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
TITLE = "Tern 12 pellet stove, "
DRAFT, SOLD, OLD = (TITLE + name for name in ("draft for 2024", "manual of 2023", "manual of 2021"))
LETTER = "A customer about code 31"


def run(*arguments: object, cwd: Path = ROOT, stdin: str = "") -> str:
    """Return what a script prints. It must succeed without a warning."""
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    env = os.environ | {"PYTHONIOENCODING": "utf-8"}
    done = subprocess.run(
        command, check=False, cwd=cwd, env=env, input=stdin.encode(), capture_output=True, timeout=120
    )
    assert (0, b"") == (done.returncode, done.stderr)
    return done.stdout.decode()
