"""The pages and lines of a text, and the words around a position."""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")


class TextPositions:
    """The lines and pages of a text. A form feed ends a page, as in the text of a PDF file.

    Attributes:
        has_pages: Whether the text has pages.
    """

    def __init__(self, text: str) -> None:
        ends = [(found.end(), found.group()) for found in _LINE_END.finditer(text)]
        self._lines = [end for end, _ in ends]
        last = len(text.rstrip())  # no page begins after it
        self._pages = [0, *(end for end, sign in ends if sign == "\f" and end <= last)]
        self.has_pages: bool = len(self._pages) > 1

    def page(self, at: int) -> int:
        """The page of a character, from 1 on."""
        return bisect_right(self._pages, at)

    def lines_between(self, start: int, end: int) -> int:
        """How many lines end between two characters."""
        return bisect_right(self._lines, end) - bisect_right(self._lines, start)

    def label(self, at: int) -> str:
        """The position of a character: `line 120`, or `page 3, line 12` if the text has pages."""
        page = self.page(at)
        line = self.lines_between(self._pages[page - 1], at) + 1
        return f"page {page:,}, line {line:,}" if self.has_pages else f"line {line:,}"


def both_labels(first: TextPositions, a: int, second: TextPositions, b: int) -> str:
    """The positions of a character in each text: `line 3 → line 5`, or `line 3` if both are the same."""
    here, there = first.label(a), second.label(b)
    return here if here == there else f"{here} → {there}"


_CHARACTERS_PER_WORD = 12
"""The maximum of the average length of context words. Fewer long words are shown, and only a part of a text without
spaces."""

_PUNCTUATION = re.compile(r"[.,;:!?)\]}”’»…]+(?=\s|$)")


def words_before(text: str, start: int, end: int, count: int) -> str:
    """The last words before `end` and after `start`, with the space after them. `…` replaces other words."""
    begin = max(start, end - _CHARACTERS_PER_WORD * count)
    words = re.split(r"(\s+)", text[begin:end])
    if begin > start and len(words) > 2:
        words = words[2:]  # the first word is incomplete
    kept = words[-2 * count :]
    is_whole = begin == start and len(kept) == len(words)
    return "".join(kept) if is_whole else f"… {''.join(kept).lstrip()}"


def words_after(text: str, start: int, count: int) -> str:
    """The first words from `start` on, with the space before them. `…` replaces other words."""
    end = start + _CHARACTERS_PER_WORD * count
    words = re.split(r"(\s+)", text[start:end])
    if end < len(text) and len(words) > 2:
        words = words[:-2]  # the last word is incomplete
    kept = "".join(words[: 2 * count])
    return kept if start + len(kept) >= len(text) else f"{kept.rstrip()} …"


def after_punctuation(text: str, at: int) -> int:
    """The position after the punctuation at the end of a word."""
    punctuation = _PUNCTUATION.match(text, at)
    return punctuation.end() if punctuation else at
