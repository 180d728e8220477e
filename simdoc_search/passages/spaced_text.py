"""The words of a text, and the gaps between them."""

from __future__ import annotations

import re

import numpy as np

from simdoc_search.analysis.words import WordPositions
from simdoc_search.passages.numbers import UNSPACED_LETTERS
from simdoc_search.passages.passage import Span

_SPACE = re.compile(r"\s+")
_LETTER = rf"[^\W{UNSPACED_LETTERS}]"
_FIRST_WORD, _LAST_WORD = re.compile(rf"^{_LETTER}+"), re.compile(rf"{_LETTER}+$")
_MAX_TOKEN_CHARACTERS = 40
"""The maximum number of characters of a token before or after a difference."""


class SpacedText:
    """A text with its words and the gaps between them."""

    def __init__(self, text: str, words: WordPositions) -> None:
        self.text: str = text
        self.words: WordPositions = words

    def __getitem__(self, span: Span) -> str:
        return self.text[slice(*span)]

    def words_span(self, first: int, size: int = 1) -> Span:
        """Return the span of `size` words, starting at word `first`."""
        return int(self.words.starts[first]), int(self.words.ends[first + size - 1])

    def gap_before(self, word: int) -> Span:
        """Return the span of the gap before a word. Gaps also precede the first word and follow the last word."""
        begin = int(self.words.ends[word - 1]) if word else 0
        end = int(self.words.starts[word]) if word < len(self.words.words) else len(self.text)
        return begin, end

    def word_at(self, position: int) -> int:
        """Return the index of the first word that begins at a position or after it."""
        return int(np.searchsorted(self.words.starts, position))

    def separate_symbols(self, word: int) -> Span:
        """Return the span of the symbols in the gap before a word that touch neither this word nor the previous one."""
        begin, end = self.gap_before(word)
        parts = _SPACE.split(self.text[begin:end])
        if len(parts) == 1:
            return begin, begin
        if word:
            begin += len(parts[0])
        if word < len(self.words.words):
            end -= len(parts[-1])
        return _strip_space(self, (begin, end))

    def extend_to_whitespace(self, span: Span) -> Span:
        """Extend a span on both sides up to the next whitespace, or by whole words near it in a long token."""
        begin, end = span
        before = self.text[max(begin - _MAX_TOKEN_CHARACTERS, 0) : begin]
        after = self.text[end : end + _MAX_TOKEN_CHARACTERS]
        if len(before) == _MAX_TOKEN_CHARACTERS:
            before = _FIRST_WORD.sub("", before)
        if len(after) == _MAX_TOKEN_CHARACTERS:
            after = _LAST_WORD.sub("", after)
        return begin - len(_SPACE.split(before)[-1]), end + len(_SPACE.split(after)[0])


def _strip_space(text: SpacedText, span: Span) -> Span:
    """Return a span without whitespace at both ends. A span of whitespace becomes an empty span at its start."""
    begin, end = span
    inner = text[span]
    return (end - len(inner.lstrip()), begin + len(inner.rstrip())) if inner.strip() else (begin, begin)
