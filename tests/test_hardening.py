"""Tests of loops of links, unusual names and large numbers of files."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support import cli

pytestmark = pytest.mark.slow

posix_only = pytest.mark.skipif(os.name != "posix", reason="Windows has no such files, limits and users")


def stored(store: Path) -> set[str]:
    """Return the ids in a store."""
    with open_store(store) as opened:
        return {record.id for record in opened.scan()}


@posix_only
def test_loops_of_links_are_skipped_and_listed(tmp_path: Path) -> None:
    """Each file is indexed only once."""
    corpus = cli.write(tmp_path / "corpus", {"a/b/c/x.txt": cli.words(0, 20), "y.txt": cli.words(20, 40)})
    for place in ("a/up", "a/b/up", "a/b/c/up"):
        (corpus / place).symlink_to(corpus)
    (corpus / "one").symlink_to("two")
    (corpus / "two").symlink_to("one")
    report = cli.answer("index", corpus, "--store", tmp_path / "store")
    loops, circles = "a link to a folder that was already read", "too many levels of symbolic links"

    assert {"a/b/c/x.txt", "y.txt"} == stored(tmp_path / "store")
    assert {"a/up/": loops, "a/b/up/": loops, "a/b/c/up/": loops, "one": circles, "two": circles} == {
        file["path"].removeprefix(f"{corpus}/"): file["reason"] for file in report["skipped"]
    }


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_files_with_names_that_are_not_utf8_are_skipped_and_listed(tmp_path: Path) -> None:
    corpus = cli.write(tmp_path / "corpus", {"good.txt": cli.words(0, 20)})
    Path(os.fsdecode(os.fsencode(corpus) + b"/caf\xe9.txt")).write_text("some words", encoding="utf-8")
    Path(os.fsdecode(os.fsencode(corpus) + b"/d\xff")).mkdir()
    listed = cli.process("index", "corpus", "--store", "one", "--workers", 2, cwd=tmp_path)
    report = json.loads(cli.process("index", "corpus", "--store", "two", "--json", cwd=tmp_path).stdout)
    reason = "the name is not valid UTF-8"

    assert {"good.txt"} == stored(tmp_path / "one") == stored(tmp_path / "two")
    assert rf"2 {reason}: corpus/caf\xe9.txt, corpus/d\xff/" == listed.stderr.strip()
    assert {r"corpus/caf\xe9.txt", r"corpus/d\xff/"} == {file["path"] for file in report["skipped"]}


def test_identical_documents_are_all_counted_as_candidates(tmp_path: Path) -> None:
    """This holds for queries with and without a probability."""
    search = SimilaritySearch(open_store(tmp_path / "store", create=True))
    search.index(Document(f"copy{number:04}", cli.words(0, 300)) for number in range(3000))
    results = [search.similar(f"copy0000{shares}") for shares in ("", "_80", "_20_80", "_100_100")]

    assert [2999] * 4 == [result.candidate_count for result in results]
    for hits in ([hit.id for hit in result.hits] for result in results):
        assert 10 == len(set(hits) - {"copy0000"})
        assert sorted(hits) == hits
    assert {1.0} == {hit.overlap for result in results for hit in result.hits}


@pytest.mark.parametrize("piece", ["many words ", "\u0301"])
def test_a_line_of_20_mb_is_read(tmp_path: Path, piece: str) -> None:
    large = (piece * (20_000_000 // len(piece.encode()))).strip()
    lines = cli.json_lines({"id": "large", "text": "a b c d e f " + large}, {"id": "small", "text": "other words"})
    cli.write(tmp_path, {"a.jsonl": lines})

    assert 2 == cli.answer("index", tmp_path / "a.jsonl", "--store", tmp_path / "store")["added_count"]
    assert {"large", "small"} == stored(tmp_path / "store")


def test_20000_skipped_files_are_summarised_in_two_lines(tmp_path: Path) -> None:
    cli.write(tmp_path / "corpus", {"z.txt": cli.words(0, 20)})
    for number in range(20_000):
        (tmp_path / f"corpus/{number:05}.txt").touch()
    result = cli.run("index", tmp_path / "corpus", "--store", tmp_path / "store")
    first_three = ", ".join(f"{tmp_path}/corpus/{number:05}.txt" for number in range(3))

    assert (0, "1 indexed, 0 unchanged, 20,000 skipped") == (result.exit_code, result.stdout.partition(" in ")[0])
    assert f"20,000 no words: {first_three} and 19,997 more\n  --json lists all skipped files" == result.stderr.strip()
