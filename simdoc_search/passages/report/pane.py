"""One of two texts as HTML: its passages and differences are marked, block by block."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison, Span
from simdoc_search.passages.report.blocks import Block, blocks, chunks
from simdoc_search.passages.report.html import content
from simdoc_search.passages.report.positions import TextPositions

Side = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class Spans:
    """Where the passages and differences of a comparison lie in one of its texts, both by their number."""

    passages: Sequence[Span]
    differences: Sequence[Span]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a text that lies in at most one passage and one difference; numbers count from 0.

    Attributes:
        start: its first character.
        end: the one after its last; equal to `start` where words of the other text would stand.
        passage: in which passage it lies.
        difference: in which difference it lies.
    """

    start: int
    end: int
    passage: int | None
    difference: int | None


def spans(comparison: Comparison, side: Side) -> Spans:
    """What lies where in the first text, or in the second."""
    if side == "a":
        return Spans([each.a for each in comparison.passages], [each.a for each in comparison.differences])
    return Spans([each.b for each in comparison.passages], [each.b for each in comparison.differences])


def pieces(length: int, where: Spans) -> list[Piece]:
    """All of a text of so many characters, in order.

    Where passages overlap the longest counts, and of differences the shortest, which says most.
    """
    within = Spans(*(tuple(_clipped(each, length) for each in group) for group in (where.passages, where.differences)))
    cuts = sorted(
        {0, length, *(edge for group in (within.passages, within.differences) for at in group for edge in at)}
    )
    passages = _owners(cuts, within.passages, longest_last=True)
    differences = _owners(cuts, within.differences, longest_last=False)
    gaps: dict[int, list[int]] = {}
    for number, (start, end) in enumerate(within.differences):
        if start == end:
            gaps.setdefault(start, []).append(number)
    found = []
    for at, cut in enumerate(cuts):
        inside = passages[at] if at < len(passages) and (at == 0 or passages[at] == passages[at - 1]) else None
        found += [Piece(cut, cut, inside, number) for number in gaps.get(cut, ())]
        if cut < length:
            found.append(Piece(cut, cuts[at + 1], passages[at], differences[at]))
    return found


def _clipped(span: Span, length: int) -> Span:
    start = min(max(span[0], 0), length)
    return start, min(max(span[1], start), length)


def _owners(cuts: Sequence[int], where: Sequence[Span], *, longest_last: bool) -> list[int | None]:
    """For each stretch between two cuts the number of the span in which it lies; later spans cover earlier ones."""
    owners: list[int | None] = [None] * max(len(cuts) - 1, 0)
    for number in _by_length(where, reverse=not longest_last):
        first, last = (bisect_left(cuts, edge) for edge in where[number])
        owners[first:last] = [number] * (last - first)
    return owners


def _by_length(where: Sequence[Span], *, reverse: bool) -> Iterable[int]:
    return sorted(range(len(where)), key=lambda number: where[number][1] - where[number][0], reverse=reverse)


_COLOURS = 8  # passages take turns in them; page.css has .k1 to .k8, and .k0 for what is repeated
_ALIKE = 0.3  # of a paragraph, at least, for it to have its like in the other text
_LARGE = 40  # words; what is longer and in no passage is set off, not struck through, so that it can be read


@dataclass(frozen=True, slots=True)
class PairMarks:
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


def tint(number: int, marks: PairMarks) -> str:
    """The class that colours a passage."""
    return "k0" if number in marks.repeated else f"k{number % _COLOURS + 1}"


def pane(text: str, side: Side, marks: PairMarks, places: TextPositions) -> Iterator[str]:
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

    def __init__(self, text: str, side: Side, marks: PairMarks) -> None:
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


def _runs(marks: PairMarks, side: Side) -> Sequence[tuple[int, int, int, int]]:
    """What is equal word for word, without boilerplate: begin and end here, begin there, which passage; in order."""
    passages = [each for each in enumerate(marks.comparison.passages) if each[0] not in marks.repeated]
    both = [(a, b, number) for number, each in passages for a, b in each.runs or ((each.a, each.b),)]
    if side == "a":
        return sorted((a[0], a[1], b[0], number) for a, b, number in both)
    return sorted((b[0], b[1], a[0], number) for a, b, number in both)


def _page_mark(number: int) -> str:
    return f'<div class="page"><span>page {number:,}</span></div>\n'
