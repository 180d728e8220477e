"""A text in which labelled stretches are marked, such as the passages of several sources."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from simdoc_search.display import counted
from simdoc_search.passages.passage import Span
from simdoc_search.passages.report.blocks import Block, blocks, chunks
from simdoc_search.passages.report.html import content

_NEAR = 2
"""Blocks that are shown before and after a span."""

Label = tuple[int, int]
"""The number of a source and of its passage, both from 1."""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A stretch of a text that is in the same passages from its first to its last character; the best comes first."""

    start: int
    end: int
    labels: tuple[Label, ...]


Mark = Callable[[Labelled, str], str]
"""The HTML of a piece that has labels, from that of its text."""


def labelled(length: int, spans: Iterable[tuple[Span, Label]]) -> list[Labelled]:
    """All of a text of that many characters, cut where a label begins or ends."""
    begins: dict[int, list[Label]] = {}
    ends: dict[int, list[Label]] = {}
    for (start, end), label in spans:
        if start < end <= length:
            begins.setdefault(start, []).append(label)
            ends.setdefault(end, []).append(label)
    cuts = sorted({0, length, *begins, *ends})
    active: dict[Label, int] = {}
    found: list[Labelled] = []
    for start, end in pairwise(cuts):
        for label in ends.get(start, ()):
            active[label] -= 1
            if not active[label]:
                del active[label]
        for label in begins.get(start, ()):
            active[label] = active.get(label, 0) + 1
        found.append(Labelled(start, end, tuple(sorted(active))))
    return found


def marked(text: str, pieces: Sequence[Labelled], mark: Mark, near: Sequence[Span] | None = None) -> Iterator[str]:
    """A text in chunks, which a browser lays out when they come into view.

    Args:
        text: the text.
        pieces: all of it, in order.
        mark: makes the HTML of a piece that has labels.
        near: show only the blocks near these spans; None: show all.
    """
    cut = list(blocks(text))
    shown = [True] * len(cut) if near is None else _shown(cut, near)
    at = 0
    for is_shown, group in groupby(zip(shown, cut, strict=True), key=lambda each: each[0]):
        some = [block for _, block in group]
        if not is_shown:
            yield f'<p class="none">… {counted(some[-1].end - some[0].start, "character")} are not shown …</p>\n'
            continue
        for chunk in chunks(some):
            yield '<div class="chunk">'
            for block in chunk:
                while at < len(pieces) and pieces[at].end <= block.start:
                    at += 1
                yield f'<p dir="auto">{"".join(_inside(text, pieces, at, block, mark))}</p>\n'
            yield "</div>\n"


def _inside(text: str, pieces: Sequence[Labelled], at: int, block: Block, mark: Mark) -> Iterator[str]:
    while at < len(pieces) and pieces[at].start < block.end:
        piece = pieces[at]
        inside = content(text[max(piece.start, block.start) : min(piece.end, block.end)])
        yield mark(piece, inside) if piece.labels else inside
        at += 1


def _shown(cut: Sequence[Block], near: Sequence[Span]) -> list[bool]:
    """Which blocks lie near some spans."""
    shown = [False] * len(cut)
    at = 0
    for start, end in sorted(near):
        while at < len(cut) and cut[at].end <= start:
            at += 1
        last = at
        while last < len(cut) and cut[last].start < end:
            last += 1
        first = max(at - _NEAR, 0)
        shown[first : last + _NEAR] = [True] * (min(last + _NEAR, len(cut)) - first)
    return shown
