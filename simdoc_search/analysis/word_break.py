"""Finds word boundaries, as Lucene's StandardTokenizer does (UAX #29).

The module finds all boundaries of a text at once, from the class of each character and of its neighbours. It needs the
grammar (word_grammar.py) only for emoji, Hebrew quotation marks and words over the maximum length.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct
from simdoc_search.analysis.word_grammar import MAX_WORD_UNITS, character_classes, scan_words

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Starts and ends of words."""

_LETTER, _DIGIT, _KATAKANA, _CONNECTOR = 1, 2, 4, 8  # runs of these characters are words
_MID_LETTER, _MID_NUMBER = 16, 32  # part of a word: _MID_LETTER between letters, _MID_NUMBER between digits
_SINGLE_CHARACTER_WORD = 64  # each Han or Hiragana character is a word
_COMPLEX_CONTEXT = 128  # a run of characters of a script such as Thai, Lao or Khmer is one word
_RUN_BITS = _LETTER | _DIGIT | _KATAKANA | _CONNECTOR

_BITS_BY_PROPERTY = {
    "ALetter": _LETTER,
    "Hebrew": _LETTER,
    "Numeric": _DIGIT,
    "Katakana": _KATAKANA,
    "ExtendNumLet": _CONNECTOR,
    "MidLetter": _MID_LETTER,
    "MidNum": _MID_NUMBER,
    "MidNumLet": _MID_LETTER | _MID_NUMBER,
    "SingleQuote": _MID_LETTER | _MID_NUMBER,
    "Han": _SINGLE_CHARACTER_WORD,
    "Hiragana": _SINGLE_CHARACTER_WORD,
    "ComplexContext": _COMPLEX_CONTEXT,
}


class _Tables:
    """Properties of each class of characters. Each array has the shape (classes,)."""

    def __init__(self) -> None:
        have_any = character_classes().have_any
        self.bits: NDArray[np.uint8] = np.array(
            [_combine_bits(names) for names in character_classes().properties], np.uint8
        )
        self.is_extend: NDArray[np.bool_] = have_any("Extend")
        self.is_hebrew: NDArray[np.bool_] = have_any("Hebrew")
        self.is_quote: NDArray[np.bool_] = have_any("SingleQuote", "DoubleQuote")
        self.is_emoji: NDArray[np.bool_] = have_any("Emoji", "EmojiModifier", "RegionalIndicator", "Keycap")
        self.is_complex_mark: NDArray[np.bool_] = self.is_extend & have_any("ComplexContext")
        self.may_need_grammar: NDArray[np.bool_] = self.is_emoji | self.is_hebrew | self.is_complex_mark


def _combine_bits(properties: frozenset[str]) -> int:
    if properties >= {"ALetter", "Han"}:
        return _LETTER  # U+3005 and U+303B have both properties. As letters, they match the longer run
    return sum({_BITS_BY_PROPERTY.get(name, 0) for name in properties})


_tables = functools.cache(_Tables)


@functools.cache
def ascii_bits() -> bytes:
    """Return a table for `bytes.translate` that maps each ASCII character to its `_BITS_BY_PROPERTY`."""
    return _tables().bits[character_classes().class_ids[:128]].tobytes() + bytes(128)


