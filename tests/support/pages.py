"""Runs the shell commands of a page with an engine."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.support.cli import output

__all__ = ["mask_numbers", "omit_lines", "page_commands", "page_steps", "run_command"]

_BLOCK = re.compile(r"^( *)```(?:ba)?sh\n(.*?)^ *```$", re.DOTALL | re.MULTILINE)


def page_commands(page: str, names: Mapping[str, str]) -> list[str]:
    """Return the commands of a page in their order, with other names. The start of an engine is left out."""
    commands = []
    for indent, block in _BLOCK.findall(page):
        lines = block.removeprefix(indent).replace(f"\n{indent}", "\n").replace("\\\n", "").strip()
        for name, replacement in names.items():
            lines = lines.replace(name, replacement)
        commands += re.split(r"\n(?=curl|simdoc-search)", lines)
    return [command for command in commands if not command.startswith("simdoc-search engine")]


def page_steps(page: str, names: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the commands of a page in their order, each with the output shown under it, with other names."""
    for name, replacement in names.items():
        page = page.replace(name, replacement)
    for language, block in re.findall(r"^```(console|sh)\n(.*?)^```$", page, re.DOTALL | re.MULTILINE):
        if language == "sh":
            yield from ((command, "") for command in page_commands(f"```sh\n{block}```\n", {}))
        else:
            yield from re.findall(r"^\$ (.*)\n((?:[^$\n].*\n|\n)*)", block, re.MULTILINE)


def run_command(command: str, folder: Path | None = None) -> str:
    """Run a command of a page, which must succeed, and return its output. Our own commands run in this process."""
    if command.startswith("simdoc-search"):
        return output(*shlex.split(command.partition(" >")[0])[1:])
    curl = command.replace("curl ", "curl --silent --show-error --fail-with-body ", 1)
    done = subprocess.run(
        ["sh", "-c", curl], check=False, cwd=folder, capture_output=True, encoding="utf-8", timeout=120
    )
    assert (0, "") == (done.returncode, done.stderr), f"{command}\n{done.stdout}{done.stderr}"
    return done.stdout


def mask_numbers(lines: list[str]) -> list[str]:
    """Return lines with other numbers, as times and sizes differ. Spaces are joined, as they align numbers."""
    return [re.sub(r" +", " ", re.sub(r"\d[\d,.]*", "1", line)).strip() for line in lines]


def omit_lines(printed: list[str], shown: list[str]) -> list[str]:
    """Return the printed lines. If a page shows `...`, the lines that it omits are replaced by it."""
    if "..." not in shown:
        return printed
    before = shown.index("...")
    after = len(shown) - before - 1
    return [*printed[:before], "...", *printed[len(printed) - after :]]
