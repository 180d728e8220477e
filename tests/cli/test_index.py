"""`simdoc-search index`: documents go in, counts come out, and a second run does only what is new."""

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
    process,
    run,
    usage_error,
    words,
    write,
    write_corpus,
)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder in which the commands run, with a corpus in it."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")
    return tmp_path


def documents() -> int:
    """How many documents the store has."""
    return int(answer("info")["documents"])


def hits(asked: str) -> list[str]:
    """The ids that are similar to a document."""
    return [hit["id"] for hit in answer("similar", asked)["hits"]]


SECONDS = re.compile(r" in \d+\.\d s\n\Z")


def counts(*arguments: str, stdin: str | bytes | None = None) -> dict[str, int]:
    """The counts that are not zero."""
    report: dict[str, Any] = answer("index", *arguments, stdin=stdin)
    return {name: value for name, value in report.items() if isinstance(value, int) and value}


# --- what is indexed ---


def test_a_folder_is_indexed_with_all_below_it() -> None:
    """Ids are paths below the folder, and the counts are one line on stdout."""
    result = run("index", "corpus")

    assert (0, "") == (result.exit_code, result.stderr)
    assert "5 indexed, 0 unchanged" == SECONDS.sub("", result.stdout)
    assert ["reports/copy.txt", "reports/half.txt", "notes/old.txt"] == hits("doc123.txt")


def test_files_are_indexed_under_their_names() -> None:
    """A named file's id is its name, wherever it lies; several may be named."""
    assert {"indexed": 2} == counts("corpus/doc123.txt", "corpus/reports/copy.txt")
    assert ["copy.txt"] == hits("doc123.txt")


def test_a_jsonl_file_holds_a_document_per_line(folder: Path) -> None:
    """Keys other than id and text can be asked for with --filter."""
    lines = json_lines({"id": "a", "text": words(0, 50)}, {"id": "b", "text": words(0, 50), "language": "de"})
    write(folder, {"docs.jsonl": lines})

    assert {"indexed": 2} == counts("docs.jsonl")
    assert ["b"] == [hit["id"] for hit in answer("similar", "a", "--filter", "language=de")["hits"]]
    assert [] == answer("similar", "a", "--filter", "language=fr")["hits"]


def test_the_keys_of_id_and_text_can_be_named(folder: Path) -> None:
    """--id-field and --text-field say what they are called in this file; numbers can be ids."""
    write(folder, {"docs.jsonl": json_lines({"nr": 7, "body": words(0, 50)}, {"nr": 8, "body": words(0, 50)})})

    assert {"indexed": 2} == counts("docs.jsonl", "--id-field", "nr", "--text-field", "body")
    assert ["8"] == hits("7")


def test_stdin_is_jsonl() -> None:
    """`-` reads a document per line."""
    lines = json_lines({"id": "a", "text": words(0, 50)}, {"id": "é", "text": words(0, 50)})

    assert {"indexed": 2} == counts("-", stdin=lines)
    assert ["é"] == hits("a")


def test_stdin_is_one_text_where_it_is_given_an_id() -> None:
    """`- --stdin-id ID` takes all of it as that document."""
    assert {"indexed": 1} == counts("-", "--stdin-id", "me", stdin=words(0, 200))
    assert {"indexed": 5} == counts("corpus")
    assert "me" in hits("doc123")


def test_kinds_of_sources_can_be_mixed(folder: Path) -> None:
    """A folder, a JSONL file and stdin go into one run."""
    write(folder, {"docs.jsonl": json_lines({"id": "a", "text": "one"})})

    assert {"indexed": 7} == counts("corpus", "docs.jsonl", "-", stdin=json_lines({"id": "b", "text": "two"}))


# --- running again ---


def test_a_second_run_changes_nothing() -> None:
    """What is as it was is counted as unchanged."""
    output("index", "corpus")

    assert "0 indexed, 5 unchanged" == SECONDS.sub("", output("index", "corpus"))


def test_a_changed_file_is_replaced_and_a_new_one_added(folder: Path) -> None:
    """Both counts are shown, and the store has the new text."""
    output("index", "corpus")
    write(folder / "corpus", {"other.txt": words(0, 100) + " and more", "new.txt": words(0, 200)})

    assert "1 indexed, 4 unchanged, 1 replaced" == SECONDS.sub("", output("index", "corpus"))
    assert {"new.txt", "other.txt"} < set(hits("doc123"))


def test_prune_removes_what_has_vanished(folder: Path) -> None:
    """Without --prune a document outlives its file."""
    output("index", "corpus")
    (folder / "corpus/other.txt").unlink()

    assert {"unchanged": 4} == counts("corpus")
    assert {"unchanged": 4, "deleted": 1} == counts("corpus", "--prune")
    assert 4 == documents()


