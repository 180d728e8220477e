"""Finds disguised words: they contain characters that a reader does not notice, but that make the words differ."""

from __future__ import annotations

import re

from simdoc_search.display import format_count, printable
from simdoc_search.passages.passage import Span
from simdoc_search.passages.positions import TextPositions

_LATIN = "A-Za-zÀ-ɏ"
_LOOKALIKES = "\u0400-\u04ff\u03bf"  # Cyrillic letters, and the Greek letter omicron
_DISGUISED_CHARACTER = re.compile(
    rf"(?<=[{_LATIN}])[{_LOOKALIKES}]|(?<=[{_LOOKALIKES}])[{_LATIN}]"
    # A zero-width space splits a word in two. Between Thai or Khmer letters, it is normal.
    rf"|(?<=[{_LATIN}{_LOOKALIKES}])\u200b+(?=[{_LATIN}{_LOOKALIKES}])"
)
_WORD_CHARACTERS = re.compile(
    r"(?:[^\W_]|[\u00ad\u0300-\u036f\u200b-\u200d\u2060])+"
)  # also invisible ones, and accents
_INVISIBLE_ENDS = "\u00ad\u200b\u200c\u200d\u2060"
_MAX_QUOTED_WORDS, _MAX_QUOTED_CHARACTERS = 3, 40


def find_disguised_words(text: str) -> list[Span]:
    """Return the spans of the words that contain a zero-width space, or letters of two alphabets."""
    spans: list[Span] = []
    end = 0
    for match in _DISGUISED_CHARACTER.finditer(text):
        if match.start() < end:
            continue  # it is in the same word as the character before it
        start = match.start()
        while start > end and _WORD_CHARACTERS.match(text, start - 1, start):
            start -= 1
        word = _WORD_CHARACTERS.match(text, start)
        end = word.end() if word else match.end()
        spans.append((start, end))
    return spans


def describe_disguised_words(text: str) -> str:
    """Return sentences with the number of disguised words, the first of them, and what to do. Return "" without any."""
    spans = find_disguised_words(text)
    if not spans:
        return ""
    positions = TextPositions(text)
    quoted = [_quote(text[start:end], positions.label(start)) for start, end in spans[:_MAX_QUOTED_WORDS]]
    more = [f"and {len(spans) - len(quoted):,} more"] if len(spans) > len(quoted) else []
    words_contain = f"{format_count(len(spans), 'word')} {'contains' if len(spans) == 1 else 'contain'}"
    return (
        f"{words_contain} invisible characters or letters of two alphabets: {', '.join([*quoted, *more])}. Such words "
        "can hide copied text, because they do not match the words that they look like. To find copies, retype these "
        "words in a copy of the text, and use that copy."
    )


def _quote(word: str, place: str) -> str:
    shown = printable(word.strip(_INVISIBLE_ENDS))
    return f"“{shown if len(shown) <= _MAX_QUOTED_CHARACTERS else f'{shown[:_MAX_QUOTED_CHARACTERS]}…'}” ({place})"
