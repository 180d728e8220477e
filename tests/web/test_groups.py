"""The whole collection in the browser: families of versions, and topics; and what a document's page says of them."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import answer
from tests.support.web import Pages


def waited(pages: Pages, path: str, **values: Any) -> Any:
    """What is found when the search has ended."""
    for _ in range(200):
        said = pages.client.get(f"{path}.json", params=values).json()
        if said["state"] != "running":
            return said
        time.sleep(0.05)
    raise AssertionError("the search does not end")


@pytest.mark.parametrize(
    ("path", "command"),
    [("/families", ["versions", "--no-version-control"]), ("/topics", ["related"])],
)
def test_groups_are_those_of_the_command_line(pages: Pages, served_store: Path, path: str, command: list[str]) -> None:
    """After a search that runs beside the requests; the page shows the same documents."""
    started = pages.sent(path, 202)
    found = waited(pages, path)
    page = pages.html(path)

    assert "running" == started["state"]
    assert {"state": "done", **answer(*command, "--all", "--store", served_store), "next": None} == found
    assert found["groups"]
    for group in found["groups"]:
        for each in group.get("timeline", group.get("related")):
            assert each["id"] in page
    assert [] == waited(pages, path, start=5)["groups"]


def test_a_collection_without_concepts_has_no_topics_but_families(over: Callable[..., Pages]) -> None:
    """It is said what to do; nothing is found before somebody looks."""
    plain = over({"a": "One sentence is here. Another sentence is there.", "b": "Something else was said by nobody."})

    assert "without concepts" in plain.json("/topics", 404)["error"]
    assert "without concepts" in plain.sent("/topics", 404)["error"]
    assert "without concepts" in plain.json("/concepts", 404, id="a")["error"]
    assert {"state": "none", "problem": None} == plain.json("/families")
    assert "Look for families" in plain.html("/families")
    plain.sent("/families", 202)
    assert 0 == waited(plain, "/families")["families"]
    assert "No families among 2 documents" in plain.html("/families")
    assert "On the same topic" not in plain.html("/document", id="a")


def test_the_page_of_a_document_names_related_ones(pages: Pages) -> None:
    """Also of one that overlaps none: the letters share their topic, and too little of their text."""
    page, said = pages.html("/document", id="letters/1"), pages.json("/document", id="letters/1")

    assert ["letters/2"] == [each["id"] for each in said["related"]["hits"]]
    assert "On the same topic" in page
    assert "letters/2" in page.partition("On the same topic")[2]
    assert "None" not in page


def test_an_explanation_and_the_concepts_are_shown(pages: Pages) -> None:
    """With the words, and what led to them."""
    page = pages.html("/related", id="letters/1", explain="on")

    assert "Similarity of concepts" in page
    assert "quill" in page
    assert "Similarity of concepts" not in pages.html("/related", id="letters/1")
    assert "Ada Quill" in pages.html("/concepts", id="letters/1")
