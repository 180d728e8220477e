"""Gives each word of texts an integer id. Equal words have equal ids, so texts can be compared without their words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import call_with_texts, locate_words
from simdoc_search.cancellation import check_stopped

Numbers = NDArray[np.int32]


class NumberedWords(NamedTuple):
    """The words of a text.

    Attributes:
        numbers: the integer id of each word, in order; int32, shape (words,).
        has_space: whether a normalised word contains a space. It then counts as several words of a shingle.
    """

    numbers: Numbers
    has_space: bool


def number_words(texts: Sequence[str], analysis: Analysis) -> list[NumberedWords]:
    """Return the ids of the words of each text. Words that are equal in different texts have the same id."""
    check_stopped()
    native = kernel()
    if native is None:
        return _number_words_in_python(texts, analysis)
    numbers, counts, has_space = call_with_texts(native.word_numbers, texts, analysis.profile)
    ends = np.cumsum(np.frombuffer(counts, np.int64))
    rows = np.split(np.frombuffer(numbers, np.int32), ends[:-1])
    return [NumberedWords(row, bool(flag)) for row, flag in zip(rows, has_space, strict=False)]


def _number_words_in_python(texts: Sequence[str], analysis: Analysis) -> list[NumberedWords]:
    known: dict[str, int] = {}
    numbered = []
    for text in texts:
        words = locate_words(text, analysis).words
        numbers = np.array([known.setdefault(word, len(known)) for word in words], np.int32)
        numbered.append(NumberedWords(numbers, any(" " in word for word in words)))
    return numbered
