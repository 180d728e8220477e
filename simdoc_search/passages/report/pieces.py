"""Cuts a text into pieces where its passages and differences start and end, and renders it as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from simdoc_search.display import format_count
from simdoc_search.passages.escape import escape_html
from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions
from simdoc_search.passages.report.blocks import Block, cut_into_blocks, group_into_chunks

_COLOUR_COUNT = 8
"""The number of colours of passages: the classes .k1 to .k8 of page.css."""
_CONTEXT_BLOCKS = 2
"""The number of blocks that are shown before and after a span."""

Label = tuple[int, int]
"""Two numbers that identify a passage or a difference."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text in which all characters have the same labels.

    `labels` are those of the passages and differences that contain the piece, ascending. In an empty piece, `end` is
    equal to `start`.
    """

    start: int
    end: int
    labels: tuple[Label, ...]


RenderParagraph = Callable[[Block, Sequence[Piece]], str]
"""Returns an HTML paragraph for a block and its pieces."""


def cut_into_pieces(length: int, spans: Iterable[tuple[Span, Label]]) -> list[Piece]:
    """Cut a text of `length` characters where labelled spans start and end. An empty span becomes an empty piece."""
    begins: dict[int, list[Label]] = {}
    ends: dict[int, list[Label]] = {}
    empty: dict[int, list[Label]] = {}
    for span, label in spans:
        start, end = (min(edge, length) for edge in span)
        if start < end:
            begins.setdefault(start, []).append(label)
            ends.setdefault(end, []).append(label)
        else:
            empty.setdefault(start, []).append(label)
    active: dict[Label, int] = {}
    result: list[Piece] = []
    for start, end in pairwise([*sorted({0, length, *begins, *ends, *empty}), length]):
        for label in ends.get(start, ()):
            active[label] -= 1
        enclosing_labels = {label for label, count in active.items() if count}
        for label in begins.get(start, ()):
            active[label] = active.get(label, 0) + 1
        active = {label: count for label, count in active.items() if count}
        result += [Piece(start, start, tuple(sorted({*enclosing_labels, label}))) for label in empty.get(start, ())]
        if start < end:
            result.append(Piece(start, end, tuple(sorted(active))))
    return result


def render_text(
    text: str,
    pieces: Sequence[Piece],
    render_paragraph: RenderParagraph,
    *,
    near_spans: Sequence[Span] | None = None,
    positions: TextPositions | None = None,
) -> Markup:
    """Return a text as HTML, in chunks that a browser lays out when they are scrolled into view.

    `render_paragraph` returns the HTML paragraph of a block. If `near_spans` is given, only the blocks near these spans
    are shown. If `positions` is None, no page numbers are shown.
    """
    all_blocks = list(cut_into_blocks(text))
    pieces_by_block = dict(zip(all_blocks, _split_by_block(all_blocks, pieces, len(text)), strict=True))
    shown = [True] * len(all_blocks) if near_spans is None else _find_near_blocks(all_blocks, near_spans)
    parts = [_page_mark_html(1)] if positions and positions.has_pages else []
    for is_shown, group in groupby(zip(shown, all_blocks, strict=True), key=lambda pair: pair[0]):
        group_blocks = [block for _, block in group]
        if not is_shown:
            skipped = format_count(group_blocks[-1].end - group_blocks[0].start, "character")
            parts.append(f'<p class="none">… {skipped} not shown …</p>\n')
            continue
        for chunk in group_into_chunks(group_blocks):
            parts += [
                '<div class="chunk">',
                *(render_paragraph(block, pieces_by_block[block]) for block in chunk),
                "</div>\n",
            ]
            if positions and chunk[-1].ends_page:
                parts.append(_page_mark_html(positions.page(chunk[-1].end)))
    return Markup("".join(parts))  # noqa: S704 - `render_paragraph` escapes the text


def _split_by_block(blocks: Iterable[Block], pieces: Sequence[Piece], length: int) -> Iterator[list[Piece]]:
    """Yield the pieces of each block. A piece that continues in the next block is cut."""
    next_piece = 0
    for block in blocks:
        inside = []
        while next_piece < len(pieces):
            piece = pieces[next_piece]
            if piece.start >= block.end and not piece.start == block.end == length:
                break
            inside.append(Piece(max(piece.start, block.start), min(piece.end, block.end), piece.labels))
            if piece.end > block.end:
                break
            next_piece += 1
        yield inside


def _find_near_blocks(blocks: Sequence[Block], spans: Sequence[Span]) -> list[bool]:
    """Return whether each block is near a span."""
    are_near = [False] * len(blocks)
    first = 0
    for start, end in sorted(spans):
        while first < len(blocks) and blocks[first].end <= start:
            first += 1
        after = first
        while after < len(blocks) and blocks[after].start < end:
            after += 1
        for number in range(max(first - _CONTEXT_BLOCKS, 0), min(after + _CONTEXT_BLOCKS, len(blocks))):
            are_near[number] = True
    return are_near


def render_piece(text: str, piece: Piece) -> str:
    """Return the characters of a piece as HTML."""
    return escape_html(text[piece.start : piece.end])


def colour_class(number: int) -> str:
    """Return the CSS class that colours the passage or source with this number. The first number is 1."""
    return f"k{(number - 1) % _COLOUR_COUNT + 1}"


def _page_mark_html(number: int) -> str:
    return f'<div class="page"><span>page {number:,}</span></div>\n'
