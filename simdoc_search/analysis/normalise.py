"""Normalises words. Each of the two profiles has a function that maps a word to its normalised form.

The result does not depend on the Python version: words contain only characters of Unicode 12.1, and Unicode never
changes the normalisation or folding of an assigned character.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from simdoc_search.analysis.distinct import distinct

_PIECE_LENGTH = 1 << 20

INVISIBLE_RANGES = (
    *((0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F)),
    *((0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF), (0xFFA0, 0xFFA0)),
    *((0xFFF0, 0xFFF8), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF)),
)
"""The characters with the Unicode property Default_Ignorable_Code_Point, except the soft hyphen, which is normal in all
alphabets."""
INVISIBLE_CHARACTERS = "".join(f"{chr(first)}-{chr(last)}" for first, last in INVISIBLE_RANGES)
"""The same characters, for a regular expression."""
_IGNORABLE = re.compile(f"[\u00ad{INVISIBLE_CHARACTERS}]")


@functools.lru_cache(maxsize=1 << 16)
def _nfkc_casefold(word: str) -> str:
    """Apply NFKC_Casefold (Unicode 3.13, R5), the `nfkc_cf` of ICU: fold each character, then compose."""
    return unicodedata.normalize("NFC", "".join(map(_fold, word)))


@functools.lru_cache(maxsize=1 << 14)
def _fold(letter: str) -> str:
    """Return the NFKC_Casefold mapping of one character; empty for default ignorables."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", letter).casefold())
    return _IGNORABLE.sub("", unicodedata.normalize("NFKC", folded.casefold()))


@functools.lru_cache(maxsize=1 << 16)
def _lowercase(word: str) -> str:
    """Apply Lucene's LowerCaseFilter: Java's `Character.toLowerCase` of each code point, regardless of its neighbours.

    Python's `str.lower` differs for a final capital sigma, and for U+0130, which it turns into two code points.
    """
    if "\u03a3" in word or "\u0130" in word:
        return "".join("i" if letter == "\u0130" else letter.lower() for letter in word)
    return word.lower()


_PROFILES: dict[str, Callable[[str], str]] = {"nfkc_cf": _nfkc_casefold, "lowercase": _lowercase}


def normaliser(profile: str) -> Callable[[str], str]:
    """Return the function that normalises a word with the profile `nfkc_cf` or `lowercase`.

    It caches recent results.
    """
    return _PROFILES[profile]


def max_normalised_length(text: str, profile: str) -> int:
    """Return an upper bound of the total length of the normalised words of a text, in UTF-16 units.

    For example, U+FDFA becomes 18 units.
    """
    if text.isascii():
        return len(text)
    counts = np.zeros(0x110000, np.int64)
    for start in range(0, len(text), _PIECE_LENGTH):
        piece = text[start : start + _PIECE_LENGTH].encode("utf-32-le", "surrogatepass")
        counts += np.bincount(np.frombuffer(piece, np.uint32), minlength=len(counts))
    normalise = normaliser(profile)
    points = np.flatnonzero(counts)
    lengths = [len(normalise(chr(point)).encode("utf-16-le", "surrogatepass")) // 2 for point in points.tolist()]
    return int(counts[points] @ np.array(lengths, np.int64))


class LetterMap:
    """Normalises letters one by one. It detects letters whose normalised form depends on other letters of the word."""

    WHOLE_WORD = -1
    """The result for a letter whose word must be normalised as a whole."""
    _UNKNOWN = -2

    def __init__(self, profile: str) -> None:
        self._profile = profile
        self._map = np.full(0x110000, self._UNKNOWN, np.int32)  # an entry is filled when its letter first occurs

    def __call__(self, points: NDArray[np.integer]) -> NDArray[np.int32]:
        """Normalise letters.

        Returns:
            The replacement of each code point, or `WHOLE_WORD`; int32, shape of `points`.
        """
        mapped: NDArray[np.int32] = self._map[points]
        unknown = mapped == self._UNKNOWN
        if unknown.any():
            for point in distinct(points[unknown]).tolist():
                self._map[point] = self._normalise(point)
            mapped = self._map[points]
        return mapped

    def _normalise(self, point: int) -> int:
        letter = normaliser(self._profile)(chr(point))
        if len(letter) != 1 or letter > "\uffff":
            return self.WHOLE_WORD
        if self._profile == "nfkc_cf" and may_compose(letter):
            return self.WHOLE_WORD
        return ord(letter)


# NFC can compose these characters with the character before them, although their combining class is 0. They are Indic
# vowel signs and Hangul jamo.
_COMPOSING = re.compile(
    "[\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e\u1100-\u11ff\u1b35"
    "\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930]"
)


def may_compose(letters: str) -> bool:
    """Return whether NFC may change a word that contains one of these letters."""
    return any(unicodedata.combining(letter) or _COMPOSING.match(letter) for letter in letters)


@functools.cache
def letter_map(profile: str) -> LetterMap:
    """Return the LetterMap of a profile. Later calls return the same object."""
    return LetterMap(profile)
