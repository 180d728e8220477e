"""Splits a text into sentences, as positions in the text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from simdoc_search.chunks.paragraphs import Span, strip_span
from simdoc_search.errors import MissingExtraError

MAX_SENTENCE_LENGTH = 400
"""A longer sentence is cut into pieces of at most this number of characters, between words if possible. Tables with
short rows and source code contain such sentences.

If a few words are inserted, each later cut falls only a few words earlier, so each piece keeps most of its words.
"""

MIN_ROW_LENGTH = 24
"""A row of a table with fewer characters is not a sentence of its own, because unrelated tables share such rows."""

_LANGUAGE = "en"
"""The language code for sentencex, which knows the abbreviations of the language, such as "e.g.".

Texts in other languages are split with the same rules, which is enough to compare versions.
"""

_PARAGRAPH_BREAK = re.compile(r"\n[^\S\n]*(?:\n\s*|(?=[-*•] ))|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+(?:\n\s*)?")
_LINE_END = re.compile(r"\r\n?")
_REMOVED_RETURN = re.compile(r"\r(?=\n)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def sentence_spans(text: str) -> list[Span]:
    r"""Return the start and end of each sentence, in order, without white space around it.

    A sentence never crosses the end of a paragraph. A paragraph ends at an empty line, before a line with a bullet, and
    at Unicode's separators. A sentence also ends between two rows of a table, that is, between two lines with tabs. All
    other line breaks are white space, so the sentences do not depend on how a text is wrapped. A line may end with
    `\n`, `\r` or both.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    try:
        from sentencex import segment  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtraError("splitting texts into sentences", "versions") from None
    unified = unify_line_endings(text)
    spans: list[Span] = []
    for block_start, end in _block_spans(unified):
        start = block_start
        for sentence in segment(_LANGUAGE, _SURROGATE.sub("\ufffd", unified[start:end].replace("\n", " "))):
            spans += _split_long_span(unified, start, start + len(sentence))
            start += len(sentence)
    removed = [match.start() - number for number, match in enumerate(_REMOVED_RETURN.finditer(text))]
    return [(start + bisect_left(removed, start), end + bisect_left(removed, end)) for start, end in spans]


def unify_line_endings(text: str) -> str:
    r"""Return the text with `\n` at the end of each line."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def _block_spans(text: str) -> Iterator[Span]:
    """Yield the paragraphs. If a paragraph has rows of a table, yield these one by one."""
    start = 0
    for match in _PARAGRAPH_BREAK.finditer(text):
        yield from _split_between_rows(text, start, match.start())
        start = match.end()
    yield from _split_between_rows(text, start, len(text))


def _split_between_rows(text: str, start: int, end: int) -> Iterator[Span]:
    if text.find("\t", start, end) >= 0:
        line_start, follows_row = start, False
        for line in text[start:end].split("\n"):
            content = line.lstrip()  # code is indented with tabs
            is_row = len(content) >= MIN_ROW_LENGTH and "\t" in content
            if is_row and follows_row:
                yield start, line_start
                start = line_start
            line_start += len(line) + 1
            follows_row = is_row
    yield start, end


def _split_long_span(text: str, start: int, end: int) -> Iterator[Span]:
    """Yield a sentence without white space around it. If the sentence is too long, yield several pieces."""
    for sentence_start, sentence_end in strip_span(text, start, end):
        rest = sentence_start
        while sentence_end - rest > MAX_SENTENCE_LENGTH:
            positions = range(rest + MAX_SENTENCE_LENGTH, rest + MAX_SENTENCE_LENGTH // 2, -1)
            cut = next((position for position in positions if text[position].isspace()), rest + MAX_SENTENCE_LENGTH)
            yield from strip_span(text, rest, cut)
            rest = cut
            while text[rest].isspace():
                rest += 1
        yield rest, sentence_end
