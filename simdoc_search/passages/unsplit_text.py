"""Recognises texts in languages whose words are not split."""

from __future__ import annotations

import re

_UNSPLIT_LETTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese and Khmer
_MAX_SEARCHED_CHARACTERS = 100_000
_MIN_LETTERS, _MIN_SHARE = 20, 0.2


def describe_unsplit_text(text: str) -> str:
    """Return a sentence if a fifth of a text is in Thai, Lao, Khmer or Burmese. Else return ""."""
    text = text[:_MAX_SEARCHED_CHARACTERS]
    count = len(_UNSPLIT_LETTER.findall(text))
    if count < max(_MIN_LETTERS, _MIN_SHARE * len(text)):
        return ""
    return (
        "Thai, Lao, Khmer and Burmese are not split into words. A word is all text between two spaces, so most shared "
        "passages are not found."
    )
