"""Finds the words of many texts at once, as one buffer of normalised words with their positions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.native import kernel
from simdoc_search.analysis.normalise import letter_map, normaliser
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.word_break import Spans, ascii_bits, find_words, in_words, word_spans
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS
from simdoc_search.cancellation import check_stopped

Result = TypeVar("Result")

_SPACE = ord(" ")


@dataclass(frozen=True, slots=True)
class WordBatch:
    """The normalised words of some texts, in one buffer."""

    units: NDArray[np.uint16]  # UTF-16 code units of all words, with one space between two words of a text; uint16
    starts: NDArray[np.int64]  # position of the first unit of each word; int64, shape (words,)
    ends: NDArray[np.int64]  # position after the last unit of each word; int64, shape (words,)
    counts: NDArray[np.int64]  # number of words of each text; int64, shape (texts,)


@dataclass(frozen=True, slots=True)
class WordPositions:
    """The normalised words of a text with their positions."""

    words: list[str]  # the words, in order, including repeated ones
    starts: NDArray[np.int64]  # index in the text of each word's first character; int64, shape (words,), ascending
    ends: NDArray[np.int64]  # index after the last character of each word; int64, shape (words,)


def words(text: str, analysis: Analysis | None = None) -> list[str]:
    """Return the normalised words of a text, in order, including repeated ones."""
    return words_of_texts([text], analysis)[0]


def words_of_texts(texts: Sequence[str], analysis: Analysis | None = None) -> list[list[str]]:
    """Return the normalised words of each text. This is faster than one call of `words` per text."""
    batch = word_batch(texts, analysis or Analysis())
    all_words = iter(strings(batch.units, batch.starts, batch.ends))
    return [list(itertools.islice(all_words, count)) for count in batch.counts.tolist()]


def locate_words(text: str, analysis: Analysis | None = None) -> WordPositions:
    """Return the words with their positions in the original text. A surrogate pair counts as two characters."""
    batch, (starts, ends) = _batch_and_spans([text], (analysis or Analysis()).profile)
    placed = _join_words(batch, all_ascii=text.isascii()).split(" ")
    if len(placed) != len(starts):  # there are no words, or normalisation inserted a space into a word
        placed = strings(batch.units, batch.starts, batch.ends)
    indices = _find_original_indices(text)
    return (
        WordPositions(placed, starts, ends)
        if indices is None
        else WordPositions(placed, indices[starts], indices[ends])
    )


def joined_words(text: str, analysis: Analysis | None = None) -> str:
    """Return the normalised words of a text, joined by one space. This is faster than `words`."""
    return _join_words(word_batch([text], analysis or Analysis()), all_ascii=text.isascii())


def _join_words(batch: WordBatch, *, all_ascii: bool) -> str:
    units = batch.units[: int(batch.ends[-1])] if len(batch.ends) else batch.units[:0]
    if all_ascii:
        return units.astype(np.uint8).tobytes().decode("ascii")
    return units.astype("<u2", copy=False).tobytes().decode("utf-16-le")


def is_ascii(units: NDArray[np.uint16]) -> bool:
    """Return whether all UTF-16 units are ASCII characters."""
    return not len(units) or int(units.max()) < 128


def strings(units: NDArray[np.uint16], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> list[str]:
    """Return slices of a buffer of UTF-16 units as strings."""
    data = units.astype("<u2", copy=False).tobytes()
    text = data.decode("utf-16-le")
    if len(text) == len(units):
        return [text[start:end] for start, end in zip(starts.tolist(), ends.tolist(), strict=True)]
    # With surrogate pairs, positions of units are not positions of characters.
    pairs = zip((2 * starts).tolist(), (2 * ends).tolist(), strict=True)
    return [data[start:end].decode("utf-16-le") for start, end in pairs]


def word_batch(texts: Sequence[str], analysis: Analysis) -> WordBatch:
    """Return the words of several texts. Consecutive ASCII texts are read together by a faster method."""
    if kernel() is not None:
        return _batch_and_spans(texts, analysis.profile)[0]
    batches = []
    for all_ascii, group in itertools.groupby(texts, str.isascii):
        texts_of_group = list(group)
        batch, _ = (
            _find_ascii_words(texts_of_group) if all_ascii else _find_unicode_words(texts_of_group, analysis.profile)
        )
        batches.append(batch)
    return batches[0] if len(batches) == 1 else _concatenate(batches)


def without_surrogates(text: str) -> str:
    """Replace surrogate pairs with their characters, and unpaired surrogates with U+FFFD, as Java does."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def call_kernel_method(method: Callable[..., Result], texts: Sequence[str], *settings: Any) -> Result:
    """Call a method of the native kernel. If it rejects the texts, call it again with texts without surrogates."""
    try:
        return method(texts, *settings)
    except UnicodeEncodeError:
        return method(list(map(without_surrogates, texts)), *settings)


def _find_original_indices(text: str) -> NDArray[np.int64] | None:
    """Return the index in the text of each character that `without_surrogates` returns.

    The last element is the length of the text. None if the text has no surrogate pairs.
    """
    if text.isascii() or len(without_surrogates(text)) == len(text):
        return None
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    is_second = np.zeros(len(points) + 1, bool)
    is_second[1:-1] = (points[:-1] & 0xFFFFFC00 == 0xD800) & (points[1:] & 0xFFFFFC00 == 0xDC00)
    indices: NDArray[np.int64] = np.flatnonzero(~is_second)
    return indices


