"""Finds the quotations of a text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simdoc_search.passages.passage import Span

_MAX_CHARACTERS = 1_500
"""The maximum length of a quotation. Of 20,000 quotations in real texts, none is longer."""
_MAX_CHARACTERS_BEFORE_APOSTROPHE = 100
"""The maximum length of a quotation if its closing mark may also be an apostrophe, as in "the users’ view"."""
_MAX_CHARACTERS_AFTER_PAGE_BREAK = 300
"""The maximum length of the part of a quotation that is on the next page.

If a quotation in a footnote continues in a footnote of the next page, most of that page is in between.
"""

_NO_BLANK_LINE = r"(?!\n[^\S\n]*\n)"  # a quotation does not contain a blank line
# The same character may open one quotation and close another one, even in one text. If a mark is missing, the text
# between two quotations must not become a quotation. So the characters before and after a mark are tested.
_BEFORE_OPENING = r"(?<![^\W_])(?<![.!?…)\]])(?<!,(?=.\d))"
_AFTER_OPENING = r"(?!(?!\.\.\.)[.,;:!?)\]]*(?:\s|$))"
_BEFORE_CLOSING = r"(?<![\s(\[])"
_AFTER_CLOSING = r"(?![^\W\d_])"  # a digit may be the number of a footnote
_AFTER_FRENCH_OPENING = "(?![.,;:!?)])"  # French has a space after the opening mark and before the closing one
_APOSTROPHE_IN_WORD, _APOSTROPHE_AFTER_S = r"’(?=[^\W\d])", r"(?<=s)’(?=\s+[^\W\d])"


def _pattern(opening: str, character: str, closing: str, max_characters: int = _MAX_CHARACTERS) -> str:
    return f"{opening}(?:{_NO_BLANK_LINE}{character}){{1,{max_characters}}}{closing}"


def _ambiguous_pattern(opening: str, character: str, closing: str) -> str:
    return _pattern(
        f"{_BEFORE_OPENING}{opening}{_AFTER_OPENING}", character, f"{_BEFORE_CLOSING}{closing}{_AFTER_CLOSING}"
    )


def _single_mark_pattern(character: str, closing: str, max_characters: int = _MAX_CHARACTERS) -> str:
    return _pattern(r"(?<!\w)‘(?![\s\d])", f"(?:[^‘’]|{character})", closing + _AFTER_CLOSING, max_characters)


_PATTERNS = (
    _pattern("“", "[^“”„]", "”"),
    _pattern("„", "[^“”„]", f"(?:”|{_BEFORE_CLOSING}“{_AFTER_CLOSING})"),
    _pattern("‚", "[^‚‘]", f"{_BEFORE_CLOSING}‘{_AFTER_CLOSING}"),
    _pattern("『", "[^『』]", "』"),
    _pattern("「", "[^「」]", "」"),
    _pattern(f"{_BEFORE_OPENING}«{_AFTER_FRENCH_OPENING}", "[^«»]", f"»{_AFTER_CLOSING}"),
    _pattern(f"{_BEFORE_OPENING}‹{_AFTER_FRENCH_OPENING}", "[^‹›]", f"›{_AFTER_CLOSING}"),
    _ambiguous_pattern("»", "[^»«]", "[»«]"),  # German and Swedish
    _ambiguous_pattern("”", "[^“”„]", "”"),  # Swedish and Finnish
    _ambiguous_pattern('"', '[^"]', '"'),  # the mark of inches, as in 15", does not open a quotation
    # A single mark may also be an apostrophe: inside a word, before a year, or after an s.
    _single_mark_pattern(_APOSTROPHE_IN_WORD, "’", _MAX_CHARACTERS_BEFORE_APOSTROPHE),
    _single_mark_pattern(f"{_APOSTROPHE_IN_WORD}|{_APOSTROPHE_AFTER_S}", f"(?!{_APOSTROPHE_AFTER_S})’"),
    # In a quotation of several paragraphs, each one has an opening mark, and only the last one has a closing mark.
    _pattern("“", "[^“”„]", r"(?=\n[^\S\n]*\n\s*“)"),
)
_QUOTATIONS = re.compile("|".join(_PATTERNS))
_OPENING_MARK = re.compile('[“”„‚‘«»‹『「"]')
_FOOTNOTES = re.compile(r"\n[^\S\n]*(?:\d{1,3}(?!\d)|[*†‡])[^\f]*\f")
"""The footnotes of a page: from the first line that begins with a number."""
_BLOCK_QUOTES = re.compile(r"^[^\S\n]{0,3}>.*$", re.MULTILINE)


def find_quotations(text: str) -> list[Span]:
    """Return the quotations of a text: text in quotation marks, and lines that begin with `>`, as in Markdown.

    A quotation that crosses a page break has a span before and after the footnotes in between.
    """
    spans: list[Span] = []
    end = 0
    while mark := _OPENING_MARK.search(text, end):  # faster than to look for the patterns at each character
        quotation = _QUOTATIONS.match(text, mark.start())
        end = mark.end()
        if quotation and _is_certain(quotation[0]):
            spans += _remove_footnotes(text, quotation.span())
            end = quotation.end()
    return spans + [match.span() for match in _BLOCK_QUOTES.finditer(text)]


def _is_certain(quotation: str) -> bool:
    """Return whether a quotation is on one page, or ends soon after the page break."""
    return len(quotation.partition("\f")[2]) <= _MAX_CHARACTERS_AFTER_PAGE_BREAK


def _remove_footnotes(text: str, span: Span) -> Iterator[Span]:
    start, end = span
    for footnotes in _FOOTNOTES.finditer(text, start, end):
        yield start, footnotes.start()
        start = footnotes.end()
    yield start, end
