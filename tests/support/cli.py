"""Runs commands in this process or in a subprocess."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from simdoc_search.cli.group import cli

# The tests need these values, whatever the shell has set: no default store and no colours.
CLEAN: dict[str, str | None] = dict.fromkeys(
    ("SIMDOC_CONFIG", "SIMDOC_STORE", "SIMDOC_HASH_KEY", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE")
)


def run(*arguments: object, stdin: str | bytes | None = None, **environment: str) -> Result:
    """Run a command in this process. An unexpected exception fails the test.

    What the command writes to stderr may name a missing extra. It is repeated, so that the report of a failed test
    contains it.
    """
    runner = CliRunner(env={**CLEAN, **environment})
    result = runner.invoke(cli, [*map(str, arguments)], stdin, prog_name="simdoc-search", catch_exceptions=False)
    sys.stderr.write(result.stderr)
    return result


def output(*arguments: object, stdin: str | bytes | None = None, **environment: str) -> str:
    """Run a command that must succeed, and return its stdout."""
    result = run(*arguments, stdin=stdin, **environment)
    assert 0 == result.exit_code, result.stderr
    return result.stdout


def answer(*arguments: object, stdin: str | bytes | None = None, **environment: str) -> Any:
    """Run a command with `--json`, and return the value."""
    return json.loads(output(*arguments, "--json", stdin=stdin, **environment))


def json_values(text: str) -> list[Any]:
    """Return the JSON values in a text. `list` prints one per document."""
    values = []
    while text := text.lstrip():
        value, end = json.JSONDecoder().raw_decode(text)
        values.append(value)
        text = text[end:]
    return values


def sentence(result: Result | subprocess.CompletedProcess[str]) -> str:
    """Return the sentence of a failed command, without "Error: "."""
    status = result.exit_code if isinstance(result, Result) else result.returncode
    lines = result.stderr.splitlines()
    assert (1, "", 1) == (status, result.stdout, len(lines)), result.stderr
    assert lines[0].startswith("Error: ")
    return lines[0].removeprefix("Error: ")


def usage_error(result: Result) -> str:
    """Return the sentence of a usage error, without "Error: "."""
    assert (2, "") == (result.exit_code, result.stdout), result.output
    usage, *_, message = result.stderr.splitlines()
    assert usage.startswith("Usage: simdoc-search")
    assert message.startswith("Error: ")
    return message.removeprefix("Error: ")


def environment(**values: str) -> dict[str, str]:
    """Return the environment of a subprocess."""
    kept = {name: value for name, value in os.environ.items() if name not in CLEAN}
    return {**kept, "PYTHONIOENCODING": "utf-8", **values}


def process(*arguments: object, cwd: Path, stdin: str | None = None, **values: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a subprocess with warnings as errors."""
    return _run("-m", "simdoc_search", *arguments, cwd=cwd, stdin=stdin, **values)


def script(code: str, *arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run Python code in a subprocess with warnings as errors."""
    return _run("-c", code, *arguments, cwd=cwd)


def _run(*arguments: object, cwd: Path, stdin: str | None = None, **values: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-W", "error", *map(str, arguments)]
    env = environment(**values)
    return subprocess.run(
        command, check=False, cwd=cwd, env=env, input=stdin, capture_output=True, encoding="utf-8", timeout=60
    )


def words(start: int, stop: int) -> str:
    """Return a text of distinct words. Texts whose ranges overlap share the shingles of the overlap."""
    return " ".join(f"word{number}" for number in range(start, stop))


def write(folder: Path, files: dict[str, str | bytes]) -> Path:
    """Write files below a folder, and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def write_corpus(folder: Path) -> Path:
    """Write five documents. Their overlap with doc123.txt: copy 100 %, half 53 %, old 24 %, other 0 %."""
    return write(
        folder,
        {
            "doc123.txt": words(0, 200),
            "other.txt": words(9000, 9200),
            "notes/old.txt": words(0, 80) + " " + words(2000, 2120),
            "reports/copy.txt": words(0, 200),
            "reports/half.txt": words(0, 140) + " " + words(1000, 1060),
        },
    )


def json_lines(*documents: Mapping[str, object]) -> str:
    """Return documents as JSONL."""
    return "".join(json.dumps(document, ensure_ascii=False) + "\n" for document in documents)
