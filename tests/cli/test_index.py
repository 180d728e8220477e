"""`simdoc-search index` prints counts and skipped files, and reads only changed files."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import (
    answer,
    environment,
    json_lines,
    output,
    run,
    usage_error,
    words,
    write,
)
from tests.support.slow_cases import slow_after

pytestmark = pytest.mark.usefixtures("in_corpus")


def hits(query: str) -> list[str]:
    """Return the ids of the documents that are similar to a document."""
    return [hit["id"] for hit in answer("similar", query)["hits"]]


SECONDS = re.compile(r" in \d+\.\d s\n\Z")


def counts(*arguments: str, stdin: str | bytes | None = None) -> dict[str, int]:
    """Run `index`, and return the counts that are not zero."""
    report: dict[str, Any] = answer("index", *arguments, stdin=stdin)
    return {name: value for name, value in report.items() if isinstance(value, int) and value}


# --- what is indexed ---


def test_a_folder_is_indexed_with_its_subfolders() -> None:
    result = run("index", "corpus")

    assert (0, "") == (result.exit_code, result.stderr)
    assert "5 indexed, 0 unchanged" == SECONDS.sub("", result.stdout)
    assert ["reports/copy.txt", "reports/half.txt", "notes/old.txt"] == hits("doc123.txt")


def test_a_jsonl_file_has_a_document_per_line(tmp_path: Path) -> None:
    lines = json_lines({"id": "a", "text": words(0, 50)}, {"id": "b", "text": words(0, 50), "language": "de"})
    write(tmp_path, {"docs.jsonl": lines})

    assert {"added_count": 2} == counts("docs.jsonl")
    assert ["b"] == [hit["id"] for hit in answer("similar", "a", "--filter", "language=de")["hits"]]
    assert [] == answer("similar", "a", "--filter", "language=fr")["hits"]


# --- running again ---


def test_a_changed_file_is_replaced_and_a_new_one_added(tmp_path: Path) -> None:
    output("index", "corpus")
    write(tmp_path / "corpus", {"other.txt": words(0, 100) + " and more", "new.txt": words(0, 200)})

    assert "1 indexed, 4 unchanged, 1 replaced" == SECONDS.sub("", output("index", "corpus"))
    assert "0 indexed, 6 unchanged" == SECONDS.sub("", output("index", "corpus"))
    assert {"new.txt", "other.txt"} < set(hits("doc123"))


# --- what is skipped ---


def test_skipped_files_are_listed_on_stderr_with_their_reasons(tmp_path: Path) -> None:
    write(tmp_path / "corpus", {".hidden": "x", "photo.raw": b"\x89\0\xff\x01\0\x02\xfe" * 99, "dots.txt": "... !"})
    result = run("index", "corpus")

    assert 0 == result.exit_code
    assert "5 indexed, 0 unchanged, 3 skipped" == SECONDS.sub("", result.stdout)
    assert [
        "  1 no words: corpus/dots.txt",
        "  1 binary: corpus/photo.raw",
        "  1 hidden: corpus/.hidden",
    ] == result.stderr.splitlines()


def test_a_long_list_of_skipped_files_is_shortened(tmp_path: Path) -> None:
    write(tmp_path / "corpus", {f".{number:02}": "x" for number in range(30)})

    assert [
        "  30 hidden: corpus/.00, corpus/.01, corpus/.02 and 27 more",
        "  --json lists all skipped files",
    ] == run("index", "corpus").stderr.splitlines()
    assert 30 == len(answer("index", "corpus")["skipped"])


def test_max_size_skips_larger_files() -> None:
    report = answer("index", "corpus", "--max-size", "0.00175")

    assert 4 == report["added_count"]
    assert [("corpus/other.txt", "1,799 bytes are over the limit of 1,750")] == [
        (file["path"], file["reason"]) for file in report["skipped"]
    ]


@pytest.mark.parametrize("size", ["nan", "-1"])
def test_an_invalid_size_is_a_usage_error(size: str) -> None:
    assert "max-size" in usage_error(run("index", "corpus", "--max-size", size))


# --- JSON and stderr ---


@pytest.mark.parametrize("option", slow_after(0, ["--store=a", "--json"]))
def test_progress_is_shown_on_a_terminal_and_not_on_stdout(tmp_path: Path, option: str) -> None:
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "simdoc_search", "index", "corpus", option]
    env = environment(TERM="xterm")
    done = subprocess.run(command, check=True, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
    os.close(theirs)
    os.set_blocking(ours, False)
    try:
        seen = os.read(ours, 1 << 16).decode()
    except OSError:  # nothing was written
        seen = ""
    os.close(ours)

    assert (option != "--json") == ("documents" in seen)
    assert b"documents" not in done.stdout
    assert b"5" in done.stdout
