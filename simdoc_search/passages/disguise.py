"""Finds disguised words: they contain characters that a reader does not notice, but that make the words differ."""

from __future__ import annotations

import re

_LATIN = "A-Za-zÀ-ɏ"
_LOOKALIKES = "\u0400-\u04ff\u03bf"  # Cyrillic letters, and the Greek letter omicron
_DISGUISED_CHARACTERS = re.compile(
    rf"(?<=[{_LATIN}])[{_LOOKALIKES}]|(?<=[{_LOOKALIKES}])[{_LATIN}]"
    # A zero-width space splits a word in two. Between Thai or Khmer letters, it is normal.
    rf"|(?<=[{_LATIN}{_LOOKALIKES}])\u200b+(?=[{_LATIN}{_LOOKALIKES}])"
)
_MIN_DISGUISED_PLACES = 5
"""The minimum number of places that are reported. A smaller number may be due to mistakes or foreign names."""


def describe_disguise(text: str) -> str:
    """Return a sentence if a text has invisible characters or letters of two alphabets inside words. Else return ""."""
    count = sum(1 for _ in _DISGUISED_CHARACTERS.finditer(text))
    if count < _MIN_DISGUISED_PLACES:
        return ""
    return (
        f"In {count:,} places, words contain invisible characters or letters of two alphabets. "
        "Such words can hide copied text."
    )
