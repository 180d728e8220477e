"""Corpora that several test files use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support.cli import json_lines, output, words, write, write_corpus
from tests.support.duplicate_files import DAY, FILES
from tests.support.quoting_texts import BEGIN, BOOK, PAPER, QUOTE, prose


@pytest.fixture
def indexed(tmp_path: Path) -> Path:
    """An empty folder. A test file can define a folder with an index instead."""
    return tmp_path


@pytest.fixture
def folder(indexed: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to the folder `indexed`, and return it."""
    monkeypatch.chdir(indexed)
    return indexed


@pytest.fixture(scope="session")
def similar_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and a draft that is not indexed."""
    folder = tmp_path_factory.mktemp("similar")
    write_corpus(folder / "corpus")
    write(folder, {"draft.txt": words(0, 150) + " " + words(3000, 3050)})
    lines = [
        {"id": "german", "text": words(4000, 4100), "language": "de", "year": 2020, "path": "reports/1"},
        {"id": "english", "text": words(4000, 4100), "language": "en", "year": 2020, "path": "reports/2"},
        {"id": "elsewhere", "text": words(4000, 4100), "language": "de", "year": 2021, "path": "notes/3"},
    ]
    write(folder, {"docs.jsonl": json_lines(*lines)})
    output("index", folder / "corpus", folder / "docs.jsonl", "--store", folder / ".simdoc")
    return folder


@pytest.fixture(scope="session")
def passages_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and files that are not indexed."""
    folder = tmp_path_factory.mktemp("passages")
    corpus = {
        "papers/mine.txt": PAPER,
        "sources/book.txt": BOOK,
        "sources/short.txt": f"{BEGIN} {prose(60, 7)}",
        "drafts/notes.txt": f"{QUOTE} {prose(30, 8)}",
        "top.txt": prose(200, 9),
    }
    write(folder, {f"corpus/{name}": text for name, text in corpus.items()})
    write(folder, {"essay.txt": PAPER, "essays/one.txt": PAPER, "essays/two.txt": prose(90, 10), "docs.jsonl": ""})
    write(
        folder, {"essays/sub/three.txt": f"{prose(80, 11)} {BEGIN}", "essays/empty.txt": "...", "essays/x.bin": b"\0"}
    )
    rows = [{"id": "row 1", "text": QUOTE}, {"id": "row 2", "text": prose(70, 12)}]
    write(folder, {"rows.jsonl": json_lines(*rows), "ids.txt": "papers/mine.txt\nnobody\n./corpus/top.txt\n"})
    german = {"id": "german", "text": f"{prose(90, 13)} {QUOTE}", "language": "de"}
    write(folder, {"german.jsonl": json_lines(german)})
    output("index", folder / "corpus", "--store", folder / ".simdoc")
    output("index", folder / "corpus", folder / "german.jsonl", "--store", folder / "languages")
    output("index", folder / "corpus", "--store", folder / "textless", "--no-texts")
    return folder


@pytest.fixture
def in_similar_corpus(similar_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in the folder of this corpus."""
    monkeypatch.chdir(similar_corpus)


@pytest.fixture
def in_passages_corpus(passages_corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in the folder of this corpus."""
    monkeypatch.chdir(passages_corpus)


@pytest.fixture
def in_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run commands in `tmp_path`, which contains a corpus."""
    monkeypatch.chdir(tmp_path)
    write_corpus(tmp_path / "corpus")


@pytest.fixture
def in_indexed_corpus(in_corpus: None) -> None:
    """Run commands in `tmp_path`, which contains a corpus and its index."""
    output("index", "corpus")


@pytest.fixture
def copies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to a folder whose subfolder `docs` has five files, all with the same date."""
    write(tmp_path / "docs", FILES)
    for name in FILES:
        os.utime(tmp_path / "docs" / name, (400 * DAY, 400 * DAY))
    monkeypatch.chdir(tmp_path)
    return tmp_path
