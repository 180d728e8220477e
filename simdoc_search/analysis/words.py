"""Texts to words: many texts at once, as one buffer of normalised words and the places where they stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.normalise import normaliser
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_break import MAX_WORD_UNITS, ascii_bits, runs, word_spans

__all__ = ["WordBatch", "word_batch", "words"]


@dataclass(frozen=True, slots=True)
class WordBatch:
    """The normalised words of some texts, one after the other.

    Attributes:
        units: UTF-16 code units of all words, one space between two words; uint16.
        starts: unit at which each word begins; int64, shape (words,).
        ends: unit after its last; int64, shape (words,).
        counts: number of words of each text; int64, shape (texts,).
    """

    units: NDArray[np.uint16]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    counts: NDArray[np.int64]


def words(text: str, analysis: Analysis | None = None) -> list[str]:
    """The normalised words of a text, in order, repeats included."""
    return _words(_valid(text), (analysis or Analysis()).profile)


def word_batch(texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """The words of several texts. ASCII texts need no Python object per word; others get one."""
    batches = []
    for is_ascii, group in itertools.groupby(texts, str.isascii):
        batch = _ascii_batch(list(group)) if is_ascii else _any_batch([*map(_valid, group)], analysis.profile)
        batches.append(batch)
    return batches[0] if len(batches) == 1 else _concatenate(batches)


def _valid(text: str) -> str:
    """A text in which surrogates are joined to pairs; one without a partner becomes U+FFFD, as in Java."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def _words(text: str, profile: str) -> list[str]:
    starts, ends = word_spans(text)
    normalise = normaliser(profile)
    return [normalise(text[start:end]) for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]


def _ascii_batch(texts: list[str]) -> WordBatch:
    """Words by class table over the byte buffer; both profiles only lower the case of ASCII."""
    data = "\n".join([*texts, ""]).encode("ascii")
    (starts, ends), in_word = runs(np.frombuffer(data.translate(ascii_bits()), np.uint8))
    lengths = ends - starts
    if len(lengths) and lengths.max() > MAX_WORD_UNITS:
        return _any_batch(texts, "lowercase")
    lower = np.frombuffer(bytearray(data.lower()), np.uint8)
    lower[ends] = ord(" ")  # there is one: words of ASCII never touch, and the data ends in a line feed
    in_word[ends] = True
    after = np.cumsum(lengths + 1)
    bounds = np.cumsum([len(text) + 1 for text in texts])
    counts = np.diff(np.searchsorted(starts, bounds), prepend=0)
    return WordBatch(lower[in_word].astype(np.uint16), after - lengths - 1, after - 1, counts)


def _any_batch(texts: list[str], profile: str) -> WordBatch:
    per_text = [_words(text, profile) for text in texts]
    joined = " ".join(itertools.chain.from_iterable(per_text))
    units = np.frombuffer(joined.encode("utf-16-le"), np.uint16)
    counts = np.array([len(each) for each in per_text], np.int64)
    sizes = map(len, itertools.chain.from_iterable(per_text))
    if len(units) > len(joined):  # characters beyond the BMP have two units
        sizes = (len(word.encode("utf-16-le")) // 2 for word in itertools.chain.from_iterable(per_text))
    lengths = np.fromiter(sizes, np.int64, int(counts.sum()))
    after = np.cumsum(lengths + 1)
    return WordBatch(units, after - lengths - 1, after - 1, counts)


def _concatenate(batches: Sequence[WordBatch]) -> WordBatch:
    shifts = list(itertools.accumulate((len(batch.units) for batch in batches), initial=0))[:-1]
    return WordBatch(
        np.concatenate([np.zeros(0, np.uint16), *(batch.units for batch in batches)]),
        np.concatenate([np.zeros(0, np.int64), *(b.starts + shift for b, shift in zip(batches, shifts, strict=True))]),
        np.concatenate([np.zeros(0, np.int64), *(b.ends + shift for b, shift in zip(batches, shifts, strict=True))]),
        np.concatenate([np.zeros(0, np.int64), *(batch.counts for batch in batches)]),
    )
