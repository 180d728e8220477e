"""A text to its paragraphs, as places in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

LONGEST_PARAGRAPH = 1_200
"""Characters, some 200 words. A longer one is cut: after a sentence, else at the end of a line, else between words."""

SHORTEST_PARAGRAPH = 80
"""Characters. A shorter one, as a heading or an item of a list, is part of the next one, the last of the one before."""

_BREAK = re.compile(r"\n[^\S\n]*\n\s*|[\x0c\x1d\u2029]\s*|\r(?!\n)\s*\r\s*|\r\n[^\S\n]*\r\n\s*")
_SENTENCE_END = re.compile(r"[.!?…。！？।؟][)\]\"'’”»]*(?=\s)|[。！？]")
_LINE_END = re.compile(r"(?=\n)")
_WORD_END = re.compile(r"(?=\s)")


def paragraph_spans(text: str) -> list[tuple[int, int]]:
    """Where the paragraphs of a text are, in order: (first character, one after the last), without space around them.

    A paragraph ends at an empty line, a form feed, or the character that Unicode has for it. What has none of them for
    long is cut into pieces.
    """
    spans: list[tuple[int, int]] = []
    for begin, end in _joined(_between_breaks(text)):
        spans += _pieces(text, begin, end)
    return spans


def _between_breaks(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for found in _BREAK.finditer(text):
        yield from _stripped(text, begin, found.start())
        begin = found.end()
    yield from _stripped(text, begin, len(text))


def _stripped(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """The place without space around it, if anything is left."""
    inside = text[begin:end]
    begin += len(inside) - len(inside.lstrip())
    if inside.strip():
        yield begin, begin + len(inside.strip())


def _joined(spans: Iterator[tuple[int, int]]) -> list[tuple[int, int]]:
    """The same, short ones with the next one."""
    joined: list[tuple[int, int]] = []
    for begin, end in spans:
        if joined and joined[-1][1] - joined[-1][0] < SHORTEST_PARAGRAPH:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((begin, end))
    if len(joined) > 1 and joined[-1][1] - joined[-1][0] < SHORTEST_PARAGRAPH:
        _, end = joined.pop()
        joined[-1] = joined[-1][0], end
    return joined


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    while end - begin > LONGEST_PARAGRAPH:
        cut = _cut(text, begin)
        yield from _stripped(text, begin, cut)
        begin = cut
    yield from _stripped(text, begin, end)


def _cut(text: str, begin: int) -> int:
    """Where the piece that begins here ends: at the last good place of its second half."""
    half, whole = begin + LONGEST_PARAGRAPH // 2, begin + LONGEST_PARAGRAPH
    for end in (_SENTENCE_END, _LINE_END, _WORD_END):
        if found := [each.end() for each in end.finditer(text, half, whole)]:
            return found[-1]
    return whole
