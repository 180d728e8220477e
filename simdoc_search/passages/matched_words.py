"""Which words of a text lie in some spans of it, such as the equal runs of its passages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.words import PlacedWords
from simdoc_search.passages.passage import Passage, Span


def matched_words(text: PlacedWords, passages: Iterable[Passage], *, second: bool = False) -> NDArray[np.bool_]:
    """Which words of a text are matched: the alignment pairs them with an equal word of the other text.

    Args:
        text: the words of the first text of the passages, or of the second.
        passages: what the texts share.
        second: the text is the second one.

    Returns:
        bool, shape (words,).
    """
    return words_in(text, [run[second] for passage in passages for run in passage.runs])


def words_in(text: PlacedWords, spans: Sequence[Span]) -> NDArray[np.bool_]:
    """Which words of a text lie in some spans of it; bool, shape (words,)."""
    change = np.zeros(len(text.words) + 1, np.int64)
    if spans:
        np.add.at(change, np.searchsorted(text.starts, [start for start, _ in spans]), 1)
        np.add.at(change, np.searchsorted(text.starts, [end for _, end in spans]), -1)
    inside: NDArray[np.bool_] = np.cumsum(change[:-1]) > 0
    return inside
