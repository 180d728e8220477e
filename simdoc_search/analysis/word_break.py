"""Where words begin and end: the grammar of Lucene's StandardTokenizer (UAX #29), Unicode 12.1.

`word_break_12_1.txt` gives every code point a class: the set of properties that the grammar looks at. The class
table belongs to this package, so that words do not change with the Python version or another package's tables.

Two ways lead to the same words. `word_spans` decides all boundaries of a text at once from each character's class
and its neighbours'. Emoji, Hebrew quotation marks and words over the maximum length need the grammar itself:
`_scan` runs it, as a regular expression over the classes, on just those stretches.

Source: Lucene 10.3.1, `StandardTokenizerImpl.jflex`; UAX #29 revision 35; UTS #51.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from importlib import resources

import numpy as np
from numpy.typing import NDArray

__all__ = ["MAX_WORD_UNITS", "ascii_bits", "runs", "word_spans"]

MAX_WORD_UNITS = 255
"""Longest word in UTF-16 units (Lucene's default `max_token_length`); longer ones are cut into pieces."""

Spans = tuple[NDArray[np.int64], NDArray[np.int64]]

_LETTER, _DIGIT, _KATAKANA, _JOINER = 1, 2, 4, 8  # what runs of letters and digits are made of
_MID_LETTER, _MID_NUMBER = 16, 32  # joins its neighbours if both are letters, or both digits
_EACH, _COMPLEX = 64, 128  # Han and Hiragana: every character a word; Thai, Lao, Khmer ...: a run is a word
_RUN = _LETTER | _DIGIT | _KATAKANA | _JOINER

_BITS = {
    "ALetter": _LETTER,
    "Hebrew": _LETTER,
    "Numeric": _DIGIT,
    "Katakana": _KATAKANA,
    "ExtendNumLet": _JOINER,
    "MidLetter": _MID_LETTER,
    "MidNum": _MID_NUMBER,
    "MidNumLet": _MID_LETTER | _MID_NUMBER,
    "SingleQuote": _MID_LETTER | _MID_NUMBER,
    "Han": _EACH,
    "Hiragana": _EACH,
    "ComplexContext": _COMPLEX,
}


class _Classes:
    """The class of each code point, and what the class means."""

    def __init__(self) -> None:
        self.table = np.zeros(0x110000, np.uint8)  # code point -> class; 0 = in no word
        ids = {"": 0}
        data = resources.files(__package__).joinpath("word_break_12_1.txt").read_text("ascii")
        for line in data.splitlines():
            first, last, properties = line.split()
            self.table[int(first, 16) : int(last, 16) + 1] = ids.setdefault(properties, len(ids))
        self.properties = [frozenset(names.split("+")) for names in ids]
        self.bits = np.array([self._bits(names) for names in self.properties], np.uint8)
        self.extend = self.having("Extend")
        self.hebrew = self.having("Hebrew")
        self.quote = self.having("SingleQuote", "DoubleQuote")
        self.complex_sign = self.extend & self.having("ComplexContext")
        self.emoji = self.having("Emoji", "EmojiModifier", "RegionalIndicator", "Keycap")

    def having(self, *names: str) -> NDArray[np.bool_]:
        """Class -> whether it has one of the properties; shape (classes,)."""
        return np.array([not each.isdisjoint(names) for each in self.properties])

    @staticmethod
    def _bits(names: frozenset[str]) -> int:
        if names >= {"ALetter", "Han"}:
            return _LETTER  # U+3005 and U+303B: the longer match wins, and letters join
        return sum({_BITS.get(name, 0) for name in names})


@functools.cache
def _classes() -> _Classes:
    return _Classes()


@functools.cache
def ascii_bits() -> bytes:
    """A table for `bytes.translate`: what each ASCII character is, in the form that `runs` takes."""
    classes = _classes()
    return classes.bits[classes.table[:128]].tobytes() + bytes(128)


def word_spans(text: str) -> Spans:
    """Find the words of a text, as Lucene's StandardTokenizer does.

    Args:
        text: any string without surrogate pairs (a lone surrogate is in no word).

    Returns:
        Start and end offsets of the words in code points, int64, shape (words,), ascending.
    """
    data = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    kinds = _classes().table[data]
    starts, ends = _spans_by_neighbours(kinds)
    hard = _hard_stretches(kinds, data, starts, ends)
    if hard:
        starts, ends = _rescan(kinds, data, starts, ends, hard)
    return starts, ends


def _spans_by_neighbours(kinds: NDArray[np.uint8]) -> Spans:
    """All words at once; wrong only in the stretches that `_hard_stretches` names."""
    extend = _classes().extend[kinds]
    # UAX #29 WB4: marks and format characters belong to what they follow; take them out and look past them.
    solid = np.flatnonzero(~extend) if extend.any() else None
    bits = _classes().bits[kinds if solid is None else kinds[solid]]
    (starts, ends), _ = runs(bits)
    if solid is None:
        return starts, ends
    after = np.append(solid, len(kinds))  # a word ends where the next solid character begins
    return after[starts], after[ends]


def runs(bits: NDArray[np.uint8]) -> tuple[Spans, NDArray[np.bool_]]:
    """Words in a sequence of characters none of which is a mark.

    Args:
        bits: what each character is, see `_BITS`; shape (characters,).

    Returns:
        Start and end offsets of the words, and for each character whether it is in a word.
    """
    in_run = (bits & _RUN) != 0
    joins = bits[1:-1] >> 4  # a mid letter or mid number becomes the class that its neighbours need
    joins &= bits[:-2]
    joins &= bits[2:]
    in_run[1:-1] |= (joins & (_LETTER | _DIGIT)) != 0
    word, cut = in_run, None
    if (bits & (_EACH | _COMPLEX | _KATAKANA)).any():
        word = in_run | ((bits & (_EACH | _COMPLEX)) != 0)
        cut = _cuts(bits, in_run)
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
    return _without_bare_joiners(bits, word, starts, ends)


def _cuts(bits: NDArray[np.uint8], in_run: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether a word ends between two characters that are both in words; shape (characters - 1,)."""
    either, differ = bits[:-1] | bits[1:], bits[:-1] ^ bits[1:]
    cut = (either & _EACH) != 0  # around every Han or Hiragana character,
    cut |= (in_run[:-1] != in_run[1:]) & (either & _COMPLEX != 0)  # at the border of a Thai run,
    cut |= (differ & _KATAKANA != 0) & (either & _JOINER == 0)  # and of a Katakana run.
    return cut


def _without_bare_joiners(
    bits: NDArray[np.uint8], word: NDArray[np.bool_], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> tuple[Spans, NDArray[np.bool_]]:
    """Drop words that are nothing but `_`."""
    suspects = np.flatnonzero((bits[starts] == _JOINER) & (bits[ends - 1] == _JOINER)).tolist()
    bare = [i for i in suspects if (bits[starts[i] : ends[i]] == _JOINER).all()]
    if not bare:
        return (starts, ends), word
    for i in bare:
        word[starts[i] : ends[i]] = False
    return (np.delete(starts, bare), np.delete(ends, bare)), word


def _hard_stretches(
    kinds: NDArray[np.uint8], data: NDArray[np.uint32], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The stretches that need the grammar, ascending and disjoint. Each ends where a word must end."""
    classes = _classes()
    hard = classes.emoji[kinds]
    hebrew = classes.hebrew[kinds]
    if hebrew.any():
        hard |= hebrew
        hard &= classes.emoji[kinds] | _touches(classes.quote[kinds], kinds)
    sign = classes.complex_sign[kinds]
    if sign.any():
        hard |= sign & _has_no_base(kinds)
    long = ends - starts > MAX_WORD_UNITS // 2  # a code point has one or two units
    stretches: list[tuple[int, int]] = []
    if hard.any():
        borders = np.concatenate(([-1], np.flatnonzero(kinds == 0), [len(kinds)]))
        which = np.unique(np.searchsorted(borders, np.flatnonzero(hard)))
        stretches = list(zip((borders[which - 1] + 1).tolist(), borders[which].tolist(), strict=True))
    if long.any():
        wide = np.concatenate(([0], np.cumsum(data > 0xFFFF)))
        units = ends - starts + wide[ends] - wide[starts]
        too_long = np.flatnonzero(units > MAX_WORD_UNITS)
        stretches = _merged(stretches, list(zip(starts[too_long].tolist(), ends[too_long].tolist(), strict=True)))
    return stretches


def _touches(quote: NDArray[np.bool_], kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether a character's stretch (up to the next character that is in no word) has a quotation mark."""
    stretch = np.cumsum(kinds == 0)
    with_quote = np.zeros(stretch[-1] + 1, bool)
    with_quote[stretch[quote]] = True
    return with_quote[stretch]


def _has_no_base(kinds: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether what a mark follows is no letter: a Thai or Burmese sign there can begin a word."""
    last_solid = np.maximum.accumulate(np.where(_classes().extend[kinds], -1, np.arange(len(kinds))))
    base = _classes().bits[kinds[np.maximum(last_solid, 0)]]
    return (last_solid < 0) | (base & (_RUN & ~_JOINER | _EACH | _COMPLEX) == 0)


def _merged(stretches: list[tuple[int, int]], words: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Both lists together; a word inside a stretch is in that stretch already."""
    spans = iter(stretches)
    span = next(spans, None)
    merged = list(stretches)
    for start, end in words:
        while span is not None and span[1] < end:
            span = next(spans, None)
        if span is None or span[0] > start:
            merged.append((start, end))
    return sorted(merged)


def _rescan(
    kinds: NDArray[np.uint8],
    data: NDArray[np.uint32],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    stretches: list[tuple[int, int]],
) -> Spans:
    """Replace the words in the stretches by those of the grammar."""
    edges = np.array(stretches, np.int64)
    stretch = np.searchsorted(edges[:, 0], starts, side="right") - 1
    easy = (stretch < 0) | (starts >= edges[np.maximum(stretch, 0), 1])
    letters = kinds.tobytes()
    found = [span for start, end in stretches for span in _scan(letters, data, start, end)]
    spans = np.array(found, np.int64).reshape(-1, 2)
    starts = np.concatenate((starts[easy], spans[:, 0]))
    ends = np.concatenate((ends[easy], spans[:, 1]))
    order = np.argsort(starts, kind="stable")
    return starts[order], ends[order]


def _scan(kinds: bytes, data: NDArray[np.uint32], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Run the grammar: at each place the longest match within 255 UTF-16 units is a word."""
    wide = data[start:end] > 0xFFFF
    offsets = np.concatenate(([0], np.cumsum(1 + wide)))  # code point -> UTF-16 unit, from `start` on
    limits = (start + np.searchsorted(offsets, offsets + MAX_WORD_UNITS, side="right") - 1).tolist()
    rules = _grammar()
    here = start
    while here < end:
        limit = min(limits[here - start], end)
        matches = (rule.match(kinds, here, limit) for rule in rules)
        stop = max((match.end() for match in matches if match), default=here)
        if stop > here:
            yield here, stop
        here = max(stop, here + 1)


@functools.cache
def _grammar() -> tuple[re.Pattern[bytes], ...]:
    """The token rules of StandardTokenizerImpl.jflex as patterns over class numbers; the longest match counts."""

    def any_of(*names: str) -> str:
        chosen = [
            re.escape(chr(number))
            for number, properties in enumerate(_classes().properties)
            if not properties.isdisjoint(names)
        ]
        return "[" + "".join(chosen) + "]"

    def ex(*names: str) -> str:  # UAX #29 WB4: X (Extend | Format | ZWJ)* -> X
        return f"(?:{any_of(*names)}{any_of('Extend')}*)"

    letter, hebrew, digit = ex("ALetter", "Hebrew"), ex("Hebrew"), ex("Numeric")
    katakana, joiner = ex("Katakana"), ex("ExtendNumLet")
    mid_letter = ex("MidLetter", "MidNumLet", "SingleQuote")
    mid_number = ex("MidNum", "MidNumLet", "SingleQuote")
    unit = (
        f"(?:{hebrew}{ex('DoubleQuote')}{hebrew}|{hebrew}{ex('SingleQuote')}"
        f"|{digit}(?:{mid_number}{digit})*|{letter}(?:{mid_letter}{letter})*)"
    )
    group = f"(?:{katakana}+|{unit}+)"
    word = f"{joiner}*{group}(?:{joiner}+{group})*{joiner}*"

    zwj, selector = any_of("ZWJ"), any_of("EmojiSelector")
    # Presentation selectors are kept apart from the other marks inside emoji.
    mark = f"(?:(?!{any_of('TextSelector', 'EmojiSelector')}){any_of('Extend')})"
    emoji, modifier = f"(?:{any_of('Emoji')}{mark}*)", f"(?:{any_of('EmojiModifier')}{mark}*)"
    joined = f"(?:{selector}{zwj}+|{selector}{zwj}{modifier}(?<={zwj})|(?<={zwj})){emoji}"
    chain = f"{emoji}(?:{joined})*(?:{selector}(?:{zwj}{modifier})?)?"
    tagged = f"{zwj}*{emoji}{selector}{any_of('Tag')}+{any_of('TagEnd')}"
    keycap = f"{any_of('KeycapBase')}{mark}*{selector}?{any_of('Keycap')}{mark}*"
    rules = [
        word,
        f"{zwj}*{chain}",
        f"{modifier}(?:(?<={zwj}){chain})?",
        tagged,
        keycap,
        ex("RegionalIndicator") * 2,
        ex("ComplexContext") + "+",
        ex("Han"),
        ex("Hiragana"),
    ]
    return tuple(re.compile(rule.encode("latin-1"), re.DOTALL) for rule in rules)