def test_prune_leaves_other_folders_alone(folder: Path) -> None:
    """Only the folders of this run are compared with the store."""
    write(folder, {"more/a.txt": "one two three", "more/b.txt": "four five six"})
    output("index", "corpus", "more")
    (folder / "more/a.txt").unlink()

    assert {"unchanged": 5} == counts("corpus", "--prune")
    assert 7 == documents()


def test_checksum_reads_files_that_look_unchanged(folder: Path) -> None:
    """A change that leaves size and time as they were is seen with --checksum only."""
    output("index", "corpus")
    file = folder / "corpus/other.txt"
    before = file.stat()
    file.write_text(words(9000, 9200).replace("word9", "drow9"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))

    assert {"unchanged": 5} == counts("corpus")
    assert {"unchanged": 4, "replaced": 1} == counts("corpus", "--checksum")


@pytest.mark.slow
def test_the_number_of_workers_changes_no_result(folder: Path) -> None:
    """Two processes give the store that one gives."""
    write(folder / "many", {f"{n:03}.txt": words(n * 7, n * 7 + 60) for n in range(330)})

    for workers, store in (("1", "one"), ("2", "two")):
        assert {"indexed": 330} == counts("many", "--workers", workers, "--store", store)

    asked = ("similar", "100", "--size", "50", "--store")
    assert answer(*asked, "one") == answer(*asked, "two")
    assert 1 < len(answer(*asked, "two")["hits"])


# --- what is skipped ---


def test_skipped_files_are_listed_on_stderr_with_their_reasons(folder: Path) -> None:
    """stdout has the count alone; the run succeeds. What matters most comes first."""
    write(folder / "corpus", {".hidden": "x", "photo.raw": b"\x89\0\xff\x01\0\x02\xfe" * 99, "dots.txt": "... !"})
    result = run("index", "corpus")

    assert 0 == result.exit_code
    assert "5 indexed, 0 unchanged, 3 skipped" == SECONDS.sub("", result.stdout)
    assert [
        "  1 no words: corpus/dots.txt",
        "  1 binary: corpus/photo.raw",
        "  1 hidden: corpus/.hidden",
    ] == result.stderr.splitlines()


def test_a_long_list_of_skipped_files_is_summed_up(folder: Path) -> None:
    """People see a line for each reason, with three files; --json has them all."""
    write(folder / "corpus", {f".{number:02}": "x" for number in range(30)})

    assert [
        "  30 hidden: corpus/.00, corpus/.01, corpus/.02 and 27 more",
        "  --json lists all of them",
    ] == run("index", "corpus").stderr.splitlines()
    assert 30 == len(answer("index", "corpus")["skipped"])


def test_max_size_skips_larger_files() -> None:
    """It is in megabytes, and fractions are fine; the reason shows both sizes, and the option that helps is named."""
    report = answer("index", "corpus", "--max-size", "0.00175")

    assert 4 == report["indexed"]
    assert [("corpus/other.txt", "1,799 bytes are over the limit of 1,750")] == [
        (each["path"], each["reason"]) for each in report["skipped"]
    ]


@pytest.mark.parametrize("size", ["nan", "inf", "-1", "x"])
def test_a_size_that_is_no_number_is_a_usage_error(size: str) -> None:
    """What cannot be a number of bytes is refused before anything is read."""
    assert "max-size" in usage_error(run("index", "corpus", "--max-size", size))


# --- JSON and stderr ---


def test_json_has_the_promised_keys(folder: Path) -> None:
    """stdout holds one object and nothing else, stderr nothing."""
    write(folder / "corpus", {".hidden": "x"})
    result = run("index", "corpus", "--json")
    report = answer("index", "corpus")

    assert (0, "") == (result.exit_code, result.stderr)
    counts = ["indexed", "unchanged", "replaced", "deleted", "duplicates"]

    assert [*counts, "skipped", "refused", "incomplete", "problems", "notes", "seconds"] == list(report)
    assert (0, 5, 0, 0, 0) == tuple(report.values())[:5]
    assert [{"path": "corpus/.hidden", "reason": "hidden"}] == report["skipped"]
    assert 0 <= report["seconds"] < 60


@pytest.mark.slow
def test_no_progress_is_shown_where_stderr_is_no_terminal(folder: Path) -> None:
    """A process whose output is caught writes the result and nothing else."""
    done = process("index", "corpus", cwd=folder)

    assert (0, "") == (done.returncode, done.stderr)
    assert "5 indexed, 0 unchanged" == SECONDS.sub("", done.stdout)


@pytest.mark.parametrize("option", ["--store=a", "--json"])
def test_progress_is_shown_on_a_terminal_and_not_on_stdout(folder: Path, option: str) -> None:
    """The count of documents goes to the terminal that is stderr; with --json it is off."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals on this system")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "simdoc_search", "index", "corpus", option]
    env = environment(TERM="xterm")
    done = subprocess.run(command, check=True, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=theirs, timeout=60)
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
