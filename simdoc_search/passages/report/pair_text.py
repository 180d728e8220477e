"""Renders one of the two texts of a pair as HTML, with its passages and differences."""

from __future__ import annotations

import itertools
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from simdoc_search.display import format_count
from simdoc_search.passages.passage import Comparison, Difference, Passage, Span
from simdoc_search.passages.report.blocks import Block
from simdoc_search.passages.report.pieces import Piece, colour_class, cut_into_pieces, render_piece

_MIN_COUNTERPART_SHARE = 0.3
"""A paragraph has a counterpart in the other text if at least this share of it is in one passage."""
_MAX_MARKED_WORDS = 40
"""A longer difference outside passages is neither struck through nor underlined, so that it is easy to read."""
_PASSAGE, _DIFFERENCE = 0, 1
"""The kinds of labels. The first number of a label is its kind."""

Side = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class PairMarks:
    """The passages and differences to mark in two texts.

    `boilerplate_passages` and `moved_passages` are indices of passages. The ids of the HTML elements begin with
    `prefix`.
    """

    comparison: Comparison
    boilerplate_passages: frozenset[int]
    moved_passages: frozenset[int]
    prefix: str

    def colour_class(self, number: int) -> str:
        """Return the CSS class that colours the passage with this index."""
        return "k0" if number in self.boilerplate_passages else colour_class(number + 1)

    def remarks(self, number: int) -> str:
        """Return remarks on the passage with this index: `, moved`, `, repeated`, both or none."""
        return (", moved" if number in self.moved_passages else "") + (
            ", repeated" if number in self.boilerplate_passages else ""
        )


def cut_pair_text(comparison: Comparison, side: Side, length: int) -> list[Piece]:
    """Cut one text of a pair into pieces. A label is the kind and the index of a passage or a difference."""
    spans = [(_span(passage, side), (_PASSAGE, number)) for number, passage in enumerate(comparison.passages)]
    spans += [
        (_span(difference, side), (_DIFFERENCE, number)) for number, difference in enumerate(comparison.differences)
    ]
    return cut_into_pieces(length, spans)


def _span(item: Passage | Difference, side: Side) -> Span:
    return item.a if side == "a" else item.b


class PairParagraphRenderer:
    """Renders the paragraphs of one text of a pair. Call it for each block, in order."""

    def __init__(self, text: str, side: Side, marks: PairMarks) -> None:
        self._text, self._side, self._marks = text, side, marks
        self._other = "b" if side == "a" else "a"
        self._differences_with_id: set[int] = set()
        self._last_gap = -1  # the position of the last gap, where only the other text has words
        self._unlinked: dict[int, list[int]] = {}  # passages that have no link yet, by start position
        self._runs: list[tuple[int, int, int, int]] = []  # start, end, start in the other text, passage
        for number, passage in enumerate(marks.comparison.passages):
            self._unlinked.setdefault(_span(passage, side)[0], []).append(number)
            if number not in marks.boilerplate_passages:
                runs = passage.runs or ((passage.a, passage.b),)
                swapped = ((a, b) if side == "a" else (b, a) for a, b in runs)
                self._runs += [(*own, other[0], number) for own, other in swapped]
        self._runs.sort()

    def __call__(self, block: Block, pieces: Sequence[Piece]) -> str:
        """Return the HTML of a block as a paragraph, with its position and the position of its counterpart."""
        counterpart = self._find_counterpart(block)
        attribute = "" if counterpart is None else f' data-q="{counterpart}"'
        parts = [f'<p dir="auto" data-o="{block.start}"{attribute}>']
        for passage, group in itertools.groupby(pieces, self._find_passage):
            html = "".join(self._render_links(piece) + self._render_piece(piece, passage) for piece in group)
            colour = "" if passage is None else self._marks.colour_class(passage)
            parts.append(html if passage is None else f'<mark class="{colour}" data-p="{passage + 1}">{html}</mark>')
        return "".join([*parts, "</p>\n"])

    def _count_characters(self, item: Passage | Difference) -> int:
        start, end = _span(item, self._side)
        return end - start

    def _find_passage(self, piece: Piece) -> int | None:
        """Return the index of the longest passage that contains a piece."""
        passages = self._marks.comparison.passages
        numbers = [number for kind, number in piece.labels if kind == _PASSAGE]
        return max(numbers, key=lambda number: (self._count_characters(passages[number]), number), default=None)

    def _find_difference(self, piece: Piece) -> int | None:
        """Return the index of the shortest difference that contains a piece."""
        differences = self._marks.comparison.differences
        numbers = [number for kind, number in piece.labels if kind == _DIFFERENCE]
        return min(numbers, key=lambda number: (self._count_characters(differences[number]), -number), default=None)

    def _render_links(self, piece: Piece) -> str:
        """Return links to the counterparts of the passages that begin at this piece."""
        numbers = self._unlinked.pop(piece.start, ()) if piece.end > piece.start else ()
        return "".join(map(self._render_link, numbers))

    def _render_link(self, number: int) -> str:
        marks, passage = self._marks, self._marks.comparison.passages[number]
        words = format_count(passage.word_count, "word")
        label = f"Passage {number + 1}, {words}{marks.remarks(number)}; go to the other text"
        return (
            f'<a class="n {marks.colour_class(number)}" id="{marks.prefix}{self._side}{number + 1}" '
            f'href="#{marks.prefix}{self._other}{number + 1}" data-n="{number + 1}" aria-label="{label}">'
            f"{number + 1}{'⇅' if number in marks.moved_passages else ''}</a>"
        )

    def _render_piece(self, piece: Piece, passage: int | None) -> str:
        html, number = render_piece(self._text, piece), self._find_difference(piece)
        if number is None:
            return html
        difference = self._marks.comparison.differences[number]
        attributes = f' data-d="{number + 1}"'
        if number not in self._differences_with_id:
            self._differences_with_id.add(number)
            attributes = f' id="{self._marks.prefix}{self._side}d{number + 1}"{attributes}'
        if piece.start == piece.end:
            is_again, self._last_gap = piece.start == self._last_gap, piece.start
            return f'<span class="gap{" again" if is_again else ""}"{attributes}></span>'
        if difference.kind == "moved":
            # The link of a moved passage already has the symbol ⇅.
            moved = "" if passage in self._marks.moved_passages else ' class="moved"'
            return f"<span{moved}{attributes}>{html}</span>"
        tag = "del" if self._side == "a" else "ins"
        large = ' class="large"' if passage is None and difference.word_count > _MAX_MARKED_WORDS else ""
        return f"<{tag}{large}{attributes}>{html}</{tag}>"

    def _find_counterpart(self, block: Block) -> int | None:
        """Return the position in the other text where the counterpart of a block starts.

        It is determined by the passage that contains the largest part of the block.
        """
        sizes: dict[int, int] = {}
        starts: dict[int, int] = {}
        first = max(bisect_right(self._runs, block.start, key=lambda run: run[0]) - 1, 0)
        for start, end, other, passage in itertools.islice(self._runs, first, None):
            if start >= block.end:
                break
            if (size := min(end, block.end) - max(start, block.start)) > 0:
                sizes[passage] = sizes.get(passage, 0) + size
                starts.setdefault(passage, other + max(block.start - start, 0))
        main = max(sizes, key=lambda passage: sizes[passage], default=-1)
        return starts[main] if sizes.get(main, 0) >= _MIN_COUNTERPART_SHARE * (block.end - block.start) else None
