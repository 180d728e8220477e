"""A text to its sentences, as places in it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from simdoc_search.chunks.line_endings import places_before, with_newlines
from simdoc_search.errors import MissingExtraError

LONGEST = 400
"""Characters of a sentence. A longer one, as in a table or a program, is cut between words where there are any: what
was added to it then changes little in each of the pieces that follow."""

_LANGUAGE = "en"
"""Whose abbreviations are known: a text has no language here. Those of another one cut its versions alike."""

_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*|(?=[-*•] ))|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+(?:\n\s*)?")
_NEW_LINE = str.maketrans("\n", " ")


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Where the sentences of a text are, in order: (first character, one after the last), without space around them.

    A paragraph ends at an empty line, before a line with a bullet, and at a character that Unicode has for it; all
    other line breaks are space, so that a text may be wrapped anew. A line may end with a line feed, a carriage return,
    or both.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    try:
        from sentencex import segment  # noqa: PLC0415 - of the extra
    except ImportError:
        raise MissingExtraError("splitting texts into sentences", "versions") from None
    lines = with_newlines(text)
    spans: list[tuple[int, int]] = []
    for begin, end in _paragraphs(lines):
        at = begin
        for sentence in segment(_LANGUAGE, _encodable(lines[begin:end].translate(_NEW_LINE))):
            spans += _pieces(lines, at, at + len(sentence))
            at += len(sentence)
    return places_before(text, spans)


def _paragraphs(text: str) -> Iterator[tuple[int, int]]:
    begin = 0
    for found in _PARAGRAPH_BREAK.finditer(text):
        yield begin, found.start()
        begin = found.end()
    yield begin, len(text)


def _encodable(text: str) -> str:
    """A text of as many characters without lone surrogates."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return "".join("\ufffd" if "\ud800" <= each <= "\udfff" else each for each in text)
    return text


def _pieces(text: str, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """A stretch of text without space around it, cut where it is too long."""
    while begin < end:
        while begin < end and text[begin].isspace():
            begin += 1
        stop = end
        if end - begin > LONGEST:
            stop = begin + LONGEST
            while stop > begin + LONGEST // 2 and not text[stop].isspace():
                stop -= 1
            if stop == begin + LONGEST // 2:
                stop = begin + LONGEST
        last = stop
        while last > begin and text[last - 1].isspace():
            last -= 1
        if last > begin:
            yield begin, last
        begin = stop
