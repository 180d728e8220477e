"""Gives each word of texts an integer id. Equal words have equal ids, so texts can be compared by these ids."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import call_kernel_method, locate_words
from simdoc_search.cancellation import check_stopped

WordIds = NDArray[np.int32]


class TextWordIds(NamedTuple):
    """The words of a text.

    `ids` are those of the words, in order; int32, shape (words,). `has_space` says whether a normalised word contains a
    space. In shingles, such a word counts as several words.
    """

    ids: WordIds
    has_space: bool


def assign_word_ids(texts: Sequence[str], analysis: Analysis) -> list[TextWordIds]:
    """Return the ids of the words of each text. Words that are equal in different texts have the same id."""
    check_stopped()
    native = kernel()
    if native is None:
        return _assign_word_ids_in_python(texts, analysis)
    ids, counts, has_space = call_kernel_method(native.word_numbers, texts, analysis.profile)
    ends = np.cumsum(np.frombuffer(counts, np.int64))
    rows = np.split(np.frombuffer(ids, np.int32), ends[:-1])
    return [TextWordIds(row, bool(flag)) for row, flag in zip(rows, has_space, strict=False)]


def _assign_word_ids_in_python(texts: Sequence[str], analysis: Analysis) -> list[TextWordIds]:
    known: dict[str, int] = {}
    word_ids = []
    for text in texts:
        words = locate_words(text, analysis).words
        ids = np.array([known.setdefault(word, len(known)) for word in words], np.int32)
        word_ids.append(TextWordIds(ids, any(" " in word for word in words)))
    return word_ids
