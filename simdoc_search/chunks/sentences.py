"""Splits a text into sentences, as positions in the text."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator

from simdoc_search.chunks.paragraphs import Span, strip_span
from simdoc_search.errors import MissingExtraError

MAX_SENTENCE_LENGTH = 400
"""A longer sentence is cut into pieces of at most this number of characters, between words if possible. Tables and
source code contain such sentences.

If a few words are inserted, each later cut falls only a few words earlier, so each piece keeps most of its words.
"""

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
    at Unicode's separators. All other line breaks are white space, so the sentences do not depend on how a text is
    wrapped. A line may end with `\n`, `\r` or both.

    Raises:
        MissingExtraError: sentencex is not installed.
    """
    try:
        from sentencex import segment  # noqa: PLC0415 - an optional dependency
    except ImportError:
        raise MissingExtraError("splitting texts into sentences", "versions") from None
    unified = unify_line_endings(text)
    spans: list[Span] = []
    for paragraph_start, end in _paragraph_spans(unified):
        start = paragraph_start
        for sentence in segment(_LANGUAGE, _SURROGATE.sub("\ufffd", unified[start:end].replace("\n", " "))):
            spans += _split_long_span(unified, start, start + len(sentence))
            start += len(sentence)
    removed = [match.start() - number for number, match in enumerate(_REMOVED_RETURN.finditer(text))]
    return [(start + bisect_left(removed, start), end + bisect_left(removed, end)) for start, end in spans]


def unify_line_endings(text: str) -> str:
    r"""Return the text with `\n` at the end of each line."""
    return _LINE_END.sub("\n", text) if "\r" in text else text


def _paragraph_spans(text: str) -> Iterator[Span]:
    start = 0
    for match in _PARAGRAPH_BREAK.finditer(text):
        yield start, match.start()
        start = match.end()
    yield start, len(text)


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
