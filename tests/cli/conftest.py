"""A corpus that several files of tests ask about."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import json_lines, output, words, write, write_corpus


@pytest.fixture(scope="session")
def similar_corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an indexed corpus, and a draft that is not indexed; no test changes it."""
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
