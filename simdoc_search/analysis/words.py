"""Texts to words: many texts at once, as one buffer of normalised words and the places where they stand."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.normalise import letter_map, normaliser
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_break import runs, word_spans
from simdoc_search.analysis.word_classes import ascii_bits
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS

__all__ = ["WordBatch", "slices", "word_batch", "words"]


@dataclass(frozen=True, slots=True)
class WordBatch:
    """The normalised words of some texts, one after the other.

    Attributes:
        units: UTF-16 code units of all words, one space between two words of a text; uint16.
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
    batch = word_batch([text], analysis or Analysis())
    return slices(batch.units, batch.starts, batch.ends)


def slices(units: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
    """Slices of a buffer of UTF-16 units as strings."""
    data = units.astype("<u2", copy=False).tobytes()
    pairs = zip((2 * starts).tolist(), (2 * ends).tolist(), strict=True)
    return [data[start:end].decode("utf-16-le") for start, end in pairs]


def word_batch(texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """The words of several texts. ASCII texts need no Python object per word; others get one."""
    batches = []
    for is_ascii, group in itertools.groupby(texts, str.isascii):
        chosen = list(group)
        batches.append(_ascii_batch(chosen) if is_ascii else _any_batch(chosen, analysis.profile))
    return batches[0] if len(batches) == 1 else _concatenate(batches)


def _without_surrogates(text: str) -> str:
    """Pairs of surrogates become the character that they mean, and one without a partner U+FFFD, as in Java."""
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


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
    """Words of any script: letter by letter where that is enough, else word by word."""
    joined = "\n".join([*texts, ""])  # a line feed is in no word
    try:
        points = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
    except UnicodeEncodeError:
        return _any_batch(list(map(_without_surrogates, texts)), profile)
    starts, ends = word_spans(points)
    lengths = ends - starts
    before = np.cumsum(lengths) - lengths  # letters of the words before
    letters = letter_map(profile)(points[_places(starts, lengths)])
    whole = _words_of(np.flatnonzero(letters < 0), before)
    normalise = normaliser(profile)
    replaced = [
        normalise(joined[start:end]) for start, end in zip(starts[whole].tolist(), ends[whole].tolist(), strict=True)
    ]
    sizes = lengths.copy()
    sizes[whole] = list(map(_units, replaced))
    after = np.cumsum(sizes + 1)
    begins = after - sizes - 1
    units = np.full(int(after[-1]) if len(after) else 0, ord(" "), np.uint16)
    kept = np.ones(len(starts), bool)
    kept[whole] = False
    of_letter = np.repeat(kept, lengths)
    units[_places(begins[kept], lengths[kept])] = letters[of_letter]
    units[_places(begins[whole], sizes[whole])] = np.frombuffer("".join(replaced).encode("utf-16-le"), np.uint16)
    bounds = np.cumsum([len(text) + 1 for text in texts])
    counts = np.diff(np.searchsorted(starts, bounds), prepend=0)
    return WordBatch(units, begins, after - 1, counts)


def _units(word: str) -> int:
    """Length in UTF-16 units."""
    return len(word.encode("utf-16-le")) // 2


def _words_of(letters: NDArray[np.int64], before: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of the words that these letters are in, ascending."""
    return np.unique(np.searchsorted(before, letters, side="right") - 1)


def _places(begins: NDArray[np.int64], sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """All units of slices, one slice after the other."""
    return np.repeat(begins - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())


def _concatenate(batches: Sequence[WordBatch]) -> WordBatch:
    shifts = list(itertools.accumulate((len(batch.units) for batch in batches), initial=0))[:-1]
    return WordBatch(
        np.concatenate([np.zeros(0, np.uint16), *(batch.units for batch in batches)]),
        np.concatenate([np.zeros(0, np.int64), *(b.starts + shift for b, shift in zip(batches, shifts, strict=True))]),
        np.concatenate([np.zeros(0, np.int64), *(b.ends + shift for b, shift in zip(batches, shifts, strict=True))]),
        np.concatenate([np.zeros(0, np.int64), *(batch.counts for batch in batches)]),
    )
