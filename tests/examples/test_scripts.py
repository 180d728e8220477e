"""Tests of the smaller examples, and of the README that lists them all."""

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


@pytest.mark.slow
def test_datasketch_estimates_the_same_overlap() -> None:
    assert """\
similar to stove-2021: stove-2023, 81%
similar to the text: kettle, 31%
similar to the text: stove-2021, 15%
datasketch says 81%
""" == run("examples/with_datasketch.py")


@pytest.mark.usefixtures("app")
def test_the_clients_print_what_each_user_may_read(opensearch_url: str, index: str) -> None:
    dsl, asyncio = (run(f"examples/with_{name}.py", opensearch_url, index) for name in ("dsl", "asyncio"))

    assert f"ann: overlap 74%, {SOLD}\nann: overlap 56%, {OLD}\n" == dsl
    assert f"ann: {[(SOLD, 0.74), (OLD, 0.56)]}\neve: []\n" == asyncio


@pytest.mark.parametrize("options", [{}, {"overlap": 0.2}, {"overlap": 0.2, "probability": 0.8}], ids=str)
def test_the_dsl_finds_what_the_application_finds(
    app: Any, client: OpenSearch, index: str, options: dict[str, float]
) -> None:
    similar = import_module("with_dsl").similar
    expected, actual = {}, {}
    for user in ("ann", "ben", "eve"):
        readable = Search(using=client, index=index).filter("terms", readers=[user, "everyone"])
        for id in ("stove-2021", "stove-2024-draft", "letter-17", "kettle", "nobody-wrote-this"):
            expected[user, id] = app.similar(id, user, **options)
            actual[user, id] = similar(readable, id, **options)

    assert [] != expected["ann", "stove-2024-draft"]
    assert expected == actual


def test_a_document_saved_with_asyncio_is_found_by_its_readers(app: Any, opensearch_url: str, index: str) -> None:
    example = import_module("with_asyncio")
    lines = map(json.loads, (EXAMPLES / "manuals.jsonl").read_text("utf-8").splitlines())
    copy = next(line for line in lines if line["id"] == "kettle") | {"title": "Copy", "readers": ["ben"]}

    async def save_and_ask() -> list[list[tuple[str, float]]]:
        async with AsyncOpenSearch(opensearch_url) as client:
            await example.save(client, index, "copy", copy)
            return [await example.similar(client, index, "copy", user, overlap=1) for user in ("ben", "eve")]

    assert [[("Wren kettle, manual", 1.0)], []] == asyncio.run(save_and_ask())
    assert [("Copy", 1.0)] == app.similar("kettle", "ben", overlap=1)
    assert [] == app.similar("kettle", "eve", overlap=1)


@pytest.mark.slow
def test_a_database_prints_what_each_user_may_read(tmp_path: Path) -> None:
    """A second run saves the documents again."""
    ann = f"ann:\n  {OLD} 78%\n  {DRAFT} 74%\n"
    eve = f"eve:\n  {OLD} 78%\n"

    assert [2 * ann + 2 * eve] * 2 == [run("examples/with_sql.py", tmp_path / "manuals.db") for _ in range(2)]


def test_the_readme_links_every_example_and_nothing_else() -> None:
    links = set(re.findall(r"\]\(([^)\s]+)\)", (EXAMPLES / "README.md").read_text("utf-8")))
    files = {
        path.relative_to(EXAMPLES).as_posix()
        for path in EXAMPLES.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert files - {"README.md"} == links
