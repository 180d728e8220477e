"""Families of versions, topics, related documents and concepts in the browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.cli import answer
from tests.support.web import Pages


@pytest.mark.parametrize(("path", "command"), [("/families", "versions"), ("/topics", "related")])
def test_the_groups_are_those_of_the_command_line(pages: Pages, served_store: Path, path: str, command: str) -> None:
    """The page shows the same documents."""
    assert "running" == pages.sent(path, 202)["state"]
    result = pages.finished(path)
    page = pages.html(path)

    assert {"state": "done", **answer(command, "--all", "--store", served_store), "next": None} == result
    assert result[path[1:]]
    for group in result[path[1:]]:
        for document in group.get("timeline", group.get("related")):
            assert document["id"] in page
    assert [] == pages.json(path, start=5)[path[1:]]


def test_an_index_without_concepts_has_families_but_no_topics(over: Callable[..., Pages]) -> None:
    """The answer says how to add concepts."""
    plain = over({"a": "One sentence is here. Another sentence is there.", "b": "Something else was said by nobody."})

    for path in ("/topics", "/concepts", "/related"):
        assert "has no concepts" in plain.json(path, 404, id="a")["error"]
    assert "has no concepts" in plain.sent("/topics", 404)["error"]
    assert {"state": "none", "problem": None} == plain.json("/families")
    assert "Find versions" in plain.html("/families")
    assert 'href="/topics"' not in plain.html("/families")
    plain.sent("/families", 202)
    assert 0 == plain.finished("/families")["family_count"]
    assert "No families among 2 documents" in plain.html("/families")
    page = plain.html("/document", id="a")
    assert "/versions?" in page
    assert "/related?" not in page


def test_the_question_mark_after_a_date_is_explained(over: Callable[..., Pages]) -> None:
    text = "The harbour was closed in winter. Nobody had repaired the crane. The council promised a new light."
    served = over({name: f"{text} {name}." for name in ("lease v1", "lease v2", "2021-05-02 lease")})
    served.sent("/families", 202)
    served.finished("/families")
    html = served.html("/families")

    assert "2 May 2021?" in served.html("/versions", id="lease v1") + html
    assert "A date or version with ? does not show which document is newer." in html


def test_copies_and_short_texts_are_explained(over: Callable[..., Pages]) -> None:
    served = over({"note": "Milk and bread", "note (1)": "Milk and bread"})
    served.sent("/families", 202)
    served.finished("/families")

    assert "Not listed: 1 group of copies (2 documents) with the same words and punctuation." in served.html(
        "/families"
    )
    assert "A text of 3 words is too short to find edited versions." in served.html("/versions", id="note")
    assert served.json("/versions", id="note")["text_note"].startswith("a text of 3 words is too short")


def test_the_page_of_a_document_has_related_documents(pages: Pages) -> None:
    """The two letters are on the same topic, but their texts do not overlap."""
    page, result = pages.html("/document", id="letters/1"), pages.json("/document", id="letters/1")

    assert ["letters/2"] == [hit["id"] for hit in result["related"]["hits"]]
    assert "letters/2" in page.partition("On the same topic")[2]
    assert "None" not in page


def test_concepts_are_shown(pages: Pages) -> None:
    """An explanation shows their share of a score."""
    page = pages.html("/related", id="letters/1", explain="on")

    assert "Similarity of concepts" in page
    assert "quill" in page
    assert "Similarity of concepts" not in pages.html("/related", id="letters/1")
    assert "Ada Quill" in pages.html("/concepts", id="letters/1")
