"""Character classes: the properties of every code point that the word grammar uses.

`word_break_12_1.txt` gives every code point a class, a set of properties of Unicode 12.1. The table belongs to this
package, so that words do not change with the Python version or another package's tables.
"""

from __future__ import annotations

import functools
from importlib import resources

import numpy as np
from numpy.typing import NDArray

LETTER, DIGIT, KATAKANA, JOINER = 1, 2, 4, 8  # what runs of letters and digits are made of
_MID_LETTER, _MID_NUMBER = 16, 32  # joins its neighbours if both are letters, or both digits
EACH, COMPLEX = 64, 128  # Han and Hiragana: every character a word; Thai, Lao, Khmer ...: a run is a word
RUN = LETTER | DIGIT | KATAKANA | JOINER

_BITS = {
    "ALetter": LETTER,
    "Hebrew": LETTER,
    "Numeric": DIGIT,
    "Katakana": KATAKANA,
    "ExtendNumLet": JOINER,
    "MidLetter": _MID_LETTER,
    "MidNum": _MID_NUMBER,
    "MidNumLet": _MID_LETTER | _MID_NUMBER,
    "SingleQuote": _MID_LETTER | _MID_NUMBER,
    "Han": EACH,
    "Hiragana": EACH,
    "ComplexContext": COMPLEX,
}


class Classes:
    """The class of each code point, and the properties of each class."""

    def __init__(self) -> None:
        self.numbers: NDArray[np.uint8] = np.zeros(0x110000, np.uint8)  # code point -> class; 0 = in no word
        ids = {"": 0}
        data = resources.files(__package__).joinpath("word_break_12_1.txt").read_text("ascii")
        for line in data.splitlines():
            first, last, properties = line.split()
            self.numbers[int(first, 16) : int(last, 16) + 1] = ids.setdefault(properties, len(ids))
        self.properties: list[frozenset[str]] = [frozenset(names.split("+")) for names in ids]
        self.bits: NDArray[np.uint8] = np.array([self._bits(names) for names in self.properties], np.uint8)
        self.extend: NDArray[np.bool_] = self.having("Extend")
        self.hebrew: NDArray[np.bool_] = self.having("Hebrew")
        self.quote: NDArray[np.bool_] = self.having("SingleQuote", "DoubleQuote")
        self.emoji: NDArray[np.bool_] = self.having("Emoji", "EmojiModifier", "RegionalIndicator", "Keycap")
        self.complex_sign: NDArray[np.bool_] = self.extend & self.having("ComplexContext")
        self.suspect: NDArray[np.bool_] = self.emoji | self.hebrew | self.complex_sign

    def having(self, *names: str) -> NDArray[np.bool_]:
        """Return for each class whether it has one of the properties; shape (classes,)."""
        return np.array([not each.isdisjoint(names) for each in self.properties])

    @staticmethod
    def _bits(names: frozenset[str]) -> int:
        if names >= {"ALetter", "Han"}:
            return LETTER  # U+3005 and U+303B: the longer match wins, and letters join
        return sum({_BITS.get(name, 0) for name in names})


@functools.cache
def classes() -> Classes:
    """Return the table, which is read with the first text."""
    return Classes()


@functools.cache
def ascii_bits() -> bytes:
    """Return a table for `bytes.translate`: the properties of each ASCII character, in the form that `runs` takes."""
    table = classes()
    return table.bits[table.numbers[:128]].tobytes() + bytes(128)


def each(kinds: NDArray[np.uint8], table: NDArray[np.uint8] | NDArray[np.bool_]) -> NDArray[np.uint8]:
    """Return `table[kinds]`, at the speed of `bytes.translate`."""
    return np.frombuffer(kinds.tobytes().translate(table.tobytes().ljust(256, b"\0")), np.uint8)
