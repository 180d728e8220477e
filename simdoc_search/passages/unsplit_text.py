"""Recognises texts in languages whose words are not split."""

from __future__ import annotations

import re

from simdoc_search.analysis.settings import Analysis

_UNSPLIT_LETTER = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff]")  # Thai, Lao, Burmese and Khmer
_MAX_SEARCHED_CHARACTERS = 100_000
_MIN_LETTERS, _MIN_SHARE = 20, 0.2


_DESCRIPTION = "Thai, Lao, Khmer and Burmese are not split into words. A word is all text between two spaces, so "
_OPTION = "`simdoc-search index FOLDER --store NEW --unit character`"
UNSPLIT_PASSAGES_NOTE = (
    f"{_DESCRIPTION}most shared passages are not found. `similar` compares characters in an index made with {_OPTION}."
)
UNSPLIT_OVERLAPS_NOTE = (
    f"{_DESCRIPTION}overlaps are too low and most similar documents are not found. To compare characters, make an "
    f"index with {_OPTION}."
)


def has_unsplit_words(text: str) -> bool:
    """Return whether a fifth of a text is in Thai, Lao, Khmer or Burmese."""
    text = text[:_MAX_SEARCHED_CHARACTERS]
    return not text.isascii() and len(_UNSPLIT_LETTER.findall(text)) >= max(_MIN_LETTERS, _MIN_SHARE * len(text))


def describe_overlaps_of_text(text: str, analysis: Analysis) -> str:
    """Return `UNSPLIT_OVERLAPS_NOTE` if it applies to a text whose words are compared. Else return ""."""
    return UNSPLIT_OVERLAPS_NOTE if analysis.unit == "word" and has_unsplit_words(text) else ""
