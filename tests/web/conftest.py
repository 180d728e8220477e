"""Fixtures: a server over a small corpus with versions and concepts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from simdoc_search import Document, SimilaritySearch, open_store
from tests.support.cli import json_lines, output, words, write_corpus
from tests.support.web import Pages, pages_over


@pytest.fixture(scope="session")
def served_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of files and of documents with metadata. Tests must not change it."""
    folder = tmp_path_factory.mktemp("served")
    write_corpus(folder / "corpus")
    german = {"id": "german", "text": words(0, 200), "language": "de", "year": 2020, "path": "reports/german"}
    letters = [
        {"id": f"letters/{number}", "text": f"Ada Quill asked the county council to mend {what} of Eastmouth harbour."}
        for number, what in enumerate(("the north pier", "the old lighthouse"), 1)
    ]
    command = ["index", folder / "corpus", "-", "--store", folder / "store", "--with", "versions,related"]
    output(*command, stdin=json_lines(german, *letters))
    return folder / "store"


@pytest.fixture(scope="session")
def pages(served_store: Path) -> Iterator[Pages]:
    """A server over this store. Tests must not search it for duplicates."""
    with pages_over(served_store) as running:
        yield running


@pytest.fixture
def over() -> Iterator[Callable[..., Pages]]:
    """Returns a function that starts a server over documents in memory, given their texts by id."""
    with ExitStack() as opened:

        def start(texts: Mapping[str, str], **options: Any) -> Pages:
            store = open_store(":memory:")
            SimilaritySearch(store).index([Document(id, text) for id, text in texts.items()])
            return opened.enter_context(pages_over(store, **options))

        yield start
