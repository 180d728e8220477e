"""Forms shingles from words, as slices of the buffer of words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.token_filters import filter_words
from simdoc_search.analysis.words import WordBatch, strings, word_batch


@dataclass(frozen=True, slots=True)
class ShingleBatch:
    """The shingles of some texts, as slices of one buffer. The words in the buffer are separated by single spaces."""

    units: NDArray[np.uint16]  # UTF-16 code units; uint16
    starts: NDArray[np.int64]  # position of the first unit of each shingle; int64, shape (shingles,), in text order
    ends: NDArray[np.int64]  # position after the last unit of each shingle; int64, shape (shingles,)
    counts: NDArray[np.int64]  # number of shingles of each text, including repeated ones; int64, shape (texts,)
    with_frequencies: bool = False  # whether each occurrence of a shingle is a separate element

    def strings(self) -> list[list[str]]:
        """Return the shingles of each text as strings. With frequencies, repeated occurrences are numbered."""
        shingles = strings(self.units, self.starts, self.ends)
        ends = np.cumsum(self.counts).tolist()
        texts = [shingles[end - count : end] for end, count in zip(ends, self.counts.tolist(), strict=True)]
        return [list(_number_repeats(text)) for text in texts] if self.with_frequencies else texts


def shingles(text: str, analysis: Analysis | None = None) -> list[str]:
    """Return all shingles of a text, in order, including repeated ones; see `ShingleBatch.strings`."""
    return shingles_of_texts([text], analysis or Analysis())[1].strings()[0]


def shingles_of_texts(texts: Sequence[str], analysis: Analysis) -> tuple[WordBatch, ShingleBatch]:
    """Return the words and the shingles of texts.

    Raises:
        FormatMismatchError: the stop words of the index are not available.
        MissingExtraError: a package for stop words, stems or languages is not installed.
    """
    words = word_batch(texts, analysis)
    return words, shingle_batch(filter_words(words, texts, analysis), analysis)


def shingle_batch(words: WordBatch, analysis: Analysis) -> ShingleBatch:
    """Return the shingles of a batch of texts. This function neither removes stop words nor stems words."""
    if analysis.unit == "character":
        words = _split_into_characters(words)
    size = analysis.shingle_size
    last = np.cumsum(words.counts)  # index after the last word of each text
    first = last - words.counts
    index = np.arange(len(words.starts))
    stops = index + size  # index after the last word of the shingle that begins at each word
    begins_shingle = stops <= np.repeat(last, words.counts)
    counts = np.maximum(words.counts - size + 1, 0)
    if analysis.short_texts:
        short = (words.counts > 0) & (words.counts < size)
        begins_shingle[first[short]] = True
        stops[first[short]] = last[short]
        counts[short] = 1
    begins, stops = index[begins_shingle], stops[begins_shingle]
    return ShingleBatch(words.units, words.starts[begins], words.ends[stops - 1], counts, analysis.frequencies)


def _number_repeats(shingles: list[str]) -> Iterator[str]:
    occurrences: dict[str, int] = {}
    for shingle in shingles:
        occurrences[shingle] = occurrences.get(shingle, 0) + 1
        yield f"{shingle}\0{occurrences[shingle]}" if occurrences[shingle] > 1 else shingle


def _split_into_characters(words: WordBatch) -> WordBatch:
    """Treat every code point as a word, including the spaces between words."""
    last = np.cumsum(words.counts)
    has_words = words.counts > 0
    text_starts = words.starts[(last - words.counts)[has_words]]
    text_ends = words.ends[last[has_words] - 1]
    starts = np.flatnonzero((words.units & 0xFC00) != 0xDC00)  # omit the second half of a surrogate pair
    owner = np.searchsorted(text_ends, starts, side="right")
    inside = owner < len(text_ends)
    inside[inside] &= starts[inside] >= text_starts[owner[inside]]
    starts, owner = starts[inside], owner[inside]
    is_pair = (words.units[starts] & 0xFC00) == 0xD800
    counts = np.zeros(len(words.counts), np.int64)
    counts[has_words] = np.bincount(owner, minlength=len(text_ends))
    return WordBatch(words.units, starts, starts + 1 + is_pair, counts)
