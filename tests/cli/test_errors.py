"""Paths that cannot be read, files that lose their words, and repeated ids."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer, environment, json_lines, output, run, sentence, words, write, write_corpus

pytestmark = pytest.mark.usefixtures("folder")


def index(folder: Path, *lines: Mapping[str, object]) -> None:
    """Index some documents."""
    output("index", "-", stdin=json_lines(*lines))


def reasons(report: Any) -> dict[str, str]:
    """Map the name of each skipped file or line to the reason."""
    return {file["path"].rpartition("/")[2]: file["reason"] for file in report["skipped"]}


# --- folders and files ---


def test_an_empty_folder_is_an_error_and_leaves_no_store(folder: Path) -> None:
    """The user probably meant another folder."""
    (folder / "empty").mkdir()

    assert "empty has no files; give a folder that contains documents" == sentence(run("index", "empty"))
    assert ["empty"] == [path.name for path in folder.iterdir()]


def test_a_missing_path_is_an_error_before_anything_is_read(folder: Path) -> None:
    """The other paths are not indexed either, and no store is created."""
    write_corpus(folder / "corpus")

    assert "missing does not exist; check the path" == sentence(run("index", "corpus", "missing"))
    assert ["corpus"] == [path.name for path in folder.iterdir()]


AS_NOBODY = """
import os, sqlite3, sys
from simdoc_search.cli.group import cli, load_commands
from simdoc_search import fingerprint
from simdoc_search.corpus import read_corpus
from simdoc_search.indexing import run
from simdoc_search.search import similarity_search
from simdoc_search.stores import local
from rich import console, progress
load_commands()
fingerprint("loads all tables and codecs, for the interpreter itself may be out of reach from here on")
"loads the codec".encode("utf-16-le")
if os.geteuid() == 0:  # permissions mean nothing to root
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
cli(sys.argv[1:], prog_name="simdoc-search")
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that any user can read and write. Other users cannot reach the folders of pytest."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o777)
        yield Path(name)


def as_nobody(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a user without special rights."""
    command = [sys.executable, "-c", AS_NOBODY, *arguments]
    return subprocess.run(
        command, check=False, cwd=folder, env=environment(), capture_output=True, text=True, timeout=60
    )


no_permissions = pytest.mark.skipif(os.name == "nt", reason="Windows has other permissions")


@pytest.mark.slow
@no_permissions
def test_a_folder_without_read_permission_is_an_error(public: Path) -> None:
    """The message says what to do."""
    write_corpus(public / "corpus").chmod(0)
    done = as_nobody(public, "index", "corpus")
    (public / "corpus").chmod(0o755)

    assert (1, "") == (done.returncode, done.stdout)
    assert "Error: no permission to read corpus; change its permissions or run as another user\n" == done.stderr


@pytest.mark.slow
@no_permissions
def test_a_file_without_read_permission_is_skipped(public: Path) -> None:
    """The other files are indexed."""
    (write_corpus(public / "corpus") / "other.txt").chmod(0)
    done = as_nobody(public, "index", "corpus")

    assert (0, "1 permission denied: corpus/other.txt") == (done.returncode, done.stderr.strip())
    assert done.stdout.startswith("4 indexed, 0 unchanged, 1 skipped in ")


def test_a_query_file_must_be_readable(folder: Path) -> None:
    """The sentence says whether the file is missing, a folder, binary or damaged."""
    index(folder, {"id": "a", "text": "one two three"})
    write(folder, {"data.raw": b"\x89\0\xff\x01\0\x02\xfe" * 99, "paper.pdf": b"%PDF-1.7", "sub/a.txt": "x"})

    assert "missing does not exist; check the path" == sentence(run("similar", "--file", "missing"))
    assert "sub is a folder; give a file in it" == sentence(run("similar", "--file", "sub"))
    assert "data.raw cannot be read: binary" == sentence(run("similar", "--file", "data.raw"))
    assert sentence(run("similar", "--file", "paper.pdf")).startswith("paper.pdf cannot be read: damaged: ")


# --- what is in the files ---


def test_a_document_that_loses_its_words_is_removed_from_the_store(folder: Path) -> None:
    """Its stored fingerprint would be wrong."""
    write(folder / "c", {"a.txt": "one two three", "b.txt": "four five six"})
    output("index", "c")
    write(folder / "c", {"a.txt": "..."})
    report = answer("index", "c")

    assert (1, {"a.txt": "no words"}) == (report["deleted_count"], reasons(report))
    assert 1 == answer("info")["document_count"]


def test_of_two_lines_with_one_id_the_last_wins_and_both_are_counted(folder: Path) -> None:
    """Only one document is stored. Terminal output shows the count, too."""
    lines = [{"id": id, "text": words(start, start + 50)} for id, start in (("a", 0), ("a", 100), ("b", 100))]
    report = answer("index", "-", stdin=json_lines(*lines))

    assert (2, 1) == (report["added_count"], report["repeated_id_count"])
    assert ["a"] == [hit["id"] for hit in answer("similar", "b")["hits"]]
    assert "1 duplicate id" in output("index", "-", stdin=json_lines(*lines))
