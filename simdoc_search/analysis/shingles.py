"""Shingles of words, as slices of the buffer of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.token_filters import represented
from simdoc_search.analysis.words import WordBatch, slices, word_batch


@dataclass(frozen=True, slots=True)
class ShingleBatch:
    """The shingles of some texts as slices of one buffer, in which words joined by one space are ready to be hashed.

    Attributes:
        units: UTF-16 code units; uint16.
        starts: first unit of each shingle; int64, shape (shingles,), in text order.
        ends: unit after the last; int64, shape (shingles,).
        counts: number of shingles of each text, repeats included; int64, shape (texts,).
        with_frequencies: whether each occurrence of a shingle is an element of its own.
    """

    units: NDArray[np.uint16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]
    with_frequencies: bool = False

    def strings(self) -> list[str]:
        """The shingles as strings. Where frequencies count, repeated occurrences in a text are numbered."""
        found = slices(self.units, self.starts, self.ends)
        if not self.with_frequencies:
            return found
        ends = np.cumsum(self.counts).tolist()
        texts = (found[end - count : end] for end, count in zip(ends, self.counts.tolist(), strict=True))
        return [each for text in texts for each in _with_numbers(text)]


def shingles(text: str, analysis: Analysis | None = None) -> list[str]:
    """Return the shingles of a text, in order, repeats included; see `ShingleBatch.strings`."""
    analysis = analysis or Analysis()
    return shingles_of_texts([text], analysis)[1].strings()


def shingles_of_texts(texts: Sequence[str], analysis: Analysis) -> tuple[WordBatch, ShingleBatch]:
    """Return the words of some texts, and their shingles.

    Raises:
        FormatMismatchError: the stop words of the index are not known.
        MissingExtraError: a package for stop words, stems or languages is not installed.
    """
    words = word_batch(texts, analysis)
    return words, shingle_batch(represented(words, texts, analysis), analysis)


def shingle_batch(words: WordBatch, analysis: Analysis) -> ShingleBatch:
    """Return the shingles of a batch of texts, of exactly these words."""
    if analysis.unit == "character":
        words = _characters(words)
    size = analysis.shingle_size
    last = np.cumsum(words.counts)  # after the last word of each text
    first = last - words.counts
    index = np.arange(len(words.starts))
    ends_at = index + size  # after the last word of the shingle that begins here
    whole = ends_at <= np.repeat(last, words.counts)
    if analysis.short_texts:
        short = (words.counts > 0) & (words.counts < size)
        whole[first[short]] = True
        ends_at[first[short]] = last[short]
    begins, stops = index[whole], ends_at[whole]
    counts = np.maximum(words.counts - size + 1, 0)
    if analysis.short_texts:
        counts[short] = 1
    return ShingleBatch(words.units, words.starts[begins], words.ends[stops - 1], counts, analysis.frequencies)


def _with_numbers(shingles: list[str]) -> Iterator[str]:
    times: dict[str, int] = {}
    for each in shingles:
        times[each] = times.get(each, 0) + 1
        yield f"{each}\0{times[each]}" if times[each] > 1 else each


def _characters(words: WordBatch) -> WordBatch:
    """Treat every code point as a word, the joining spaces included."""
    last = np.cumsum(words.counts)
    has_words = words.counts > 0
    text_starts = words.starts[(last - words.counts)[has_words]]
    text_ends = words.ends[last[has_words] - 1]
    starts = np.flatnonzero((words.units & 0xFC00) != 0xDC00)  # not the second half of a pair
    owner = np.searchsorted(text_ends, starts, side="right")
    inside = owner < len(text_ends)
    inside[inside] &= starts[inside] >= text_starts[owner[inside]]
    starts, owner = starts[inside], owner[inside]
    pair = (words.units[starts] & 0xFC00) == 0xD800
    counts = np.zeros(len(words.counts), np.int64)
    counts[has_words] = np.bincount(owner, minlength=len(text_ends))
    return WordBatch(words.units, starts, starts + 1 + pair, counts)
