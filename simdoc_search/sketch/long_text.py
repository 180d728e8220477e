"""Computes the fingerprint of a long text piece by piece, in bounded memory.

A text is never cut inside a word. The last words of each piece are also put before the words of the next piece, so that
the text has the same shingles as if it were not cut. To count distinct shingles, all their hashes are kept until the
end. Each hash has 8 bytes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.hashes import WordsHash
from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.shingles import ShingleBatch, shingle_batch
from simdoc_search.analysis.word_break import word_spans
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS, character_classes
from simdoc_search.analysis.words import WordBatch, without_surrogates, word_batch
from simdoc_search.cancellation import check_stopped
from simdoc_search.sketch.base import Minima, Sketch
from simdoc_search.sketch.hash_functions import Hashes
from simdoc_search.sketch.hashing import compute_minima, hash_shingles, top_bits
from simdoc_search.sketch.winnow import Winnowing

MIN_LONG_TEXT_LENGTH = 1 << 21
"""Minimum number of characters of a text that is cut into pieces."""

_PIECE_LENGTH = 1 << 20  # minimum number of characters of a piece
_LOOKAHEAD_LENGTH = 1 << 12  # number of characters in which the end of a word is searched for


def can_cut_texts(analysis: Analysis, sketch: Sketch) -> bool:
    """Return whether texts can be cut.

    Shingles must consist of words. No stop words may be removed, no words stemmed, and no repeated shingles counted.
    The sketch must be able to merge minima.
    """
    return sketch.can_merge and analysis.unit == "word" and analysis.is_plain


def long_text_minima(
    text: str,
    analysis: Analysis,
    sketch: Sketch,
    words_hash: WordsHash | None = None,
    winnowing: Winnowing | None = None,
) -> tuple[Minima, int]:
    """Return the minima of one long text, before `Sketch.complete`, and the number of distinct shingles.

    All words are also added to `words_hash`, and all shingles to `winnowing`.
    """
    best: Minima | None = None
    seen: list[Hashes] = []
    for shingles in shingles_in_pieces(text, analysis, words_hash):
        h1, h2 = hash_shingles(shingles, sketch.key)
        (values,) = compute_minima(shingles, sketch, h1, h2)
        best = values if best is None else sketch.merge(best, values)
        seen.append(distinct(h1))
        if winnowing is not None:
            winnowing.add(top_bits(h1))
    assert best is not None  # noqa: S101 - every text has at least one piece
    return best, len(distinct(np.concatenate(seen)))


def shingles_in_pieces(text: str, analysis: Analysis, words_hash: WordsHash | None = None) -> Iterator[ShingleBatch]:
    """Yield the shingles of one text, piece by piece, in order. All words are also added to `words_hash`."""
    without_short_texts = replace(analysis, short_texts=False)  # a piece with few words is not a short text
    previous_words = _empty_batch()
    has_shingles = False
    for piece in _split_into_pieces(text):
        check_stopped()
        words_of_piece = word_batch([piece], analysis)
        if words_hash is not None:
            words_hash.add(words_of_piece)
        words = _concatenate(previous_words, words_of_piece)
        if int(words.counts[0]) >= analysis.shingle_size:
            has_shingles = True
            yield shingle_batch(words, without_short_texts)
        previous_words = _last_words(words, analysis.shingle_size - 1)
    if not has_shingles:
        yield shingle_batch(previous_words, analysis)


def _split_into_pieces(text: str) -> Iterator[str]:
    """Yield pieces of the text. The words of each piece are the same as in the whole text."""
    text = without_surrogates(text)  # otherwise a surrogate pair might be cut
    start = 0
    while start < len(text):
        end = _find_next_gap(text, start + _PIECE_LENGTH) or start + _find_word_end(
            text[start : start + _PIECE_LENGTH + MAX_WORD_UNITS]
        )
        yield text[start:end]
        start = end


def _find_next_gap(text: str, start: int) -> int:
    """Return the position after the next character that cannot be in a word, or 0 if none is near `start`."""
    if start >= len(text):
        return len(text)
    outside = np.flatnonzero(character_classes().class_ids[_code_points(text[start : start + _LOOKAHEAD_LENGTH])] == 0)
    return start + int(outside[0]) + 1 if len(outside) else 0


def _find_word_end(text: str) -> int:
    """Return the end of the last word that begins within `_PIECE_LENGTH` characters."""
    starts, ends = word_spans(_code_points(text))
    count = int(np.searchsorted(starts, _PIECE_LENGTH, side="right"))
    return max(_PIECE_LENGTH, int(ends[count - 1])) if count else _PIECE_LENGTH


def _code_points(text: str) -> NDArray[np.uint32]:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32)


def _empty_batch() -> WordBatch:
    none = np.zeros(0, np.int64)
    return WordBatch(np.zeros(0, np.uint16), none, none, np.zeros(1, np.int64))


def _last_words(words: WordBatch, count: int) -> WordBatch:
    """Return the last `count` words of a batch with one text."""
    kept = min(count, len(words.starts))
    if not kept:
        return _empty_batch()
    starts, ends = words.starts[-kept:], words.ends[-kept:]
    first = int(starts[0])
    return WordBatch(words.units[first : int(ends[-1])], starts - first, ends - first, np.array([kept]))


def _concatenate(previous_words: WordBatch, words: WordBatch) -> WordBatch:
    """Concatenate the words of two batches with one text each."""
    if not len(previous_words.starts):
        return words
    space: NDArray[np.uint16] = np.full(1, ord(" "), np.uint16)
    shift = len(previous_words.units) + 1
    return WordBatch(
        np.concatenate((previous_words.units, space, words.units)),
        np.concatenate((previous_words.starts, words.starts + shift)),
        np.concatenate((previous_words.ends, words.ends + shift)),
        previous_words.counts + words.counts,
    )
