"""A text to its paragraphs: at empty lines, and in pieces of a size that can be compared."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.chunks.paragraphs import LONGEST_PARAGRAPH, SHORTEST_PARAGRAPH, paragraph_spans
from tests.versions.paper import DOCUMENTS

LONG = "This sentence has some words, but not many of them. "


def paragraphs(text: str) -> list[str]:
    """The paragraphs themselves."""
    return [text[begin:end] for begin, end in paragraph_spans(text)]


@pytest.mark.parametrize("number", range(5))
def test_paragraphs_end_at_empty_lines(number: int) -> None:
    """Also at such as hold space, and whatever ends a line."""
    text = DOCUMENTS[number]

    assert text.split("\n\n") == paragraphs(text)
    assert text.split("\n\n") == paragraphs(text.replace("\n\n", "\n \t\n\n"))
    assert text.split("\n\n") == paragraphs(text.replace("\n\n", "\r\n\r\n"))
    assert text.split("\n\n") == paragraphs(text.replace("\n\n", "\f"))


def test_a_short_one_belongs_to_the_next() -> None:
    """As a heading does; the last one to the one before."""
    text = f"Heading\n\n{LONG * 3}\n\n{LONG * 4}\n\nend"

    assert [f"Heading\n\n{LONG * 3}".rstrip(), f"{LONG * 4}\n\nend"] == paragraphs(text)
    assert ["short"] == paragraphs("short")
    assert [] == paragraphs(" \n\n \n")


def test_a_long_one_is_cut_where_it_is_best() -> None:
    """After a sentence; else at the end of a line, between words, anywhere."""
    assert all(each.endswith(".") for each in paragraphs(LONG * 100))
    assert all(each.startswith("line") for each in paragraphs("line without an end\n" * 200))
    assert {"word"} == {each for piece in paragraphs("word " * 2000) for each in piece.split()}
    assert [LONGEST_PARAGRAPH] * 3 == list(map(len, paragraphs("x" * 3 * LONGEST_PARAGRAPH)))


@given(st.text(st.sampled_from("ab. \n\r\f"), max_size=3000))
def test_nothing_but_space_is_lost(text: str) -> None:
    """In order, without space around them, none too long, and none too short beside others."""
    found = paragraphs(text)

    assert "".join(text.split()) == "".join("".join(found).split())
    assert all(each == each.strip() and 0 < len(each) for each in found)
    assert all(len(each) <= LONGEST_PARAGRAPH + SHORTEST_PARAGRAPH + 4 for each in found) or "\n" in text