def _lookup(class_ids: NDArray[np.uint8], table: NDArray[np.uint8] | NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return `table[class_ids]`, at the speed of `bytes.translate`."""
    return np.frombuffer(class_ids.tobytes().translate(table.tobytes().ljust(256, b"\0")), np.uint8)


def word_spans(points: NDArray[np.integer]) -> Spans:
    """Find the words of a text, as Lucene's StandardTokenizer does.

    Args:
        points: code points of the text, of any integer type. Surrogates are not part of words.

    Returns:
        Start and end offsets of the words in code points, int64, shape (words,), ascending.
    """
    class_ids = character_classes().class_ids[points]
    starts, ends = _find_words_by_neighbours(class_ids)
    stretches = _stretches_to_rescan(class_ids, _find_long_words(points, starts, ends))
    return _rescan(class_ids, points, starts, ends, stretches) if stretches else (starts, ends)


def _find_words_by_neighbours(class_ids: NDArray[np.uint8]) -> Spans:
    """Find all words at once. The words in the stretches that `_stretches_to_rescan` returns may be wrong."""
    bits = _lookup(class_ids, _tables().bits)
    extend = _lookup(class_ids, _tables().is_extend).view(bool)
    if not extend.any():
        return find_words(bits)[0]
    # UAX #29 WB4: marks and format characters belong to the character before them, so they are removed first.
    not_marks = np.flatnonzero(~extend)
    (starts, ends), _ = find_words(bits[not_marks])
    after = np.append(not_marks, len(class_ids))  # a word ends at the next character that is not a mark
    return after[starts], after[ends]


def find_words(bits: NDArray[np.uint8]) -> tuple[Spans, NDArray[np.bool_]]:
    """Find words in a sequence of characters without combining marks.

    Args:
        bits: properties of each character; see `_BITS_BY_PROPERTY`; shape (characters,).

    Returns:
        Start and end offsets of the words, and for each character, whether it is in a word.
    """
    in_run = (bits & _RUN_BITS) != 0
    joins = bits[1:-1] >> 4  # turns _MID_LETTER into _LETTER, and _MID_NUMBER into _DIGIT
    joins &= bits[:-2]
    joins &= bits[2:]
    in_run[1:-1] |= (joins & (_LETTER | _DIGIT)) != 0
    word, cut = in_run, None
    if (bits & (_SINGLE_CHARACTER_WORD | _COMPLEX_CONTEXT | _KATAKANA)).any():
        word = in_run | ((bits & (_SINGLE_CHARACTER_WORD | _COMPLEX_CONTEXT)) != 0)
        cut = _find_breaks_in_words(bits, in_run)
    edge = np.zeros(len(bits) + 1, bool)
    np.not_equal(word[1:], word[:-1], out=edge[1:-1])
    edge[[0, -1]] = word[[0, -1]] if len(word) else False
    if cut is None:
        edges = np.flatnonzero(edge)
        starts, ends = edges[::2], edges[1::2]
    else:
        cut &= word[1:] & word[:-1]
        edge[1:-1] |= cut
        starts, ends = np.flatnonzero(edge[:-1] & word), np.flatnonzero(edge[1:] & word) + 1
    return _without_bare_connectors(bits, word, starts, ends)


def _find_breaks_in_words(bits: NDArray[np.uint8], in_run: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """For each pair of adjacent characters in words, return whether a word ends between them."""
    either, differ = bits[:-1] | bits[1:], bits[:-1] ^ bits[1:]
    cut: NDArray[np.bool_] = (either & _SINGLE_CHARACTER_WORD) != 0  # each Han or Hiragana character is a word
    cut |= (in_run[:-1] != in_run[1:]) & (
        either & _COMPLEX_CONTEXT != 0
    )  # a word ends where a run of Thai, Lao or Khmer begins or ends
    cut |= (differ & _KATAKANA != 0) & (either & _CONNECTOR == 0)  # a word ends where Katakana begins or ends
    return cut


def _without_bare_connectors(
    bits: NDArray[np.uint8], word: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Spans, NDArray[np.bool_]]:
    """Drop words that consist only of connectors (ExtendNumLet) such as `_`."""
    candidates = np.flatnonzero((bits[starts] == _CONNECTOR) & (bits[ends - 1] == _CONNECTOR))
    if not len(candidates):
        return (starts, ends), word
    others = np.cumsum(bits != _CONNECTOR, dtype=np.int32)  # int32 is enough for fewer than 2**31 characters
    bare = candidates[others[starts[candidates]] == others[ends[candidates] - 1]]
    word &= ~in_words(starts[bare], ends[bare], len(bits))
    return (np.delete(starts, bare), np.delete(ends, bare)), word


def in_words(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """For each of `size` characters, return whether it is in a word."""
    change = np.zeros(size + 1, np.int8)
    change[starts] += 1
    change[ends] -= 1
    return np.cumsum(change[:-1], dtype=np.int8).view(bool)


def _stretches_to_rescan(class_ids: NDArray[np.uint8], long_words: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Return the stretches in which the grammar is needed to find words, in ascending order.

    The characters before and after each stretch are not in a word. Stretches with words over the maximum length are
    included, because a cut word can change the boundaries of the following words.
    """
    table = _tables()
    candidates = np.flatnonzero(_lookup(class_ids, table.may_need_grammar))
    if not len(candidates) and not len(long_words):
        return []
    borders = np.concatenate(([-1], np.flatnonzero(class_ids == 0), [len(class_ids)]))
    stretch = np.searchsorted(borders, candidates)
    candidate_classes = class_ids[candidates]
    needs_rescan = table.is_emoji[candidate_classes]
    if table.is_hebrew[candidate_classes].any():
        quoted = np.searchsorted(borders, np.flatnonzero(_lookup(class_ids, table.is_quote)))
        needs_rescan |= table.is_hebrew[candidate_classes] & np.isin(stretch, quoted)
    if table.is_complex_mark[candidate_classes].any():
        needs_rescan |= table.is_complex_mark[candidate_classes] & _has_no_base(class_ids, candidates)
    numbers = distinct(np.concatenate((stretch[needs_rescan], np.searchsorted(borders, long_words))))
    return list(zip((borders[numbers - 1] + 1).tolist(), borders[numbers].tolist(), strict=True))


def _has_no_base(class_ids: NDArray[np.uint8], marks: NDArray[np.int64]) -> NDArray[np.bool_]:
    """For each combining mark, return whether it follows neither a letter nor a digit.

    In Thai, Burmese and similar scripts, such a mark can begin a word.
    """
    extend = _lookup(class_ids, _tables().is_extend)
    last_not_mark = np.maximum.accumulate(np.where(extend, -1, np.arange(len(class_ids))))[marks]
    base = _tables().bits[class_ids[np.maximum(last_not_mark, 0)]]
    no_base: NDArray[np.bool_] = (last_not_mark < 0) | (
        base & (_RUN_BITS & ~_CONNECTOR | _SINGLE_CHARACTER_WORD | _COMPLEX_CONTEXT) == 0
    )
    return no_base


def _find_long_words(
    points: NDArray[np.integer], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the starts of words over the maximum length."""
    # A code point has at most two units, so no word is over the maximum.
    if not len(starts) or int((ends - starts).max()) <= MAX_WORD_UNITS // 2:
        return starts[:0]
    wide = np.concatenate(([0], np.cumsum(points > 0xFFFF)))
    return starts[ends - starts + wide[ends] - wide[starts] > MAX_WORD_UNITS]


def _rescan(
    class_ids: NDArray[np.uint8],
    points: NDArray[np.integer],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    stretches: list[tuple[int, int]],
) -> Spans:
    """Replace the words in the stretches with the words that the grammar finds."""
    edges = np.array(stretches, np.int64)
    stretch = np.searchsorted(edges[:, 0], starts, side="right") - 1
    is_outside = (stretch < 0) | (starts >= edges[np.maximum(stretch, 0), 1])
    spans = np.array(list(scan_words(class_ids.tobytes(), points, stretches)), np.int64).reshape(-1, 2)
    starts = np.concatenate((starts[is_outside], spans[:, 0]))
    ends = np.concatenate((ends[is_outside], spans[:, 1]))
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order]
