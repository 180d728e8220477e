"""If a small file that a command reads is a pipe, a device or huge, the command ends with one sentence."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.cli import output, run, words, write

pytestmark = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files")

INDEX = ["index", "docs", "--store", "new", "--with", "related"]
READERS = {
    "simdoc.toml": ["list"],
    "stop.txt": [*INDEX, "--stop-words", "stop.txt"],
    "synonyms.txt": [*INDEX, "--synonyms", "synonyms.txt"],
    "pairs.tsv": ["tune", "docs", "--pairs", "pairs.tsv"],
    ".simdoc/simdoc.json": ["list"],
}
"""Maps each file to the command that reads it."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with documents and a store."""
    folder = tmp_path_factory.mktemp("small")
    write(folder, {f"docs/{number}.txt": words(number, 99) for number in range(3)})
    output("index", folder / "docs", "--store", folder / ".simdoc")
    return folder


@pytest.fixture(autouse=True)
def _in_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)


def refusal(*command: str) -> str:
    """Run a command that must fail, and return its last line."""
    done = run(*command)
    assert done.exit_code in {1, 2}, done
    return done.stderr.splitlines()[-1]


@pytest.mark.parametrize("name", READERS)
def test_a_pipe_and_a_huge_file_are_refused(folder: Path, name: str) -> None:
    """The command does not wait for data in the pipe. It does not read the huge file, because 64 GB do not fit into
    memory.
    """
    kept = (folder / name).read_bytes() if (folder / name).exists() else None
    (folder / name).unlink(missing_ok=True)
    os.mkfifo(folder / name)
    pipe = refusal(*READERS[name])
    (folder / name).unlink()
    with (folder / name).open("wb") as file:
        file.truncate(1 << 36)
    huge = refusal(*READERS[name])
    (folder / name).unlink()
    if kept:
        (folder / name).write_bytes(kept)

    assert name in pipe
    assert "not to a regular file" in pipe
    assert name in huge
    assert "is larger than" in huge


def test_an_endless_list_of_queries_is_refused() -> None:
    """At most 50 million bytes of the list are read."""
    assert "zero is larger than 50,000,000 bytes; split it into smaller files" in refusal(
        "similar", "--all-from", "/dev/zero"
    )
