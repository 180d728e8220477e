"""What goes wrong around an index: loops, odd names, closed folders, two writers, and too much of a thing.

`scripts/stress.py` does the last ones at full size.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support import cli
from tests.support.texts import documents

pytestmark = pytest.mark.slow

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files, limits and users")

# A command by a user without rights. Python's own files may be closed to that user: what is needed is loaded before.
AS_NOBODY = """
import os, sys
import importlib.readers, rich.console, rich.progress, rich.table
import simdoc_search.corpus, simdoc_search.search.similarity_search, simdoc_search.stores.local.store
import simdoc_search.cli.group, simdoc_search.cli.index, simdoc_search.cli.similar, simdoc_search.cli.info
from simdoc_search.cli import main
simdoc_search.compare('some words', 'other words')  # reads files of the package, which nobody may
if os.geteuid() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
main()
"""


def write_lines(path: Path, name: str, count: int, words: int = 200) -> set[str]:
    """A JSONL file of so many documents; their ids."""
    found = {f"{name}{number}": each.text for number, each in enumerate(documents(name, count, words))}
    path.write_text(cli.json_lines(*({"id": id, "text": text} for id, text in found.items())), encoding="utf-8")
    return set(found)


def stored(store: Path) -> set[str]:
    """The ids in a store."""
    opened = open_store(store)
    try:
        return {each.id for each in opened.scan()}
    finally:
        opened.close()


@posix_only
def test_loops_of_links_end(tmp_path: Path) -> None:
    """Folders that contain themselves, and links that lead to themselves, are listed; each file is indexed once."""
    corpus = cli.write(tmp_path / "corpus", {"a/b/c/x.txt": cli.words(0, 20), "y.txt": cli.words(20, 40)})
    for place in ("a/up", "a/b/up", "a/b/c/up"):
        (corpus / place).symlink_to(corpus)
    (corpus / "one").symlink_to("two")
    (corpus / "two").symlink_to("one")
    report = cli.answer("index", corpus, "--store", tmp_path / "store")
    loops, circles = "a link to a folder that is entered already", "too many levels of symbolic links"

    assert {"a/b/c/x.txt", "y.txt"} == stored(tmp_path / "store")
    assert {"a/up/": loops, "a/b/up/": loops, "a/b/c/up/": loops, "one": circles, "two": circles} == {
        each["path"].removeprefix(f"{corpus}/"): each["reason"] for each in report["skipped"]
    }


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_not_utf8_cost_only_themselves(tmp_path: Path) -> None:
    """Such files are listed with their bytes, for people and as JSON; the others are indexed, also by workers."""
    corpus = cli.write(tmp_path / "corpus", {"good.txt": cli.words(0, 20)})
    Path(os.fsdecode(os.fsencode(corpus) + b"/caf\xe9.txt")).write_text("some words", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(corpus) + b"/d\xff")).mkdir()
    listed = cli.process("index", "corpus", "--store", "one", "--workers", 2, cwd=tmp_path)
    report = json.loads(cli.process("index", "corpus", "--store", "two", "--json", cwd=tmp_path).stdout)
    reason = "the name is not valid UTF-8"

    assert {"good.txt"} == stored(tmp_path / "one") == stored(tmp_path / "two")
    assert rf"2 {reason}: corpus/caf\xe9.txt, corpus/d\xff/" == listed.stderr.strip()
    assert {r"corpus/caf\xe9.txt", r"corpus/d\xff/"} == {each["path"] for each in report["skipped"]}


@posix_only
def test_a_store_in_a_closed_folder_is_one_sentence(tmp_path: Path) -> None:
    """Without the right to write in its folder a store is neither made nor written; it is read, and stays as it is."""
    cli.write(tmp_path, {"a.txt": cli.words(0, 20), "closed/b.txt": ""})
    cli.output("index", tmp_path / "a.txt", "--store", tmp_path / "store")
    folders = [tmp_path / "closed", tmp_path / "store", tmp_path / "store" / "index"]
    tmp_path.chmod(0o755)
    for file in (tmp_path / "store").rglob("*"):
        file.chmod(0o644)
    for folder in folders:
        folder.chmod(0o555)
    try:
        made = cli.script(AS_NOBODY, "index", "a.txt", "--store", "closed/store", cwd=tmp_path)
        written = cli.script(AS_NOBODY, "index", "a.txt", "--store", "store", cwd=tmp_path)
        read = cli.script(AS_NOBODY, "similar", "a.txt", "--store", "store", cwd=tmp_path)
    finally:
        for folder in folders:
            folder.chmod(0o755)

    assert "cannot open the store closed/store: Permission denied; check the path and its permissions" == cli.sentence(
        made
    )
    assert "no write permission in its folder" in cli.sentence(written)
    assert 0 == read.returncode, read.stderr
    assert {"a.txt"} == stored(tmp_path / "store")


def test_of_two_processes_that_index_at_once_one_is_told_to_wait(tmp_path: Path) -> None:
    """The second writer of a store is one sentence and exit code 1; the first loses nothing, the second may retry."""
    first = write_lines(tmp_path / "first.jsonl", "first", 100)
    second = write_lines(tmp_path / "second.jsonl", "second", 100)
    command = [sys.executable, "-m", "simdoc_search", "index", "-", "--store", "store", "--workers", "1"]
    in_background = subprocess.Popen(command, cwd=tmp_path, env=cli.environment(), stdin=subprocess.PIPE)
    try:
        assert in_background.stdin
        in_background.stdin.write((tmp_path / "first.jsonl").read_bytes())
        in_background.stdin.flush()
        while not (tmp_path / "store/index/.tantivy-writer.lock").exists():
            assert in_background.poll() is None
            time.sleep(0.01)
        refused = cli.process("index", "second.jsonl", "--store", "store", cwd=tmp_path)
        in_background.communicate(timeout=60)
    finally:
        in_background.kill()
        in_background.wait()
    again = cli.process("index", "second.jsonl", "--store", "store", cwd=tmp_path)

    assert "another writer is writing to the store store; try again when it is done" == cli.sentence(refused)
    assert (0, 0) == (in_background.returncode, again.returncode)
    assert first | second == stored(tmp_path / "store")


def test_of_many_identical_documents_all_are_counted_and_some_are_hits(tmp_path: Path) -> None:
    """As many hits as asked for, sorted by id; the count of candidates is exact, with and without a probability."""
    search = SimilaritySearch(open_store(tmp_path / "store", create=True))
    search.index(Document(f"copy{number:04}", cli.words(0, 300)) for number in range(3000))
    results = [search.similar(f"copy0000{shares}") for shares in ("", "_80", "_20_80", "_100_100")]

    assert [2999] * 4 == [each.candidates for each in results]
    for hits in ([hit.id for hit in each.hits] for each in results):
        assert 10 == len(set(hits) - {"copy0000"})
        assert sorted(hits) == hits
    assert {1.0} == {hit.overlap for each in results for hit in each.hits}


@pytest.mark.parametrize("piece", ["many words ", "\u0301"])
def test_a_line_may_be_of_any_length(tmp_path: Path, piece: str) -> None:
    """A text of 20 MB without a line break is a document, and those after it in the file are read."""
    large = (piece * (20_000_000 // len(piece.encode()))).strip()
    lines = cli.json_lines({"id": "large", "text": "a b c d e f " + large}, {"id": "small", "text": "other words"})
    cli.write(tmp_path, {"a.jsonl": lines})

    assert 2 == cli.answer("index", tmp_path / "a.jsonl", "--store", tmp_path / "store")["indexed"]
    assert {"large", "small"} == stored(tmp_path / "store")


def test_many_skips_are_a_few_lines(tmp_path: Path) -> None:
    """20,000 empty files are one line with some of their names; what has words is indexed."""
    cli.write(tmp_path / "corpus", {"z.txt": cli.words(0, 20)})
    for number in range(20_000):
        (tmp_path / f"corpus/{number:05}.txt").touch()
    result = cli.run("index", tmp_path / "corpus", "--store", tmp_path / "store")
    some = ", ".join(f"{tmp_path}/corpus/{number:05}.txt" for number in range(3))

    assert (0, "1 indexed, 0 unchanged, 20,000 skipped") == (result.exit_code, result.stdout.partition(" in ")[0])
    assert f"20,000 no words: {some} and 19,997 more\n  --json lists all of them" == result.stderr.strip()
