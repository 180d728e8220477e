"""One of the two texts of a pair as HTML, with its passages and differences."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal

from simdoc_search.display import counted
from simdoc_search.passages.passage import Comparison, Difference, Passage, Span
from simdoc_search.passages.report.blocks import Block
from simdoc_search.passages.report.pieces import Piece, colour, piece_text, pieces

_MIN_SHARE = 0.3
"""The minimum share of a paragraph that is in a passage, for it to have a counterpart in the other text."""
_LARGE_WORDS = 40
"""A longer difference outside passages is not struck through, so that it can be read."""
_PASSAGE, _DIFFERENCE = 0, 1
"""The kinds of labels."""

Side = Literal["a", "b"]


@dataclass(frozen=True, slots=True)
class PairMarks:
    """What is marked in a pair of texts, with the numbers, from 0, of repeated and of moved passages."""

    comparison: Comparison
    repeated: frozenset[int]
    moved: frozenset[int]
    prefix: str

    def colour(self, number: int) -> str:
        """The class that colours a passage."""
        return "k0" if number in self.repeated else colour(number + 1)

    def remarks(self, number: int) -> str:
        """The remarks about a passage."""
        return (", moved" if number in self.moved else "") + (", repeated" if number in self.repeated else "")


def pair_pieces(comparison: Comparison, side: Side, length: int) -> list[Piece]:
    """The pieces of one text of a pair. The labels are the kind and the number of a passage or a difference."""
    spans = [(_span(passage, side), (_PASSAGE, number)) for number, passage in enumerate(comparison.passages)]
    spans += [
        (_span(difference, side), (_DIFFERENCE, number)) for number, difference in enumerate(comparison.differences)
    ]
    return pieces(length, spans)


def _span(found: Passage | Difference, side: Side) -> Span:
    return found.a if side == "a" else found.b


class PairText:
    """Makes the paragraphs of one text of a pair, in their order."""

    def __init__(self, text: str, side: Side, marks: PairMarks) -> None:
        self._text, self._side, self._marks = text, side, marks
        self._other = "b" if side == "a" else "a"
        self._differences_with_id: set[int] = set()
        self._last_gap = -1  # the last place of words of the other text
        self._unlinked: dict[int, list[int]] = {}  # passages without a link yet, by their first character
        self._runs: list[tuple[int, int, int, int]] = []  # start, end, start in the other text, passage
        for number, passage in enumerate(marks.comparison.passages):
            self._unlinked.setdefault(_span(passage, side)[0], []).append(number)
            if number not in marks.repeated:
                runs = passage.runs or ((passage.a, passage.b),)
                swapped = ((a, b) if side == "a" else (b, a) for a, b in runs)
                self._runs += [(*own, other[0], number) for own, other in swapped]
        self._runs.sort()

    def __call__(self, block: Block, pieces: Sequence[Piece]) -> str:
        """A paragraph with its place in the text, and the place of its counterpart in the other text."""
        counterpart = self._counterpart(block)
        place = "" if counterpart is None else f' data-q="{counterpart}"'
        parts = [f'<p dir="auto" data-o="{block.start}"{place}>']
        for passage, group in groupby(pieces, self._passage):
            html = "".join(self._links(piece) + self._piece(piece, passage) for piece in group)
            colour = "" if passage is None else self._marks.colour(passage)
            parts.append(html if passage is None else f'<mark class="{colour}" data-p="{passage + 1}">{html}</mark>')
        return "".join([*parts, "</p>\n"])

    def _length(self, found: Passage | Difference) -> int:
        start, end = _span(found, self._side)
        return end - start

    def _passage(self, piece: Piece) -> int | None:
        """The longest passage of a piece."""
        passages = self._marks.comparison.passages
        numbers = [number for kind, number in piece.labels if kind == _PASSAGE]
        return max(numbers, key=lambda number: (self._length(passages[number]), number), default=None)

    def _difference(self, piece: Piece) -> int | None:
        """The shortest difference of a piece, which says most."""
        differences = self._marks.comparison.differences
        numbers = [number for kind, number in piece.labels if kind == _DIFFERENCE]
        return min(numbers, key=lambda number: (self._length(differences[number]), -number), default=None)

    def _links(self, piece: Piece) -> str:
        """Links to the counterparts of the passages that begin here."""
        numbers = self._unlinked.pop(piece.start, ()) if piece.end > piece.start else ()
        return "".join(map(self._link, numbers))

    def _link(self, number: int) -> str:
        marks, passage = self._marks, self._marks.comparison.passages[number]
        label = f"Passage {number + 1}, {counted(passage.words, 'word')}{marks.remarks(number)}; go to the other text"
        return (
            f'<a class="n {marks.colour(number)}" id="{marks.prefix}{self._side}{number + 1}" '
            f'href="#{marks.prefix}{self._other}{number + 1}" data-n="{number + 1}" aria-label="{label}">'
            f"{number + 1}{'⇅' if number in marks.moved else ''}</a>"
        )

    def _piece(self, piece: Piece, passage: int | None) -> str:
        html, number = piece_text(self._text, piece), self._difference(piece)
        if number is None:
            return html
        difference = self._marks.comparison.differences[number]
        name = f' data-d="{number + 1}"'
        if number not in self._differences_with_id:
            self._differences_with_id.add(number)
            name = f' id="{self._marks.prefix}{self._side}d{number + 1}"{name}'
        if piece.start == piece.end:
            is_again, self._last_gap = piece.start == self._last_gap, piece.start
            return f'<span class="gap{" again" if is_again else ""}"{name}></span>'
        if difference.kind == "moved":
            kind = "" if passage in self._marks.moved else ' class="moved"'  # the link of a moved passage shows it
            return f"<span{kind}{name}>{html}</span>"
        tag = "del" if self._side == "a" else "ins"
        large = ' class="large"' if passage is None and difference.words > _LARGE_WORDS else ""
        return f"<{tag}{large}{name}>{html}</{tag}>"

    def _counterpart(self, block: Block) -> int | None:
        """Where the counterpart of a block in the other text starts. The passage with most of the block decides."""
        sizes: dict[int, int] = {}
        starts: dict[int, int] = {}
        for at in range(max(bisect_right(self._runs, block.start, key=lambda run: run[0]) - 1, 0), len(self._runs)):
            start, end, other, passage = self._runs[at]
            if start >= block.end:
                break
            if (size := min(end, block.end) - max(start, block.start)) > 0:
                sizes[passage] = sizes.get(passage, 0) + size
                starts.setdefault(passage, other + max(block.start - start, 0))
        longest = max(sizes, key=lambda passage: sizes[passage], default=-1)
        return starts[longest] if sizes.get(longest, 0) >= _MIN_SHARE * (block.end - block.start) else None
