"""The grammar of Lucene's StandardTokenizer, for the stretches of a text that need it.

A regular expression over the classes of the characters; the longest match within 255 UTF-16 units is a word.

Source: Lucene 10.3.1, `StandardTokenizerImpl.jflex`; UAX #29 revision 35; UTS #51.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.word_classes import classes

__all__ = ["MAX_WORD_UNITS", "rules", "scan"]

MAX_WORD_UNITS = 255
"""Longest word in UTF-16 units (Lucene's default `max_token_length`); longer ones are cut into pieces."""


def scan(kinds: bytes, points: NDArray[np.integer], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Find the words from `start` to `end`.

    Args:
        kinds: the class of each character of the text.
        points: its code points, uint32.
        start: where a word may begin; nothing before it matters.
        end: where every word must end.

    Yields:
        Start and end of each word, in code points.
    """
    here = start
    while here < end:
        limit = min(here + MAX_WORD_UNITS, end)
        units = np.cumsum(1 + (points[here:limit] > 0xFFFF))  # beyond the BMP a code point has two
        if units[-1] > MAX_WORD_UNITS:
            limit = here + int(np.searchsorted(units, MAX_WORD_UNITS, side="right"))
        matches = (pattern.match(kinds, here, limit) for pattern in _patterns())
        stop = max((match.end() for match in matches if match), default=here)
        if stop > here:
            yield here, stop
        here = max(stop, here + 1)


@functools.cache
def _patterns() -> tuple[re.Pattern[bytes], ...]:
    return tuple(re.compile(rule, re.DOTALL) for rule in rules())


def rules() -> list[bytes]:
    """The token rules of StandardTokenizerImpl.jflex as patterns over class numbers; the longest match counts."""

    def any_of(*names: str) -> str:
        chosen = [
            re.escape(chr(number))
            for number, properties in enumerate(classes().properties)
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
    patterns = [
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
    return [pattern.encode("latin-1") for pattern in patterns]
