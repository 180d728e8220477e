"""Chains of runs: equal runs that are close together in both texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.runs import NO_RUNS
from simdoc_search.passages.windows import Ints
from simdoc_search.passages.word_spans import Mask, stretches

_MAX_STRETCH = 8
"""A gap may be this many times as long in one text if almost nothing differs in the other."""
_COUNTED_WORDS = 4
"""Words of a run that count in `dense`."""


def dense(runs: Ints, reach: int, min_words: int, keep_length: int) -> Ints:
    """The runs with at least `min_words` equal words near them, and those of at least `keep_length` words.

    Runs are near if they are in the same square of `reach` words, or in a neighbouring one. At most 4 words of a run
    count.
    """
    rows, columns = runs[:, 0] // reach + 1, runs[:, 1] // reach + 1
    width = int(columns.max(initial=0)) + 2
    squares, square = np.unique(rows * width + columns, return_inverse=True)
    words = np.bincount(square, weights=np.minimum(runs[:, 2], _COUNTED_WORDS), minlength=len(squares))
    near = np.zeros(len(squares))
    for offset in (down * width + right for down in (-1, 0, 1) for right in (-1, 0, 1)):
        at = np.searchsorted(squares, squares + offset).clip(max=len(squares) - 1)
        near += np.where(squares[at] == squares + offset, words[at], 0)
    kept: Ints = runs[(near[square] >= min_words) | (runs[:, 2] >= keep_length)]
    return kept


def uncovered(runs: Ints, sizes: tuple[int, int], long_length: int) -> Ints:
    """The runs that longer runs do not cover: short ones by half in either text, long ones completely in both.

    The texts have `sizes` words. A run is long from `long_length` words on.
    """
    kept = [NO_RUNS]
    marks_a, marks_b = (np.zeros(size + 1, np.int64) for size in sizes)
    for size in distinct(runs[:, 2])[::-1].tolist():
        check_stopped()
        equal = runs[runs[:, 2] == size]
        over_a, over_b = _covered_words(marks_a, equal[:, 0], size), _covered_words(marks_b, equal[:, 1], size)
        if size >= long_length:
            equal = equal[np.minimum(over_a, over_b) < size]
        else:
            equal = equal[2 * np.maximum(over_a, over_b) < size]
        for marks, column in ((marks_a, 0), (marks_b, 1)):
            np.add.at(marks, equal[:, column], 1)
            np.add.at(marks, equal[:, column] + size, -1)
        kept.append(equal)
    return np.concatenate(kept)


def _covered_words(marks: Ints, starts: Ints, size: int) -> Ints:
    """How many words of each run are in other runs. `marks` has 1 where these begin and -1 where they end."""
    before = np.concatenate(([0], np.cumsum(np.cumsum(marks) > 0)))
    covered: Ints = before[starts + size] - before[starts]
    return covered


def chains(runs: Ints, gap: int) -> Iterator[Ints]:
    """The groups of runs with at most `gap` words between neighbours, in both texts. With 0, each run is one.

    The area between two runs counts, which is at most gap x gap. The larger it is, the more likely is chance. If almost
    nothing was changed in one text, more may have been left out in the other.
    """
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    i, j, i_end, j_end = runs[:, 0], runs[:, 1], runs[:, 0] + runs[:, 2], runs[:, 1] + runs[:, 2]
    min_gap = gap // _MAX_STRETCH + 1
    label = np.arange(len(runs))
    for step in range(1, len(runs) if gap else 0):
        check_stopped()
        near = np.flatnonzero(i[step:] <= i_end[:-step] + gap * gap // min_gap)
        if not len(near):
            break
        later = near + step
        gap_a = i[later] - i_end[near]
        gap_b = np.maximum(j[later] - j_end[near], j[near] - j_end[later])
        is_near = np.maximum(gap_a, gap_b) <= gap
        is_small = gap_a.clip(min=min_gap) * gap_b.clip(min=min_gap) <= gap * gap
        joined = np.where(np.minimum(gap_a, gap_b) < 0, is_near, is_small)
        joined &= label[near] != label[later]
        if joined.any():
            label = _merged(label, label[near[joined]], label[later[joined]])
    order = np.argsort(label, kind="stable")
    for chain in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(chain):
            yield runs[chain]


def _merged(label: Ints, ones: Ints, others: Ints) -> Ints:
    """The labels after each of `ones` became equal to one of `others`."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while node in parent:
            node = parent[node]
        return node

    for one, other in zip(ones.tolist(), others.tolist(), strict=True):
        first, second = sorted((root(one), root(other)))
        if first != second:
            parent[second] = first
    roots = np.arange(len(label))
    for node in parent:
        roots[node] = root(node)
    merged: Ints = roots[label]
    return merged


def disjoint(runs: Ints, taken_a: Mask, taken_b: Mask) -> Ints:
    """The runs without the words of longer runs, in the order of the first text.

    `taken_a` and `taken_b` are the words that runs already have. The words of the result are added to them.
    """
    kept: list[tuple[int, int, int]] = []
    for i, j, size in runs[np.argsort(-runs[:, 2], kind="stable")].tolist():
        free = ~(taken_a[i : i + size] | taken_b[j : j + size])
        start, end = max(stretches(free), key=lambda stretch: stretch[1] - stretch[0], default=(0, 0))
        if start < end:
            taken_a[i + start : i + end] = taken_b[j + start : j + end] = True
            kept.append((i + start, j + start, end - start))
    return np.array(sorted(kept), np.int64).reshape(-1, 3)


def parted(runs: Ints, gap: int, max_replaced: int) -> Iterator[Ints]:
    """The parts of a passage between the author's own words.

    A part has at most `gap` own words between two runs. It may have up to `max_replaced` if they replace about as many
    words of the second text, and if each side of the gap has at least half as many matched words.
    """
    i, j, size = runs.T
    own = i[1:] - np.maximum.accumulate(i + size)[:-1]
    other = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
    words = np.concatenate(([0], np.cumsum(size)))
    is_replacement = (own <= max_replaced) & (own <= 2 * other)
    start = 0
    for at in np.flatnonzero(own > gap).tolist():
        smaller_side = min(words[at + 1] - words[start], words[-1] - words[at + 1])
        if not (is_replacement[at] and 2 * smaller_side >= own[at]):
            yield runs[start : at + 1]
            start = at + 1
    if start < len(runs):
        yield runs[start:]


def hull(runs: Ints) -> tuple[int, int, int, int]:
    """The first word of some runs and the word after the last, in the first text and in the second."""
    ends = runs[:, :2] + runs[:, 2:]
    return int(runs[:, 0].min()), int(ends[:, 0].max()), int(runs[:, 1].min()), int(ends[:, 1].max())
