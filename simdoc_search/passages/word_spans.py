"""Converts between words of a text and the spans of characters that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import WordPositions
from simdoc_search.passages.passage import Difference, Passage, Span

Mask = NDArray[np.bool_]
"""Whether each word of a text is chosen; bool, shape (words,)."""


def empty_mask(length: int = 0) -> Mask:
    """Return a mask that chooses none of `length` words."""
    return np.zeros(length, bool)


def words_to_span(text: WordPositions, first: int, end: int) -> Span:
    """Return the span of the words from `first` up to, but not including, `end`.

    If `first` is not less than `end`, the span is empty and follows the word before `first`.
    """
    if first < end:
        return int(text.starts[first]), int(text.ends[end - 1])
    position = int(text.ends[first - 1]) if first else 0
    return position, position


def mask_to_spans(text: WordPositions, is_chosen: Mask) -> list[Span]:
    """Return the spans of the chosen words. Consecutive chosen words have a common span."""
    return [words_to_span(text, first, end) for first, end in mask_to_word_ranges(is_chosen)]


def mask_to_word_ranges(is_chosen: Mask) -> list[tuple[int, int]]:
    """Return the (start, end) of each stretch of consecutive chosen words; `end` is exclusive."""
    edges = np.flatnonzero(np.diff(np.concatenate(([0], is_chosen, [0])).astype(np.int8)))
    return [(first, end) for first, end in edges.reshape(-1, 2).tolist()]


def spans_to_mask(text: WordPositions, spans: Sequence[Span]) -> Mask:
    """Mark the words of a text that are in at least one span."""
    change = np.zeros(len(text.words) + 1, np.int64)
    if spans:
        np.add.at(change, np.searchsorted(text.starts, [start for start, _ in spans]), 1)
        np.add.at(change, np.searchsorted(text.starts, [end for _, end in spans]), -1)
    inside: Mask = np.cumsum(change[:-1]) > 0
    return inside


def different_mask(text: WordPositions, differences: Iterable[Difference], *, in_second_text: bool = False) -> Mask:
    """Mark the words of a text that are in a difference, except those that are only moved."""
    changed = (difference for difference in differences if difference.kind != "moved")
    return spans_to_mask(text, [difference.b if in_second_text else difference.a for difference in changed])


def matched_mask(text: WordPositions, passages: Iterable[Passage], *, in_second_text: bool = False) -> Mask:
    """Mark the matched words of a text, which is the first or the second text of the passages."""
    return spans_to_mask(text, [run[in_second_text] for passage in passages for run in passage.runs])


def find_overlapping_words(text: WordPositions, other: WordPositions) -> tuple[list[int], list[int]]:
    """Return the index of the first word of `text` that overlaps each word of `other`, and that after the last one."""
    first, end = np.searchsorted(text.ends, other.starts, side="right"), np.searchsorted(text.starts, other.ends)
    return first.tolist(), end.tolist()


def count_words(
    texts: tuple[WordPositions, WordPositions],
    passages: Sequence[Passage],
    differences: Sequence[Difference],
    is_ignored: tuple[Mask, Mask] | None = None,
) -> dict[str, Any]:
    """Return the counts of words of a `Comparison`, each for both texts. Ignored words do not count."""
    counts = []
    for is_second, text in enumerate(texts):
        is_counted = ~is_ignored[is_second] if is_ignored else np.ones(len(text.words), bool)
        is_matched = matched_mask(text, passages, in_second_text=bool(is_second)) & is_counted
        is_different = different_mask(text, differences, in_second_text=bool(is_second)) & is_counted
        masks = is_counted, is_matched, is_counted & ~is_matched & ~is_different, is_matched & is_different
        counts.append([int(mask.sum()) for mask in masks])
    names = "word_counts", "matched_word_counts", "equal_unmatched_word_counts", "matched_different_word_counts"
    return dict(zip(names, zip(*counts, strict=True), strict=True))
