"""When two spellings are the same word: the two profiles, each a function from word to word.

Neither depends on the Python version: words hold only characters that Unicode 12.1 knows, and Unicode never
changes the normalisation or folding of an assigned character.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable

__all__ = ["normaliser"]

_IGNORABLE = re.compile(  # Default_Ignorable_Code_Point (Unicode DerivedCoreProperties)
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164"
    "\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


@functools.lru_cache(maxsize=1 << 16)
def _nfkc_casefold(word: str) -> str:
    """NFKC_Casefold (Unicode 3.13, R5), the `nfkc_cf` of ICU: fold each character, then compose."""
    return unicodedata.normalize("NFC", "".join(map(_fold, word)))


@functools.lru_cache(maxsize=1 << 14)
def _fold(letter: str) -> str:
    """The NFKC_Casefold mapping of one character; empty for default ignorables."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", letter).casefold())
    return _IGNORABLE.sub("", unicodedata.normalize("NFKC", folded.casefold()))


@functools.lru_cache(maxsize=1 << 16)
def _lowercase(word: str) -> str:
    """Lucene's LowerCaseFilter: Java's `Character.toLowerCase` of each code point, blind to its neighbours.

    Python's `str.lower` differs in two: a final capital sigma, and U+0130, which it makes two code points.
    """
    if "\u03a3" in word or "\u0130" in word:
        return "".join("i" if letter == "\u0130" else letter.lower() for letter in word)
    return word.lower()


_PROFILES: dict[str, Callable[[str], str]] = {"nfkc_cf": _nfkc_casefold, "lowercase": _lowercase}


def normaliser(profile: str) -> Callable[[str], str]:
    """The word-to-word function of a profile, `nfkc_cf` or `lowercase`; it remembers recent words."""
    return _PROFILES[profile]
