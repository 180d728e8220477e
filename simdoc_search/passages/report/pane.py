"""One of two texts as HTML: its passages and differences marked, block by block."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison
from simdoc_search.passages.report.blocks import Block, blocks, chunks
from simdoc_search.passages.report.html_escaping import content
from simdoc_search.passages.report.pieces import Piece, Side, pieces, spans
from simdoc_search.passages.report.positions import Places

_COLOURS = 8  # passages take turns in them; page.css has .k1 to .k8, and .k0 for what is repeated
_ALIKE = 0.3  # of a paragraph, at least, for it to have its like in the other text
_LARGE = 40  # words; what is longer and in no passage is set off, not struck through, so that it can be read


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked in a pair of texts.

    Attributes:
        comparison: what the texts share.
        repeated: the numbers of the passages, from 0, that are boilerplate.
        moved: the numbers of those that stand elsewhere in the other text.
        prefix: what the ids of this pair begin with, where a page shows several.
    """

    comparison: Comparison
    repeated: frozenset[int] = frozenset()
    moved: frozenset[int] = frozenset()
    prefix: str = ""


def tint(number: int, marks: Marks) -> str:
    """The class that colours a passage."""
    return "k0" if number in marks.repeated else f"k{number % _COLOURS + 1}"


def pane(text: str, side: Side, marks: Marks, places: Places) -> Iterator[str]:
    """The text of one side in chunks, which a browser lays out when they come into view."""
    shown = _Pane(text, side, marks)
    if places.paged:
        yield _page_mark(1)
    for chunk in chunks(blocks(text)):
        yield '<div class="chunk">'
        for block in chunk:
            yield from shown.block(block)
        yield "</div>\n"
        if chunk[-1].ends_page:
            yield _page_mark(places.page(chunk[-1].end))


class _Pane:
    """Makes the blocks of one text, in their order."""

    def __init__(self, text: str, side: Side, marks: Marks) -> None:
        where = spans(marks.comparison, side)
        self._text, self._side, self._marks = text, side, marks
        self._pieces = pieces(len(text), where)
        self._next = 0
        self._begins: dict[int, list[int]] = {}
        for number, (start, _) in enumerate(where.passages):
            self._begins.setdefault(start, []).append(number)
        self._known: set[int] = set()  # differences that have an id already
        self._gap = -1  # the last place where words of the other text would stand
        self._runs = _runs(marks, side)
        self._starts = [run[0] for run in self._runs]

    def block(self, block: Block) -> Iterator[str]:
        """A paragraph with its place in the text, and that of its like in the other."""
        partner = self._partner(block)
        like = "" if partner is None else f' data-q="{partner}"'
        yield f'<p dir="auto" data-o="{block.start}"{like}>'
        for passage, group in groupby(self._within(block), lambda piece: piece.passage):
            inside = "".join(self._anchors(piece) + self._piece(piece) for piece in group)
            if passage is None:
                yield inside
            else:
                yield f'<mark class="{tint(passage, self._marks)}" data-p="{passage + 1}">{inside}</mark>'
        yield "</p>\n"

    def _within(self, block: Block) -> Iterator[Piece]:
        """The pieces of a block; one that goes on in the next is cut."""
        while self._next < len(self._pieces):
            piece = self._pieces[self._next]
            if piece.start >= block.end and not (piece.start == piece.end == len(self._text)):
                return
            yield Piece(max(piece.start, block.start), min(piece.end, block.end), piece.passage, piece.difference)
            if piece.end > block.end:
                return
            self._next += 1

    def _anchors(self, piece: Piece) -> str:
        """Links to the like of the passages that begin here."""
        numbers = self._begins.pop(piece.start, ()) if piece.end > piece.start else ()
        return "".join(map(self._anchor, numbers))

    def _anchor(self, number: int) -> str:
        other = "b" if self._side == "a" else "a"
        passage, prefix = self._marks.comparison.passages[number], self._marks.prefix
        moved = number in self._marks.moved
        remarks = (", moved" if moved else "") + (", repeated" if number in self._marks.repeated else "")
        return (
            f'<a class="n {tint(number, self._marks)}" id="{prefix}{self._side}{number + 1}" '
            f'href="#{prefix}{other}{number + 1}" data-n="{number + 1}" aria-label="Passage {number + 1}, '
            f'{counted(passage.words, "word")}{remarks}; its like in the other text">'
            f"{number + 1}{'⇅' if moved else ''}</a>"
        )

    def _piece(self, piece: Piece) -> str:
        inside = content(self._text[piece.start : piece.end])
        if piece.difference is None:
            return inside
        difference, number = self._marks.comparison.differences[piece.difference], piece.difference + 1
        name = f' data-d="{number}"'
        if number not in self._known:
            self._known.add(number)
            name = f' id="{self._marks.prefix}{self._side}d{number}"{name}'
        if piece.start == piece.end:
            again, self._gap = piece.start == self._gap, piece.start
            return f'<span class="gap{" again" if again else ""}"{name}></span>'
        if difference.kind == "moved":
            shown = "" if piece.passage in self._marks.moved else ' class="moved"'  # its number says it
            return f"<span{shown}{name}>{inside}</span>"
        tag = "del" if self._side == "a" else "ins"
        large = ' class="large"' if piece.passage is None and difference.words > _LARGE else ""
        return f"<{tag}{large}{name}>{inside}</{tag}>"

    def _partner(self, block: Block) -> int | None:
        """Where in the other text the like of a block begins: that of the passage which has most of it."""
        sizes: dict[int, int] = {}
        begins: dict[int, int] = {}
        for at in range(max(bisect_right(self._starts, block.start) - 1, 0), len(self._runs)):
            start, end, other, passage = self._runs[at]
            if start >= block.end:
                break
            if (size := min(end, block.end) - max(start, block.start)) > 0:
                sizes[passage] = sizes.get(passage, 0) + size
                begins.setdefault(passage, other + max(block.start - start, 0))
        most = max(sizes, key=lambda passage: sizes[passage], default=-1)
        return begins[most] if sizes.get(most, 0) >= _ALIKE * (block.end - block.start) else None


def _runs(marks: Marks, side: Side) -> Sequence[tuple[int, int, int, int]]:
    """What is equal word for word, without boilerplate: begin and end here, begin there, which passage; in order."""
    passages = [each for each in enumerate(marks.comparison.passages) if each[0] not in marks.repeated]
    both = [(a, b, number) for number, each in passages for a, b in each.runs or ((each.a, each.b),)]
    if side == "a":
        return sorted((a[0], a[1], b[0], number) for a, b, number in both)
    return sorted((b[0], b[1], a[0], number) for a, b, number in both)


def _page_mark(number: int) -> str:
    return f'<div class="page"><span>page {number:,}</span></div>\n'
