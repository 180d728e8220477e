"""Converts between words of a text and the spans of characters that they cover."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import WordPositions
from simdoc_search.passages.passage import Passage, Span

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


def matched_mask(text: WordPositions, passages: Iterable[Passage], *, in_second_text: bool = False) -> Mask:
    """Mark the matched words of a text, which is the first or the second text of the passages."""
    return spans_to_mask(text, [run[in_second_text] for passage in passages for run in passage.runs])
