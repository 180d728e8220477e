"""Every small file that a command reads may be a pipe, a device or huge: the command ends with one sentence."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.support.cli import output, process, words, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")

INDEX = ["index", "docs", "--store", "new", "--with", "relations"]
READERS = {
    "simdoc.toml": ["list"],
    "stop.txt": [*INDEX, "--stop-words", "stop.txt"],
    "synonyms.txt": [*INDEX, "--synonyms", "synonyms.txt"],
    "pairs.tsv": ["tune", "docs", "--pairs", "pairs.tsv"],
    ".simdoc/simdoc.json": ["list"],
    ".simdoc/index/simdoc.json": ["list"],
    ".simdoc/index/meta.json": ["list"],
    ".simdoc/index/.managed.json": ["index", "docs"],
}
"""Which command reads which file."""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with documents and a store, in which the command runs."""
    write(tmp_path, {f"docs/{number}.txt": words(number, 99) for number in range(3)})
    output("index", tmp_path / "docs", "--store", tmp_path / ".simdoc")
    return tmp_path


def refusal(ran: subprocess.CompletedProcess[str]) -> str:
    """The last line of a command that ended with a sentence."""
    assert ran.returncode in {1, 2}, ran
    assert "Traceback" not in ran.stderr, ran.stderr[-500:]
    return ran.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_that_nobody_writes_to_is_refused(folder: Path, name: str) -> None:
    """The command does not wait for it, and names it."""
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    said = refusal(process(*READERS[name], cwd=folder))

    assert name in said
    assert "not a regular file" in said


@pytest.mark.parametrize("name", READERS)
def test_a_huge_file_is_refused(folder: Path, name: str) -> None:
    """Its size is enough to know; 64 GB of it would not fit in memory."""
    with (folder / name).open("wb") as file:
        file.truncate(1 << 36)
    said = refusal(process(*READERS[name], cwd=folder))

    assert name in said
    assert "is larger than" in said


def test_a_device_among_the_files_of_a_store_is_refused(folder: Path) -> None:
    """A link can lead to one that has no end."""
    (folder / ".simdoc/index/.managed.json").unlink()
    (folder / ".simdoc/index/.managed.json").symlink_to("/dev/zero")

    for command in (["list"], ["check", ".simdoc"], ["repair", ".simdoc", "--to", "new"]):
        ran = process(*command, cwd=folder)
        assert "index/.managed.json is not a regular file; remove it" in f"{ran.stdout}{ran.stderr}", command


def test_a_list_of_queries_without_an_end_is_refused(folder: Path) -> None:
    """At most 50 million bytes of it are read."""
    said = refusal(process("similar", "--all-from", "/dev/zero", cwd=folder))

    assert "zero is over the limit of 50,000,000 bytes" in said
