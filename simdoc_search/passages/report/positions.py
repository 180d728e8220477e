"""Pages and lines of a text, and the words around a position."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")


class TextPositions:
    """The lines and pages of a text; a form feed ends a page, as the reader of PDF files writes it.

    Attributes:
        paged: whether the text has pages.
    """

    def __init__(self, text: str) -> None:
        ends = [(found.end(), found.group()) for found in _LINE_END.finditer(text)]
        self._lines = [end for end, _ in ends]
        last = len(text.rstrip())  # no page begins after it
        self._pages = [0, *(end for end, sign in ends if sign == "\f" and end <= last)]
        self.paged: bool = len(self._pages) > 1

    def line(self, at: int) -> int:
        """The line of a character, from 1 on."""
        return bisect_right(self._lines, at) + 1

    def page(self, at: int) -> int:
        """The page of a character, from 1 on."""
        return bisect_right(self._pages, at)

    def lines_between(self, start: int, end: int) -> int:
        """How many lines end between two characters."""
        return self.line(end) - self.line(start)

    def named(self, at: int) -> str:
        """The place of a character: `line 120`, or `page 3, line 12` where there are pages."""
        page = self.page(at)
        line = self.lines_between(self._pages[page - 1], at) + 1
        return f"page {page:,}, line {line:,}" if self.paged else f"line {line:,}"


def both_named(first: TextPositions, a: int, second: TextPositions, b: int) -> str:
    """A place of one text and one of another: `line 3 → line 5`, or `line 3` if both are called so."""
    here, there = first.named(a), second.named(b)
    return here if here == there else f"{here} → {there}"


_CHARACTERS_PER_WORD = 12
"""Context is at most this many characters per word on average: fewer long words are taken, and a part of text without
spaces."""

_PUNCTUATION = re.compile(r"[.,;:!?)\]}”’»…]+(?=\s|$)")


def words_before(text: str, start: int, end: int, count: int) -> str:
    """The last words before `end`, none before `start`, with the space after them; `…` stands for those left out."""
    begin = max(start, end - _CHARACTERS_PER_WORD * count)
    words = re.split(r"(\s+)", text[begin:end])
    if begin > start and len(words) > 2:
        words = words[2:]  # the first is cut
    kept = words[-2 * count :]
    whole = begin == start and len(kept) == len(words)
    return "".join(kept) if whole else f"… {''.join(kept).lstrip()}"


def words_after(text: str, start: int, count: int) -> str:
    """The first words from `start` on, with the space before them; `…` stands for those left out."""
    end = start + _CHARACTERS_PER_WORD * count
    words = re.split(r"(\s+)", text[start:end])
    if end < len(text) and len(words) > 2:
        words = words[:-2]  # the last is cut
    kept = "".join(words[: 2 * count])
    return kept if start + len(kept) >= len(text) else f"{kept.rstrip()} …"


def after_sign(text: str, at: int) -> int:
    """The place after the comma or full stop that ends a word, which is no part of it."""
    signs = _PUNCTUATION.match(text, at)
    return signs.end() if signs else at
