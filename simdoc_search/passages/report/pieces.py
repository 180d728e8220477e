"""Into which pieces do passages and differences cut a text?"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from simdoc_search.passages.passage import Comparison, Span

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
