"""Passages and differences cut a text into pieces; lines, pages, blocks and chunks do too."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.report.blocks import blocks, chunks
from simdoc_search.passages.report.boilerplate import boilerplate
from simdoc_search.passages.report.pane import Piece, Spans, pieces
from simdoc_search.passages.report.positions import TextPositions
from tests.support.passages.pages import same
from tests.support.strategies import texts

SPANS = st.lists(st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda each: (min(each), max(each))), max_size=6)


def test_a_text_without_passages_is_one_piece() -> None:
    """And one of no characters is none."""
    assert [Piece(0, 9, None, None)] == pieces(9, Spans([], []))
    assert [] == pieces(0, Spans([], []))


def test_a_difference_lies_in_its_passage() -> None:
    """Words of the other text would stand at a place, which is a piece of no characters."""
    found = pieces(20, Spans([(5, 15)], [(7, 9), (12, 12)]))

    assert [
        Piece(0, 5, None, None),
        Piece(5, 7, 0, None),
        Piece(7, 9, 0, 0),
        Piece(9, 12, 0, None),
        Piece(12, 12, 0, 1),
        Piece(12, 15, 0, None),
        Piece(15, 20, None, None),
    ] == found


def test_the_longest_passage_and_the_shortest_difference_count() -> None:
    """Where several lie over each other, each character has one of both."""
    found = pieces(10, Spans([(0, 4), (2, 10)], [(0, 10), (5, 6)]))

    assert [(0, 2, 0, 0), (2, 4, 1, 0), (4, 5, 1, 0), (5, 6, 1, 1), (6, 10, 1, 0)] == [
        (each.start, each.end, each.passage, each.difference) for each in found
    ]


@given(st.integers(0, 50), SPANS, SPANS)
def test_pieces_are_the_whole_text_in_order(
    length: int, passages: list[tuple[int, int]], others: list[tuple[int, int]]
) -> None:
    """Also of spans that the text has not; every piece lies in what it says."""
    found = pieces(length, Spans(passages, others))
    ends = [each.end for each in found]

    assert [0, *ends][: len(ends)] == [each.start for each in found]
    assert length == (ends[-1] if ends else 0)
    for each in found:
        for number, group in ((each.passage, passages), (each.difference, others)):
            first, last = (0, length) if number is None else (min(edge, length) for edge in group[number])

            assert first <= each.start <= each.end <= last


@given(texts())
def test_blocks_and_chunks_are_the_whole_text_in_order(text: str) -> None:
    """A block is short, whatever the lines are."""
    found = [block for chunk in chunks(blocks(text)) for block in chunk]

    assert text == "".join(text[each.start : each.end] for each in found)
    assert [0, *(each.end for each in found)][: len(found)] == [each.start for each in found]


def test_a_long_line_is_cut_after_a_space() -> None:
    """Or anywhere, where it has none; a block has 1,500 characters at most, a chunk some blocks."""
    text = "word " * 1000 + "x" * 5000
    found = list(blocks(text))

    assert max(each.end - each.start for each in found) <= 1500
    assert {" "} == {text[each.end - 1] for each in found if each.end < 4000}
    assert 3 == len(list(chunks(found)))


def test_blocks_end_at_blank_lines_and_pages() -> None:
    """Blank lines are of the block before them."""
    text = "one\ntwo\n\n\nthree\ffour"
    found = [(text[each.start : each.end], each.ends_page) for each in blocks(text)]

    assert [("one\ntwo\n\n\n", False), ("three\f", True), ("four", False)] == found


@pytest.mark.parametrize(
    ("text", "at", "place"),
    [
        ("one\ntwo\r\nthree", 0, "line 1"),
        ("one\ntwo\r\nthree", 4, "line 2"),
        ("one\ntwo\r\nthree", 10, "line 3"),
        ("a\fb\nc\fd", 0, "page 1, line 1"),
        ("a\fb\nc\fd", 4, "page 2, line 2"),
        ("a\fb\nc\fd", 6, "page 3, line 1"),
        ("a\nb\f\n", 2, "line 2"),
        ("\n" * 2000, 1999, "line 2,000"),
    ],
)
def test_a_place_is_named_by_page_and_line(text: str, at: int, place: str) -> None:
    """A form feed ends a page, lines are counted on it; one page alone is not named."""
    assert place == TextPositions(text).named(at)


def test_boilerplate_occurs_several_times_in_one_of_the_texts() -> None:
    """Short passages alone, three times: what is long or there twice is content."""
    notice = "this file is part of the works and comes without any warranty of any kind"
    content = "what is said here is said in this place alone and nowhere else in the text"
    a, b = f"{notice}. {content}", f"{content}. {notice}. Then {notice}. Again {notice}"
    passages = same(0, len(content) + 2, len(notice), 15), same(len(notice) + 2, 0, len(content), 16)
    whole = (same(0, len(content) + 2, len(notice), 201),)

    assert {0} == boilerplate(passages, a, b)
    assert set() == boilerplate(passages, a, b.removesuffix(notice))
    assert set() == boilerplate(whole, a, b)
    assert set() == boilerplate((), a, b)
