"""Pieces and blocks of a text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from simdoc_search.passages.report.blocks import cut_into_blocks, group_into_chunks
from simdoc_search.passages.report.pieces import Piece, cut_into_pieces
from tests.support.strategies import texts

spans = st.tuples(st.integers(0, 50), st.integers(0, 50)).map(lambda span: (min(span), max(span)))
labels = st.tuples(st.integers(0, 2), st.integers(0, 3))


def test_a_span_without_characters_is_a_piece() -> None:
    """An empty piece also has the labels that are on both sides of it."""
    found = cut_into_pieces(20, [((5, 15), (0, 0)), ((7, 9), (1, 0)), ((12, 12), (1, 1)), ((15, 15), (1, 2))])

    assert [
        Piece(0, 5, ()),
        Piece(5, 7, ((0, 0),)),
        Piece(7, 9, ((0, 0), (1, 0))),
        Piece(9, 12, ((0, 0),)),
        Piece(12, 12, ((0, 0), (1, 1))),
        Piece(12, 15, ((0, 0),)),
        Piece(15, 15, ((1, 2),)),
        Piece(15, 20, ()),
    ] == found


@given(st.integers(0, 50), st.lists(st.tuples(spans, labels), max_size=6))
def test_pieces_are_the_whole_text_with_all_labels(
    length: int, labelled: list[tuple[tuple[int, int], tuple[int, int]]]
) -> None:
    """Spans may reach beyond the end of the text."""
    found = cut_into_pieces(length, labelled)
    ends = [piece.end for piece in found]

    assert [0, *ends][: len(ends)] == [piece.start for piece in found]
    assert length == (ends[-1] if ends else 0)
    for piece in found:
        if piece.start < piece.end:
            expected = {label for (start, end), label in labelled if start <= piece.start and piece.end <= end}
            assert expected == set(piece.labels)


@given(texts())
def test_blocks_and_chunks_are_the_whole_text(text: str) -> None:
    """The blocks are in order."""
    found = [block for chunk in group_into_chunks(cut_into_blocks(text)) for block in chunk]

    assert text == "".join(text[block.start : block.end] for block in found)
    assert [0, *(block.end for block in found)][: len(found)] == [block.start for block in found]


def test_a_long_line_is_cut_after_a_space() -> None:
    """It is a paragraph, so it is cut only after 6,000 characters; also without spaces."""
    text = "word " * 1200 + "\n" + "words " * 1200 + "x" * 7000
    found = list(cut_into_blocks(text))

    assert [6001, 12_001, 13_201, 19_201, 20_201] == [block.end for block in found]
    assert [6001, 12_001, 19_201, 20_201] == [chunk[-1].end for chunk in group_into_chunks(found)]


def test_a_block_ends_at_blank_lines_and_pages() -> None:
    """Blank lines belong to the block before them."""
    text = "one\ntwo\n\n\nthree\ffour"
    found = [(text[block.start : block.end], block.ends_page) for block in cut_into_blocks(text)]

    assert [("one\ntwo\n\n\n", False), ("three\f", True), ("four", False)] == found
