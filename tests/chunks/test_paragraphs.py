"""Paragraphs end at empty lines, and are joined or cut to a size that can be compared."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.chunks.paragraphs import MAX_PARAGRAPH_LENGTH, MIN_PARAGRAPH_LENGTH, paragraph_spans
from tests.versions.paper import DOCUMENTS

LONG = "This sentence has some words, but not many of them. "


def paragraphs(text: str) -> list[str]:
    return [text[begin:end] for begin, end in paragraph_spans(text)]


def test_paragraphs_end_at_empty_lines_and_form_feeds() -> None:
    """A line with only white space is empty, whatever the line ends are."""
    for text in DOCUMENTS:
        for separator in ("\n\n", "\n \t\n\n", "\r\n\r\n", "\f"):
            assert text.split("\n\n") == paragraphs(text.replace("\n\n", separator))


def test_a_short_paragraph_joins_the_next_one() -> None:
    """A short last paragraph joins the one before."""
    text = f"Heading\n\n{LONG * 3}\n\n{LONG * 4}\n\nend"

    assert [f"Heading\n\n{LONG * 3}".rstrip(), f"{LONG * 4}\n\nend"] == paragraphs(text)
    assert ["short"] == paragraphs("short")
    assert [] == paragraphs(" \n\n \n")


def test_a_long_paragraph_is_cut_at_the_best_place() -> None:
    """The best place is after a sentence, then at the end of a line, then between words, then anywhere."""
    assert all(paragraph.endswith(".") for paragraph in paragraphs(LONG * 100))
    assert all(paragraph.startswith("line") for paragraph in paragraphs("line without an end\n" * 200))
    assert {"word"} == {word for paragraph in paragraphs("word " * 2000) for word in paragraph.split()}
    assert [MAX_PARAGRAPH_LENGTH] * 3 == list(map(len, paragraphs("x" * 3 * MAX_PARAGRAPH_LENGTH)))


@given(st.text(st.sampled_from("ab. \n\r\f"), max_size=3000))
def test_only_white_space_is_lost(text: str) -> None:
    result = paragraphs(text)

    assert "".join(text.split()) == "".join("".join(result).split())
    assert all(paragraph == paragraph.strip() and paragraph for paragraph in result)
    assert (
        all(len(paragraph) <= MAX_PARAGRAPH_LENGTH + MIN_PARAGRAPH_LENGTH + 4 for paragraph in result) or "\n" in text
    )
