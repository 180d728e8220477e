"""Finds the quotations of a text."""

from __future__ import annotations

import re

from simdoc_search.passages.passage import Span

_MAX_QUOTATION_CHARACTERS = 5_000
_NO_BLANK_LINE = r"(?!\n[^\S\n]*\n)"  # a quotation does not contain a blank line


def _quoted_text_pattern(character_pattern: str) -> str:
    return f"(?:{_NO_BLANK_LINE}{character_pattern}){{1,{_MAX_QUOTATION_CHARACTERS}}}"


_QUOTATION_MARK_PAIRS = ("“”", "„“", "„”", "‚‘", "«»", "»«", "‹›", "『』", "「」")
_PATTERNS = (
    *(marks[0] + _quoted_text_pattern(f"[^{marks}]") + marks[1] for marks in _QUOTATION_MARK_PAIRS),
    # A straight mark is at the outer side of a word. A mark of inches, as in 15", is not. Swedish and Finnish
    # use ” and » in the same way.
    *(rf"(?<!\w){mark}(?!\s)" + _quoted_text_pattern(f"[^{mark}]") + rf"(?<!\s){mark}(?!\w)" for mark in '"”»'),
    # A single mark may also be an apostrophe: inside a word, or before a year.
    r"(?<!\w)‘(?![\s\d])" + _quoted_text_pattern(r"(?:[^‘’]|’(?=\w))") + r"’(?!\w)",
    # In a quotation of several paragraphs, each one has an opening mark, and only the last one has a closing mark.
    "“" + _quoted_text_pattern("[^“”]") + r"(?=\n[^\S\n]*\n\s*“)",
)
_QUOTATIONS = re.compile("|".join(_PATTERNS))
_OPENING_MARK = re.compile('[{}"”‘“]'.format("".join(marks[0] for marks in _QUOTATION_MARK_PAIRS)))
_BLOCK_QUOTES = re.compile(r"^[^\S\n]{0,3}>.*$", re.MULTILINE)


def find_quotations(text: str) -> list[Span]:
    """Return the quotations of a text: text in quotation marks, and lines that begin with `>`, as in Markdown."""
    spans, end = [], 0
    while mark := _OPENING_MARK.search(text, end):  # faster than to look for the patterns at each character
        quotation = _QUOTATIONS.match(text, mark.start())
        if quotation:
            spans.append(quotation.span())
        end = quotation.end() if quotation else mark.end()
    return spans + [match.span() for match in _BLOCK_QUOTES.finditer(text)]
