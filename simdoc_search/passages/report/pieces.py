"""Cuts a text into pieces with the same labels, such as passages and differences, and shows them as HTML."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from markupsafe import Markup

from simdoc_search.display import counted
from simdoc_search.passages.escape import escaped
from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions
from simdoc_search.passages.report.blocks import Block, blocks, chunks

_COLOURS = 8
"""Passages take turns in the colours .k1 to .k8 of page.css."""
_BLOCKS_AROUND = 2
"""Blocks that are shown before and after a span."""

Label = tuple[int, int]
"""Two numbers that name a passage or a difference."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a text with the same labels, ascending. At a place between characters `start` equals `end`."""

    start: int
    end: int
    labels: tuple[Label, ...]


Paragraph = Callable[[Block, Sequence[Piece]], str]
"""Returns a block and its pieces as an HTML paragraph."""


def pieces(length: int, spans: Iterable[tuple[Span, Label]]) -> list[Piece]:
    """All pieces of a text of `length` characters, in order. A span without characters makes a piece without any."""
    begins: dict[int, list[Label]] = {}
    ends: dict[int, list[Label]] = {}
    places: dict[int, list[Label]] = {}
    for span, label in spans:
        start, end = (min(edge, length) for edge in span)
        if start < end:
            begins.setdefault(start, []).append(label)
            ends.setdefault(end, []).append(label)
        else:
            places.setdefault(start, []).append(label)
    active: dict[Label, int] = {}
    found: list[Piece] = []
    for start, end in pairwise([*sorted({0, length, *begins, *ends, *places}), length]):
        for label in ends.get(start, ()):
            active[label] -= 1
        around = {label for label, count in active.items() if count}
        for label in begins.get(start, ()):
            active[label] = active.get(label, 0) + 1
        active = {label: count for label, count in active.items() if count}
        found += [Piece(start, start, tuple(sorted({*around, place}))) for place in places.get(start, ())]
        if start < end:
            found.append(Piece(start, end, tuple(sorted(active))))
    return found


def text_html(
    text: str,
    pieces: Sequence[Piece],
    paragraph: Paragraph,
    *,
    near: Sequence[Span] | None = None,
    positions: TextPositions | None = None,
) -> Markup:
    """A text as HTML, in chunks that a browser lays out when they are scrolled into view.

    If `near` is given, only the blocks near these spans are shown. If `positions` are given, page numbers are shown.
    """
    all_blocks = list(blocks(text))
    inside = dict(zip(all_blocks, _pieces_of_blocks(all_blocks, pieces, len(text)), strict=True))
    shown = [True] * len(all_blocks) if near is None else _are_near(all_blocks, near)
    parts = [_page_mark(1)] if positions and positions.has_pages else []
    for is_shown, group in groupby(zip(shown, all_blocks, strict=True), key=lambda pair: pair[0]):
        group_blocks = [block for _, block in group]
        if not is_shown:
            skipped = counted(group_blocks[-1].end - group_blocks[0].start, "character")
            parts.append(f'<p class="none">… {skipped} are not shown …</p>\n')
            continue
        for chunk in chunks(group_blocks):
            parts += ['<div class="chunk">', *(paragraph(block, inside[block]) for block in chunk), "</div>\n"]
            if positions and chunk[-1].ends_page:
                parts.append(_page_mark(positions.page(chunk[-1].end)))
    return Markup("".join(parts))  # noqa: S704 - `paragraph` escapes the text


def _pieces_of_blocks(blocks: Iterable[Block], pieces: Sequence[Piece], length: int) -> Iterator[list[Piece]]:
    """The pieces of each block. A piece that continues in the next block is cut."""
    at = 0
    for block in blocks:
        inside = []
        while at < len(pieces) and (pieces[at].start < block.end or pieces[at].start == block.end == length):
            piece = pieces[at]
            inside.append(Piece(max(piece.start, block.start), min(piece.end, block.end), piece.labels))
            if piece.end > block.end:
                break
            at += 1
        yield inside


def _are_near(blocks: Sequence[Block], spans: Sequence[Span]) -> list[bool]:
    shown = [False] * len(blocks)
    at = 0
    for start, end in sorted(spans):
        while at < len(blocks) and blocks[at].end <= start:
            at += 1
        last = at
        while last < len(blocks) and blocks[last].start < end:
            last += 1
        for number in range(max(at - _BLOCKS_AROUND, 0), min(last + _BLOCKS_AROUND, len(blocks))):
            shown[number] = True
    return shown


def piece_text(text: str, piece: Piece) -> str:
    """The characters of a piece as HTML."""
    return escaped(text[piece.start : piece.end])


def colour(number: int) -> str:
    """The class that colours a passage or a source with this number, from 1 on."""
    return f"k{(number - 1) % _COLOURS + 1}"


def _page_mark(number: int) -> str:
    return f'<div class="page"><span>page {number:,}</span></div>\n'
