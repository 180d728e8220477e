"""On which page, or in which line, is a place of a text?"""

from __future__ import annotations

import re
from bisect import bisect_right

_LINE_END = re.compile(r"\r\n|[\n\r\v\f\x85\u2028\u2029]")


class Places:
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


def both_named(first: Places, a: int, second: Places, b: int) -> str:
    """A place of one text and one of another: `line 3 → line 5`, or `line 3` if both are called so."""
    here, there = first.named(a), second.named(b)
    return here if here == there else f"{here} → {there}"
