"""Finds the page and line of a position in a text, and the words around it."""

from __future__ import annotations

import re
from bisect import bisect_right

from simdoc_search.passages.passage import Span

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")


class TextPositions:
    """The lines and pages of a text. A form feed ends a page, as in the text of a PDF file."""

    def __init__(self, text: str) -> None:
        ends = [(match.end(), match.group()) for match in _LINE_END.finditer(text)]
        self._line_starts = [end for end, _ in ends]
        last = len(text.rstrip())  # a form feed at the end of the text does not begin a page
        self._page_starts = [0, *(end for end, line_end in ends if line_end == "\f" and end <= last)]
        self.has_pages: bool = len(self._page_starts) > 1

    def page(self, position: int) -> int:
        """Return the page number of a character. The first page is 1."""
        return bisect_right(self._page_starts, position)

    def count_lines_between(self, start: int, end: int) -> int:
        """Count the lines that end between two characters."""
        return bisect_right(self._line_starts, end) - bisect_right(self._line_starts, start)

    def is_line_start(self, position: int) -> bool:
        """Return whether a character is the first of its line."""
        return position == 0 or self.count_lines_between(position - 1, position) > 0

    def label(self, position: int) -> str:
        """Return the page and line of a character: `line 120`, or `page 3, line 12` if the text has pages."""
        page = self.page(position)
        line = self.count_lines_between(self._page_starts[page - 1], position) + 1
        return f"page {page:,}, line {line:,}" if self.has_pages else f"line {line:,}"

    def label_span(self, span: Span) -> str:
        """Return the page and line of the first character, and of the last one if it is on another page."""
        first, last = span[0], max(span[0], span[1] - 1)
        label = self.label(first)
        return label if self.page(first) == self.page(last) else f"{label} to {self.label(last)}"


def find_line_ends(text: str) -> list[int]:
    """Return the position after each line end."""
    return [match.end() for match in _LINE_END.finditer(text)]


def label_span_pair(first: TextPositions, a: Span, second: TextPositions, b: Span) -> str:
    """Label a span in each of two texts: `line 3 ↔ line 5`, or `line 3` if both labels are equal."""
    label_a, label_b = first.label_span(a), second.label_span(b)
    return label_a if label_a == label_b else f"{label_a} ↔ {label_b}"


CHARACTERS_PER_WORD = 12
"""The maximum average length of the words that are shown around a position. If the words are longer, fewer words are
shown. In a text without spaces, a part of a word is shown."""


def words_before(text: str, start: int, end: int, count: int) -> str:
    """Return the last `count` words from `start` to `end`, with the space after them. `…` replaces earlier words."""
    window_start = max(start, end - CHARACTERS_PER_WORD * count)
    words = re.split(r"(\s+)", text[window_start:end])
    if window_start > start and len(words) > 2:
        words = words[2:]  # the window may begin inside the first word
    kept = words[-2 * count :]
    is_whole = window_start == start and len(kept) == len(words)
    return "".join(kept) if is_whole else f"… {''.join(kept).lstrip()}"


def words_after(text: str, start: int, count: int) -> str:
    """Return the first `count` words after `start`, with the space before them. `…` replaces later words."""
    end = start + CHARACTERS_PER_WORD * count
    words = re.split(r"(\s+)", text[start:end])
    if end < len(text) and len(words) > 2:
        words = words[:-2]  # the window may end inside the last word
    kept = "".join(words[: 2 * count])
    return kept if start + len(kept) >= len(text) else f"{kept.rstrip()} …"
