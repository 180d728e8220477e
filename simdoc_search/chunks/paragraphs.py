"""Splits a text into paragraphs, as positions in the text."""

from __future__ import annotations

import re
from collections.abc import Iterator

MAX_PARAGRAPH_LENGTH = 1_200
"""A longer paragraph is cut after a sentence, or if that is not possible, at the end of a line or between words.

The length is in characters: 1,200 characters are about 200 words.
"""

MIN_PARAGRAPH_LENGTH = 80
"""A paragraph with fewer characters, such as a heading, is joined to the next paragraph.

If the last paragraph is shorter, it is joined to the previous one.
"""

_BREAK = re.compile(r"\n[^\S\n]*\n\s*|[\x0c\x1d\u2029]\s*|\r(?!\n)\s*\r\s*|\r\n[^\S\n]*\r\n\s*")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][)\]\"'’”»]*(?=\s)|[。！？]")
_LINE_END = re.compile(r"(?=\n)")
_WORD_END = re.compile(r"(?=\s)")

Span = tuple[int, int]
"""The start and end (exclusive) of a chunk, in characters."""


def paragraph_spans(text: str) -> list[Span]:
    """Return the start and end of each paragraph, in order, without white space around it.

    A paragraph ends at an empty line, a form feed, or Unicode's paragraph separator. Long paragraphs are cut.
    """
    return [piece for start, end in _join_short(_split_at_breaks(text)) for piece in _split_long_span(text, start, end)]


def _split_at_breaks(text: str) -> Iterator[Span]:
    start = 0
    for match in _BREAK.finditer(text):
        yield from strip_span(text, start, match.start())
        start = match.end()
    yield from strip_span(text, start, len(text))


def strip_span(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield the span without white space around it. If nothing is left, yield nothing."""
    inside = text[start:end]
    start += len(inside) - len(inside.lstrip())
    if content := inside.strip():
        yield start, start + len(content)


def _join_short(spans: Iterator[Span]) -> list[Span]:
    """Join each short paragraph to the next one, and a short last paragraph to the previous one."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and _is_short(joined[-1]):
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    if len(joined) > 1 and _is_short(joined[-1]):
        _, end = joined.pop()
        joined[-1] = joined[-1][0], end
    return joined


def _is_short(span: Span) -> bool:
    return span[1] - span[0] < MIN_PARAGRAPH_LENGTH


def _split_long_span(text: str, start: int, end: int) -> Iterator[Span]:
    while end - start > MAX_PARAGRAPH_LENGTH:
        cut = _find_last_break(text, start)
        yield from strip_span(text, start, cut)
        start = cut
    yield from strip_span(text, start, end)


def _find_last_break(text: str, start: int) -> int:
    """Return where to cut a long paragraph that begins at `start`.

    This is the last suitable break in the second half of its first `MAX_PARAGRAPH_LENGTH` characters.
    """
    middle, limit = start + MAX_PARAGRAPH_LENGTH // 2, start + MAX_PARAGRAPH_LENGTH
    for pattern in (_SENTENCE_END, _LINE_END, _WORD_END):
        if ends := [match.end() for match in pattern.finditer(text, middle, limit)]:
            return ends[-1]
    return limit
