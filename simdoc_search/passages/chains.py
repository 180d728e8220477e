"""Joins runs of equal words into chains. The runs of a chain are close together in both texts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from simdoc_search.analysis.distinct import distinct
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.runs import NO_RUNS
from simdoc_search.passages.subsequences import EqualRun, heaviest_increasing_subsequence
from simdoc_search.passages.windows import Ints
from simdoc_search.passages.word_spans import Mask, mask_to_word_ranges

_MAX_GAP_FACTOR = 8
"""If the gap in one text is very short, the gap in the other text may be up to 8 times `max_gap`."""
_MAX_COUNTED_WORDS_PER_RUN = 4
"""`select_dense_runs` counts at most this many words of each run."""
_MIN_MOVED_WORDS = 2
"""The minimum number of matched words of a passage that were moved together. A single word is not counted as moved."""
_MAX_MOVED_GAP = 10
"""The maximum number of words between two runs that were moved together."""


def select_dense_runs(runs: Ints, reach: int, min_words: int, min_kept_length: int) -> Ints:
    """Return runs of at least `min_kept_length` words, and runs with at least `min_words` equal words near them.

    A grid with one text on each axis is divided into squares of `reach` x `reach` words. Two runs are near each other
    if they begin in the same square or in adjacent squares. At most 4 words of each run count.
    """
    rows, columns = runs[:, 0] // reach + 1, runs[:, 1] // reach + 1
    width = int(columns.max(initial=0)) + 2
    squares, square = np.unique(rows * width + columns, return_inverse=True)
    words = np.bincount(square, weights=np.minimum(runs[:, 2], _MAX_COUNTED_WORDS_PER_RUN), minlength=len(squares))
    nearby_words = np.zeros(len(squares))
    for offset in (down * width + right for down in (-1, 0, 1) for right in (-1, 0, 1)):
        adjacent = np.searchsorted(squares, squares + offset).clip(max=len(squares) - 1)
        nearby_words += np.where(squares[adjacent] == squares + offset, words[adjacent], 0)
    kept: Ints = runs[(nearby_words[square] >= min_words) | (runs[:, 2] >= min_kept_length)]
    return kept


def select_uncovered_runs(runs: Ints, text_lengths: tuple[int, int], min_long_run: int) -> Ints:
    """Return the runs that longer runs do not cover.

    A short run is covered if at least half of it is in longer runs, in either text. A run of at least `min_long_run`
    words is covered only if all of it is in longer runs, in both texts. `text_lengths` are the numbers of words of the
    texts.
    """
    kept = [NO_RUNS]
    marks_a, marks_b = (np.zeros(size + 1, np.int64) for size in text_lengths)
    for size in distinct(runs[:, 2])[::-1].tolist():
        check_stopped()
        same_size_runs = runs[runs[:, 2] == size]
        covered_a = _count_covered_words(marks_a, same_size_runs[:, 0], size)
        covered_b = _count_covered_words(marks_b, same_size_runs[:, 1], size)
        if size >= min_long_run:
            same_size_runs = same_size_runs[np.minimum(covered_a, covered_b) < size]
        else:
            same_size_runs = same_size_runs[2 * np.maximum(covered_a, covered_b) < size]
        for marks, column in ((marks_a, 0), (marks_b, 1)):
            np.add.at(marks, same_size_runs[:, column], 1)
            np.add.at(marks, same_size_runs[:, column] + size, -1)
        kept.append(same_size_runs)
    return np.concatenate(kept)


def _count_covered_words(marks: Ints, starts: Ints, size: int) -> Ints:
    """Count the words of each run that are in other runs.

    `marks` contains 1 where another run begins, and -1 where another run ends.
    """
    covered_before = np.concatenate(([0], np.cumsum(np.cumsum(marks) > 0)))
    covered: Ints = covered_before[starts + size] - covered_before[starts]
    return covered


def join_into_chains(runs: Ints, max_gap: int) -> Iterator[Ints]:
    """Join runs into chains. Neighbours in a chain are at most about `max_gap` words apart; 0 joins no runs.

    The product of the gaps in the two texts must be at most `max_gap` squared, because with a larger product, the two
    runs are more likely to be near each other only by chance. The gap in one text may therefore be longer if the gap in
    the other text is short.
    """
    runs = runs[np.lexsort((runs[:, 1], runs[:, 0]))]
    i, j, i_end, j_end = runs[:, 0], runs[:, 1], runs[:, 0] + runs[:, 2], runs[:, 1] + runs[:, 2]
    min_gap = max_gap // _MAX_GAP_FACTOR + 1
    label = np.arange(len(runs))
    for step in range(1, len(runs) if max_gap else 0):
        check_stopped()
        near = np.flatnonzero(i[step:] <= i_end[:-step] + max_gap**2 // min_gap)
        if not len(near):
            break
        later = near + step
        gap_a = i[later] - i_end[near]
        gap_b = np.maximum(j[later] - j_end[near], j[near] - j_end[later])
        is_near = np.maximum(gap_a, gap_b) <= max_gap
        is_small = gap_a.clip(min=min_gap) * gap_b.clip(min=min_gap) <= max_gap**2
        joined = np.where(np.minimum(gap_a, gap_b) < 0, is_near, is_small)
        joined &= label[near] != label[later]
        if joined.any():
            label = _merge_labels(label, label[near[joined]], label[later[joined]])
    order = np.argsort(label, kind="stable")
    for chain in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        if len(chain):
            yield runs[chain]


def _merge_labels(labels: Ints, first_labels: Ints, second_labels: Ints) -> Ints:
    """Merge each of `first_labels` with the label at the same index in `second_labels`. Return the new labels."""
    parent: dict[int, int] = {}

    def root(node: int) -> int:
        while node in parent:
            node = parent[node]
        return node

    for one, other in zip(first_labels.tolist(), second_labels.tolist(), strict=True):
        first, second = sorted((root(one), root(other)))
        if first != second:
            parent[second] = first
    roots = np.arange(len(labels))
    for node in parent:
        roots[node] = root(node)
    merged: Ints = roots[labels]
    return merged


def cut_overlaps(runs: Ints, is_taken_a: Mask, is_taken_b: Mask) -> Ints:
    """Cut each run down to its longest stretch that does not overlap a longer run.

    The runs are returned in the order of the first text. `is_taken_a` and `is_taken_b` mark the words that are already
    in runs. This function also marks the words of the returned runs.
    """
    kept: list[tuple[int, int, int]] = []
    for i, j, size in runs[np.argsort(-runs[:, 2], kind="stable")].tolist():
        free = ~(is_taken_a[i : i + size] | is_taken_b[j : j + size])
        start, end = max(mask_to_word_ranges(free), key=lambda stretch: stretch[1] - stretch[0], default=(0, 0))
        if start < end:
            is_taken_a[i + start : i + end] = is_taken_b[j + start : j + end] = True
            kept.append((i + start, j + start, end - start))
    return np.array(sorted(kept), np.int64).reshape(-1, 3)


def drop_displaced_words(runs: Ints, min_run: int) -> Ints:
    """Remove the words of a passage that are in another order in the two texts, unless at least 2 were moved together.

    A replaced word is often equal to a word that the other text has elsewhere in the passage. If `min_run` is 1, such a
    word is long enough to be shared. `runs` must be in the order of the first text and must not overlap.
    """
    if (np.diff(runs[:, 1]) > 0).all():
        return runs
    ordered = [(i, j, size) for i, j, size in runs.tolist()]
    unmoved = heaviest_increasing_subsequence(ordered)
    blocks = group_moved_runs(ordered, unmoved)
    moved = [block for block in blocks if sum(size for _, _, size in block) >= min(_MIN_MOVED_WORDS, min_run)]
    return np.array(sorted(itertools.chain(unmoved, *moved)), np.int64)


def group_moved_runs(runs: Sequence[EqualRun], unmoved: Sequence[EqualRun]) -> Iterator[list[EqualRun]]:
    """Yield blocks of runs that were moved together.

    Between two runs of a block, both texts have at most 10 words and no other run.

    Args:
        runs: Runs in the order of the first text, without overlaps.
        unmoved: The runs that were not moved.
    """
    next_in_a = dict(itertools.pairwise(runs))
    next_in_b = dict(itertools.pairwise(sorted(runs, key=lambda run: run[1])))
    block: list[EqualRun] = []
    for run in sorted(set(runs).difference(unmoved)):
        if block:
            i, j, size = last = block[-1]
            is_near = run[0] - i - size <= _MAX_MOVED_GAP and 0 <= run[1] - j - size <= _MAX_MOVED_GAP
            if not (is_near and next_in_a.get(last) == run == next_in_b.get(last)):
                yield block
                block = []
        block.append(run)
    if block:
        yield block


def split_at_gaps(runs: Ints, max_gap: int, max_replaced_words: int) -> Iterator[Ints]:
    """Split a passage where the first text has many unmatched words.

    In the first text, a part has at most `max_gap` unmatched words between two runs. Up to `max_replaced_words` are
    allowed under two conditions. In the second text, there must be at least half as many unmatched words between the
    two runs. On each side of the gap, there must be at least half as many matched words.
    """
    i, j, size = runs.T
    gap_a = i[1:] - np.maximum.accumulate(i + size)[:-1]
    gap_b = np.maximum(j[1:] - j[:-1] - size[:-1], j[:-1] - j[1:] - size[1:])
    words = np.concatenate(([0], np.cumsum(size)))
    is_replacement = (gap_a <= max_replaced_words) & (gap_a <= 2 * gap_b)
    start = 0
    for last in np.flatnonzero(gap_a > max_gap).tolist():
        smaller_side = min(words[last + 1] - words[start], words[-1] - words[last + 1])
        if not (is_replacement[last] and 2 * smaller_side >= gap_a[last]):
            yield runs[start : last + 1]
            start = last + 1
    if start < len(runs):
        yield runs[start:]


def bounding_box(runs: Ints) -> tuple[int, int, int, int]:
    """Return the bounding box of the runs: start and end (exclusive) in the first text, then in the second."""
    ends = runs[:, :2] + runs[:, 2:]
    return int(runs[:, 0].min()), int(ends[:, 0].max()), int(runs[:, 1].min()), int(ends[:, 1].max())