def _batch_and_spans(texts: Sequence[str], profile: str) -> tuple[WordBatch, Spans]:
    """Return the words of texts, and the spans of the words in code points.

    The spans are only valid for a single text. For several texts, the Python code counts from the start of the first
    text, but the native kernel counts from the start of each text.
    """
    native = kernel()
    if native is None:
        return (
            _find_ascii_words(list(texts))
            if all(map(str.isascii, texts))
            else _find_unicode_words(list(texts), profile)
        )
    check_stopped()
    units, *numbers = call_kernel_method(native.words, texts, profile)
    starts, ends, counts, first, last = (np.frombuffer(buffer, np.int64) for buffer in numbers)
    return WordBatch(np.frombuffer(units, np.uint16), starts, ends, counts), (first, last)


def _find_ascii_words(texts: list[str]) -> tuple[WordBatch, Spans]:
    """Find the words of ASCII texts and their positions. Both profiles convert these words to lower case."""
    data = "\n".join([*texts, ""]).encode("ascii")
    (starts, ends), in_word = find_words(np.frombuffer(data.translate(ascii_bits()), np.uint8))
    lengths = ends - starts
    if len(lengths) and lengths.max() > MAX_WORD_UNITS:
        return _find_unicode_words(texts, "lowercase")
    lower = np.frombuffer(bytearray(data.lower()), np.uint8)
    lower[ends] = _SPACE  # the character after a word is not part of a word, so a space can replace it
    in_word[ends] = True
    after = np.cumsum(lengths + 1)
    units = lower[in_word].astype(np.uint16)
    return WordBatch(units, after - lengths - 1, after - 1, _count_words(texts, starts)), (starts, ends)


def _find_unicode_words(texts: list[str], profile: str) -> tuple[WordBatch, Spans]:
    """Find words of any script, and their positions in code points. Most letters are normalised one by one."""
    joined = "\n".join([*texts, ""])  # a line feed is never in a word
    try:
        points = np.frombuffer(joined.encode("utf-32-le"), np.uint32).astype(np.intp)  # the fastest type for indexing
    except UnicodeEncodeError:
        return _find_unicode_words(list(map(without_surrogates, texts)), profile)
    starts, ends = word_spans(points)
    sizes = ends - starts
    stops = np.cumsum(sizes)  # number of letters up to the end of each word
    letters = letter_map(profile)(points[in_words(starts, ends, len(points))])
    whole = distinct(np.searchsorted(stops, np.flatnonzero(letters < 0), side="right"))
    if len(whole):
        normalise = normaliser(profile)
        spans = zip(starts[whole].tolist(), ends[whole].tolist(), strict=True)
        replaced = [normalise(joined[start:end]).encode("utf-16-le") for start, end in spans]
        letters, sizes[whole] = _replace_letters(letters, stops[whole] - sizes[whole], stops[whole], replaced)
    after = np.cumsum(sizes + 1)
    units = np.full(int(after[-1]) if len(after) else 0, _SPACE, np.uint16)
    is_letter = np.ones(len(units), bool)
    is_letter[after - 1] = False
    units[is_letter] = letters
    return WordBatch(units, after - sizes - 1, after - 1, _count_words(texts, starts)), (starts, ends)


def _count_words(texts: list[str], starts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the number of words of each text, given the starts of all words in the joined texts."""
    bounds = np.cumsum([len(text) + 1 for text in texts])
    counts: NDArray[np.int64] = np.diff(np.searchsorted(starts, bounds), prepend=0)
    return counts


def _replace_letters(
    letters: NDArray[np.int32], begins: NDArray[np.int64], ends: NDArray[np.int64], words: list[bytes]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Replace the letters from `begins[i]` to `ends[i]` with `words[i]`, which is encoded in UTF-16.

    Also return the number of UTF-16 units of each word.
    """
    gaps = np.append(begins, len(letters)) - np.append(0, ends)
    sizes = np.fromiter((len(word) // 2 for word in words), np.int64, len(words))

    def mask_words(lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
        stretches = np.empty(2 * len(words) + 1, np.int64)
        stretches[::2], stretches[1::2] = gaps, lengths
        return np.repeat(np.arange(len(stretches)) % 2 == 1, stretches)

    is_new = mask_words(sizes)
    replaced = np.empty(len(is_new), np.int32)
    replaced[is_new] = np.frombuffer(b"".join(words), "<u2")
    replaced[~is_new] = letters[~mask_words(ends - begins)]
    return replaced, sizes


def _concatenate(batches: Sequence[WordBatch]) -> WordBatch:
    shifts = list(itertools.accumulate((len(batch.units) for batch in batches), initial=0))
    none = np.zeros(0, np.int64)
    return WordBatch(
        np.concatenate([np.zeros(0, np.uint16), *(batch.units for batch in batches)]),
        np.concatenate([none, *(batch.starts + shift for batch, shift in zip(batches, shifts, strict=False))]),
        np.concatenate([none, *(batch.ends + shift for batch, shift in zip(batches, shifts, strict=False))]),
        np.concatenate([none, *(batch.counts for batch in batches)]),
    )
