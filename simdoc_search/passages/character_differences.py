"""Finds differences between texts in letter case, punctuation and symbols.

The comparison of words ignores these differences. For example, `-500` and `500`, or `Bill` and `bill`, are equal words.
The Unicode form of a letter is no such difference: `é` may be one character or two.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from unicodedata import normalize

from simdoc_search.analysis.words import WordPositions
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.numbers import UNSPACED_LETTERS
from simdoc_search.passages.passage import CharacterDifference, Span
from simdoc_search.passages.subsequences import EqualRun

_SPACE = re.compile(r"\s+")
_LETTER = rf"[^\W{UNSPACED_LETTERS}]"
_FIRST_WORD, _LAST_WORD = re.compile(rf"^{_LETTER}+"), re.compile(rf"{_LETTER}+$")
_MAX_TOKEN_CHARACTERS = 40
"""The maximum number of characters of a token before or after a difference."""


def find_character_differences(
    texts: tuple[str, str], words: tuple[WordPositions, WordPositions], runs: Iterable[EqualRun]
) -> list[CharacterDifference]:
    """Return the differences in characters inside and between equal words, in the order of the runs.

    Whitespace and the Unicode form of letters are ignored. Differences in one token, as between `(5)` and `5`, count
    once. `runs` are the runs of equal words. For two texts with the same words, pass `[(0, 0, number of words)]`.
    """
    result: dict[tuple[Span, Span], CharacterDifference] = {}
    first, second = map(_SpacedText, texts, words)
    for i, j, size in runs:
        check_stopped()
        for difference in itertools.chain(
            _find_difference_before(first, second, i, j),
            _find_inner_differences(first, second, i, j, size),
            _find_difference_after(first, second, i + size, j + size),
        ):
            result.setdefault((difference.a, difference.b), difference)
    return list(result.values())


class _SpacedText:
    """A text with its words and the gaps between them."""

    def __init__(self, text: str, words: WordPositions) -> None:
        self._text, self._words = text, words

    def __getitem__(self, span: Span) -> str:
        return self._text[slice(*span)]

    def words_span(self, first: int, size: int = 1) -> Span:
        """Return the span of `size` words, starting at word `first`."""
        return int(self._words.starts[first]), int(self._words.ends[first + size - 1])

    def gap_before(self, word: int) -> Span:
        """Return the span of the gap before a word. Gaps also precede the first word and follow the last word."""
        begin = int(self._words.ends[word - 1]) if word else 0
        end = int(self._words.starts[word]) if word < len(self._words.words) else len(self._text)
        return begin, end

    def extend_to_whitespace(self, span: Span) -> Span:
        """Extend a span on both sides up to the next whitespace. Of a long token, only include whole words near it."""
        begin, end = span
        before = self._text[max(begin - _MAX_TOKEN_CHARACTERS, 0) : begin]
        after = self._text[end : end + _MAX_TOKEN_CHARACTERS]
        if len(before) == _MAX_TOKEN_CHARACTERS:
            before = _FIRST_WORD.sub("", before)
        if len(after) == _MAX_TOKEN_CHARACTERS:
            after = _LAST_WORD.sub("", after)
        return begin - len(_SPACE.split(before)[-1]), end + len(_SPACE.split(after)[0])


def _find_inner_differences(a: _SpacedText, b: _SpacedText, i: int, j: int, size: int) -> Iterator[CharacterDifference]:
    """Yield the differences inside and between `size` words. Equal stretches are skipped."""
    text_a, text_b = a[a.words_span(i, size)], b[b.words_span(j, size)]
    if text_a == text_b or normalize("NFC", text_a).split() == normalize("NFC", text_b).split():
        return
    if size == 1:
        yield CharacterDifference("letters", a.words_span(i), b.words_span(j))
        return
    half = size // 2
    yield from _find_inner_differences(a, b, i, j, half)
    yield from _find_differences_between(a, b, i + half, j + half)
    yield from _find_inner_differences(a, b, i + half, j + half, size - half)


def _find_differences_between(a: _SpacedText, b: _SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the differences between the gap before word `i` and the gap before word `j`."""
    (begin, end), (other_begin, other_end) = gap, other_gap = a.gap_before(i), b.gap_before(j)
    gap_a, gap_b = a[gap], b[other_gap]
    if _differ_only_in_spaces(gap_a, gap_b):
        return
    parts, other_parts = _SPACE.split(gap_a), _SPACE.split(gap_b)
    if len(parts) == 1 or len(other_parts) == 1:  # there is no whitespace between the words, as in a<b
        yield CharacterDifference("symbols", a.extend_to_whitespace(gap), b.extend_to_whitespace(other_gap))
        return
    if parts[0] != other_parts[0]:
        yield from _find_difference_after(a, b, i, j)
    if parts[1:-1] != other_parts[1:-1]:
        inner = _strip_space(a, (begin + len(parts[0]), end - len(parts[-1])))
        other_inner = _strip_space(b, (other_begin + len(other_parts[0]), other_end - len(other_parts[-1])))
        yield CharacterDifference("symbols", inner, other_inner)
    if parts[-1] != other_parts[-1]:
        yield from _find_difference_before(a, b, i, j)


def _find_difference_before(a: _SpacedText, b: _SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the difference in the symbols directly before two words, if any."""
    gap, other_gap = a.gap_before(i), b.gap_before(j)
    symbols_a, symbols_b = _SPACE.split(a[gap])[-1], _SPACE.split(b[other_gap])[-1]
    if symbols_a != symbols_b and not _differ_only_in_spaces(a[gap], b[other_gap]):
        span, other = (gap[1] - len(symbols_a), gap[1]), (other_gap[1] - len(symbols_b), other_gap[1])
        yield CharacterDifference("symbols", a.extend_to_whitespace(span), b.extend_to_whitespace(other))


def _find_difference_after(a: _SpacedText, b: _SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the difference in the symbols directly after the words that precede two words, if any."""
    gap, other_gap = a.gap_before(i), b.gap_before(j)
    symbols_a, symbols_b = _SPACE.split(a[gap])[0], _SPACE.split(b[other_gap])[0]
    if symbols_a != symbols_b and not _differ_only_in_spaces(a[gap], b[other_gap]):
        span, other = (gap[0], gap[0] + len(symbols_a)), (other_gap[0], other_gap[0] + len(symbols_b))
        yield CharacterDifference("symbols", a.extend_to_whitespace(span), b.extend_to_whitespace(other))


def _differ_only_in_spaces(gap: str, other: str) -> bool:
    return gap == other or normalize("NFC", _SPACE.sub("", gap)) == normalize("NFC", _SPACE.sub("", other))


def _strip_space(text: _SpacedText, span: Span) -> Span:
    """Return a span without whitespace at both ends. A span of whitespace becomes an empty span at its start."""
    begin, end = span
    inner = text[span]
    return (end - len(inner.lstrip()), begin + len(inner.rstrip())) if inner.strip() else (begin, begin)
