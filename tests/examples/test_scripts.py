"""The smaller examples run as they are, and the README names every one."""

from __future__ import annotations

import asyncio
import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import AsyncOpenSearch, OpenSearch, Search

from tests.support.examples import DRAFT, EXAMPLES, OLD, SOLD, run

# --- with_datasketch.py ---


@pytest.mark.slow
def test_sketches_of_datasketch_are_asked() -> None:
    """By id and by text, which gets the same values; the estimate is datasketch's own."""
    assert """\
like stove-2021: stove-2023, 81%
like the text: kettle, 30%
like the text: stove-2021, 15%
like the text: stove-2023, 10%
datasketch says 81%
""" == run("examples/with_datasketch.py")


# --- with_dsl.py ---


@pytest.mark.usefixtures("app")
def test_the_dsl_says_this(opensearch_url: str, index: str) -> None:
    """Titles with their overlaps for the author of the draft; nothing for another user."""
    said = f"ann: overlap 74%, {SOLD}\nann: overlap 56%, {OLD}\n"

    assert said == run("examples/with_dsl.py", opensearch_url, index)


@pytest.mark.parametrize("asked", [{}, {"overlap": 0.2}, {"overlap": 0.2, "probability": 0.8}], ids=str)
def test_the_dsl_finds_what_the_application_finds(
    app: Any, client: OpenSearch, index: str, asked: dict[str, float]
) -> None:
    """For each document and user, with and without bands."""
    similar = import_module("with_dsl").similar
    expected, found = {}, {}
    for user in ("ann", "ben", "eve"):
        readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
        for id in ("stove-2021", "stove-2024-draft", "letter-17", "kettle", "nobody-wrote-this"):
            expected[user, id] = app.similar(id, user, **asked)
            found[user, id] = similar(readable, id, **asked)

    assert [] != expected["ann", "stove-2024-draft"]
    assert expected == found


# --- with_asyncio.py ---


@pytest.mark.usefixtures("app")
def test_asyncio_says_this(opensearch_url: str, index: str) -> None:
    """Titles with their overlaps for the author of the draft; nothing for another user."""
    assert f"ann: {[(SOLD, 0.74), (OLD, 0.56)]}\neve: []\n" == run("examples/with_asyncio.py", opensearch_url, index)


def test_a_document_saved_with_asyncio_is_found(app: Any, opensearch_url: str, index: str) -> None:
    """It has its fingerprint from the start; another user neither finds it nor finds by it."""
    example = import_module("with_asyncio")
    lines = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    copy = next(each for each in lines if each["id"] == "kettle") | {"title": "Copy", "readers": ["ben"]}

    async def save_and_ask() -> list[list[tuple[str, float]]]:
        async with AsyncOpenSearch(opensearch_url) as client:
            await example.save(client, index, "copy", copy)
            return [await example.similar(client, index, "copy", user, overlap=1) for user in ("ben", "eve")]

    assert [[("Wren kettle, manual", 1.0)], []] == asyncio.run(save_and_ask())
    assert [("Copy", 1.0)] == app.similar("kettle", "ben", overlap=1)
    assert [] == app.similar("kettle", "eve", overlap=1)


# --- with_sql.py ---


@pytest.mark.slow
def test_a_database_says_this(tmp_path: Path) -> None:
    """Titles with their overlaps, for each user what she may read; again when all is saved again."""
    ann = f"ann:\n  {OLD} 78%\n  {DRAFT} 74%\n"
    eve = f"eve:\n  {OLD} 78%\n"

    assert [2 * ann + 2 * eve] * 2 == [run("examples/with_sql.py", tmp_path / "manuals.db") for _ in range(2)]


# --- README.md ---


def test_the_index_names_every_example_and_no_other() -> None:
    """Each file of the folder is linked, and each link leads somewhere."""
    links = set(re.findall(r"\]\(([^)\s]+)\)", (EXAMPLES / "README.md").read_text("utf-8")))
    files = {
        path.relative_to(EXAMPLES).as_posix()
        for path in EXAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert files - {"README.md"} == links
