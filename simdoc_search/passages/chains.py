"""Runs of equal words to passages: what lies close together in both texts, without what is there by chance."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.windows import Ints

_FAR = 8
"""How many times the gap may be as long in one text, where next to nothing differs in the other."""

_ENDS = 40
"""Words at either end of a chain of which it is asked whether they are there by chance."""
_CHANCE = 0.02
"""How often a rare word or phrase is in both texts by chance: so many times a word."""
_FURTHER = 0.7
"""How much likelier each further word of a run is in a passage than by chance; a natural logarithm."""
_RUN, _GAP = 3, 0.5
"""Runs of a passage are taken to have so many words at most, and gaps this many at least, when the next gap is guessed:
a passage that is nearly whole has short gaps, however long its runs are."""


def dense(runs: Ints, reach: int, words: int, always: int) -> Ints:
    """The runs that have others near them.

    Args:
        runs: the runs; shape (runs, 3).
        reach: near is what lies so many words away at most, in both texts (and somewhat more: in the same or the next
            square of so many words a side).
        words: how many equal words there must be near a run, its own too; of a long run four count.
        always: runs of so many words stay.
    """
    rows, columns = runs[:, 0] // reach + 1, runs[:, 1] // reach + 1
    width = int(columns.max(initial=0)) + 2
    squares, square = np.unique(rows * width + columns, return_inverse=True)
    equal = np.bincount(square, weights=np.minimum(runs[:, 2], 4), minlength=len(squares))
    near = np.zeros(len(squares))
    for other in (down * width + right for down in (-1, 0, 1) for right in (-1, 0, 1)):
        at = np.searchsorted(squares, squares + other).clip(max=len(squares) - 1)
        near += np.where(squares[at] == squares + other, equal[at], 0)
    kept: Ints = runs[(near[square] >= words) | (runs[:, 2] >= always)]
    return kept


def uncovered(runs: Ints, first: int, second: int, always: int) -> Ints:
    """The runs that longer ones do not cover by half in either text; of those of `always` words, not wholly in both.

    Args:
        runs: the runs; shape (runs, 3).
        first: number of words of the first text.
        second: number of words of the second.
        always: from so many words on a run says something of its own.
    """
    kept = [np.zeros((0, 3), np.int64)]
    marks_a, marks_b = np.zeros(first + 1, np.int64), np.zeros(second + 1, np.int64)
    for size in distinct(runs[:, 2])[::-1].tolist():
        check_stopped()
        its = runs[runs[:, 2] == size]
        over_a, over_b = _covered(marks_a, its[:, 0], size), _covered(marks_b, its[:, 1], size)
        hidden = np.minimum(over_a, over_b) == size if size >= always else 2 * np.maximum(over_a, over_b) >= size
        its = its[~hidden]
        for marks, column in ((marks_a, 0), (marks_b, 1)):
            np.add.at(marks, its[:, column], 1)
            np.add.at(marks, its[:, column] + size, -1)
        kept.append(its)
    return np.concatenate(kept)


def _covered(marks: Ints, starts: Ints, size: int) -> Ints:
    """How many words of each run lie in others; where these begin, a mark is 1, and where they end, -1."""
    before = np.concatenate(([0], np.cumsum(np.cumsum(marks) > 0)))
    covered: Ints = before[starts + size] - before[starts]
    return covered


def chains(runs: Ints, gap: int) -> Iterator[Ints]:
    """Runs of which each is near another one: at most `gap` words lie between them, in both texts; 0: none is.

    It is the area between them that counts, gap x gap: the larger it is, the likelier is it chance. Where next to
    nothing was changed in one text, more may have been left out in the other.
    """
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    i, j, i_end, j_end = runs[:, 0], runs[:, 1], runs[:, 0] + runs[:, 2], runs[:, 1] + runs[:, 2]
    least = gap // _FAR + 1
    label = np.arange(len(runs))
    for step in range(1, len(runs) if gap else 0):
        check_stopped()
        near = np.flatnonzero(i[step:] <= i_end[:-step] + gap * gap // least)
        if not len(near):
            break
        then = near + step
        apart_a = i[then] - i_end[near]
        apart_b = np.maximum(j[then] - j_end[near], j[near] - j_end[then])
        joined = np.maximum(apart_a, apart_b) <= gap
        close = apart_a.clip(min=least) * apart_b.clip(min=least) <= gap * gap
        joined = np.where(np.minimum(apart_a, apart_b) < 0, joined, close)
        joined &= label[near] != label[then]
        if joined.any():
            label = _merged(label, label[near[joined]], label[then[joined]])
    order = np.argsort(label, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(part):
            yield runs[part]


def _merged(label: Ints, ones: Ints, others: Ints) -> Ints:
    """Labels where those that are joined are the same."""
    owner: dict[int, int] = {}

    def root(each: int) -> int:
        while each in owner:
            each = owner[each]
        return each

    for one, other in zip(ones.tolist(), others.tolist(), strict=True):
        first, second = sorted((root(one), root(other)))
        if first != second:
            owner[second] = first
    renamed = np.arange(len(label))
    for each in owner:
        renamed[each] = root(each)
    merged: Ints = renamed[label]
    return merged


def trimmed(runs: Ints, always: int) -> Ints:
    """A chain without the runs at its ends that are likelier chance than parts of it, by the gaps before them.

    Gaps inside a passage are taken to be as long as its own are on average, those between words that are equal by
    chance much longer, both exponentially distributed; what has the greater likelihood is believed. Runs of `always`
    words stay.
    """
    for column in (0, 1):
        if len(runs) < 2:
            break
        starts, ends = runs[:, column], runs[:, column] + runs[:, 2]
        words = int(runs[:, 2].sum())
        between = max(int(ends.max() - starts.min()) - words, 0)
        mean = between / words * min(words / len(runs), _RUN) + _GAP
        order = np.argsort(starts, kind="stable")
        cut = _chance(starts[order], ends[order], mean, min(_ENDS, words // 2), always)
        back = np.argsort(-ends, kind="stable")
        cut_back = _chance(-ends[back], -starts[back], mean, min(_ENDS, words // 2), always)
        kept = np.ones(len(runs), bool)
        kept[order[:cut]] = kept[back[:cut_back]] = False
        runs = runs[kept]
    return runs


def _chance(starts: Ints, ends: Ints, mean: float, most: int, always: int) -> int:
    """How many of the first runs are there by chance."""
    seen = cut = 0
    evidence = least = 0.0
    for at in range(min(len(starts) - 1, most)):
        size = int(ends[at] - starts[at])
        seen += size
        if seen > most or size >= always:
            break
        gap = max(0, int(starts[at + 1] - ends[at]))
        evidence += _FURTHER * (size - 1) - math.log(mean) - gap / mean - math.log(_CHANCE) + _CHANCE * gap
        if evidence < least:
            least, cut = evidence, at + 1
    return cut


def disjoint(runs: Ints, taken_a: NDArray[np.bool_], taken_b: NDArray[np.bool_]) -> Ints:
    """The runs without the words that longer ones have, in the order of the first text.

    Args:
        runs: the runs; shape (runs, 3).
        taken_a: for each word of the first text, whether a run has it already; changed.
        taken_b: the same of the second text.
    """
    kept: list[tuple[int, int, int]] = []
    for i, j, size in runs[np.argsort(-runs[:, 2], kind="stable")].tolist():
        taken = taken_a[i : i + size] | taken_b[j : j + size]
        start, end = 0, size
        if taken.any():
            borders = np.concatenate(([-1], np.flatnonzero(taken), [size]))
            longest = int(np.diff(borders).argmax())
            start, end = int(borders[longest]) + 1, int(borders[longest + 1])
        if start < end:
            taken_a[i + start : i + end] = taken_b[j + start : j + end] = True
            kept.append((i + start, j + start, end - start))
    return np.array(sorted(kept), np.int64).reshape(-1, 3)


def parted(runs: Ints, gap: int, replaced: int) -> Iterator[Ints]:
    """The parts of a passage between the author's own words.

    Args:
        runs: the matched runs in the order of the first text; shape (runs, 3).
        gap: own words inside a part, at most.
        replaced: the same where they stand for about as many words of the second text; both sides of such a gap have at
            least half as many matched words.
    """
    i, j, size = runs.T
    own = i[1:] - np.maximum.accumulate(i + size)[:-1]
    other = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
    words = np.concatenate(([0], np.cumsum(size)))
    stands_for = (own <= replaced) & (own <= 2 * other)
    start = 0
    for at in np.flatnonzero(own > gap).tolist():
        sides = min(words[at + 1] - words[start], words[-1] - words[at + 1])
        if not (stands_for[at] and 2 * sides >= own[at]):
            yield runs[start : at + 1]
            start = at + 1
    if start < len(runs):
        yield runs[start:]


def hull(runs: Ints) -> tuple[int, int, int, int]:
    """The first word of some runs and the one after the last, in the first text and in the second."""
    ends = runs[:, :2] + runs[:, 2:]
    return int(runs[:, 0].min()), int(ends[:, 0].max()), int(runs[:, 1].min()), int(ends[:, 1].max())
