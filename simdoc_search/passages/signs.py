"""Where equal words are written otherwise, or stand beside other signs: `-500` and `500`, `a < b` and `a > b`."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from simdoc_search.analysis.words import PlacedWords
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.passage import SignDifference, Span
from simdoc_search.passages.subsequences import EqualRun

_SPACE = re.compile(r"\s+")
_MOST = 40
"""Characters of a token to either side of what differs, at most."""


def signs(a: str, b: str, words_a: PlacedWords, words_b: PlacedWords, runs: Iterable[EqualRun]) -> list[SignDifference]:
    """The signs that differ between and inside words that are equal, in the order of the runs.

    Words are compared without case and punctuation; this finds what that hides. Whitespace makes no difference.

    Args:
        a: the first text.
        b: the second.
        words_a: the words of the first text.
        words_b: those of the second.
        runs: which words are equal; of two texts with the same words `[(0, 0, number of words)]`.
    """
    found: list[SignDifference] = []
    first, second = _TextGaps(a, words_a), _TextGaps(b, words_b)
    for i, j, size in runs:
        check_stopped()
        found += _before(first, second, i, j)
        found += _within(first, second, i, j, size)
        found += _after(first, second, i + size, j + size)
    return found


class _TextGaps:
    """A text and where its words are."""

    def __init__(self, text: str, words: PlacedWords) -> None:
        self.text, self._words = text, words
        self.count = len(words.words)

    def word(self, at: int) -> Span:
        return int(self._words.starts[at]), int(self._words.ends[at])

    def gap(self, at: int) -> Span:
        """What lies before a word; before the first one and after the last one all there is."""
        begin = int(self._words.ends[at - 1]) if at else 0
        end = int(self._words.starts[at]) if at < self.count else len(self.text)
        return begin, end

    def token(self, begin: int, end: int) -> Span:
        """Some characters with those around them up to the next whitespace."""
        before, after = self.text[max(begin - _MOST, 0) : begin], self.text[end : end + _MOST]
        return begin - len(_SPACE.split(before)[-1]), end + len(_SPACE.split(after)[0])


def _within(a: _TextGaps, b: _TextGaps, i: int, j: int, size: int) -> Iterator[SignDifference]:
    """What differs inside some words and between them; whole stretches that are the same are not looked into."""
    here = a.text[a.word(i)[0] : a.word(i + size - 1)[1]]
    there = b.text[b.word(j)[0] : b.word(j + size - 1)[1]]
    if here == there or here.split() == there.split():
        return
    if size == 1:
        yield SignDifference("writing", a.word(i), b.word(j))
        return
    half = size // 2
    yield from _within(a, b, i, j, half)
    yield from _between(a, b, i + half, j + half)
    yield from _within(a, b, i + half, j + half, size - half)


def _between(a: _TextGaps, b: _TextGaps, i: int, j: int) -> Iterator[SignDifference]:
    """What differs between the words before these and these."""
    one, other = a.gap(i), b.gap(j)
    here, there = a.text[slice(*one)], b.text[slice(*other)]
    if here == there or _SPACE.sub("", here) == _SPACE.sub("", there):
        return
    parts, others = _SPACE.split(here), _SPACE.split(there)
    if len(parts) == 1 or len(others) == 1:  # a<b
        yield _difference(a, one, b, other)
        return
    if parts[0] != others[0]:
        yield _difference(a, (one[0], one[0] + len(parts[0])), b, (other[0], other[0] + len(others[0])))
    if parts[1:-1] != others[1:-1]:
        yield SignDifference("sign", _inner(a, one, parts), _inner(b, other, others))
    if parts[-1] != others[-1]:
        yield _difference(a, (one[1] - len(parts[-1]), one[1]), b, (other[1] - len(others[-1]), other[1]))


def _before(a: _TextGaps, b: _TextGaps, i: int, j: int) -> Iterator[SignDifference]:
    """What differs of the signs that stand directly before the first word of a run."""
    (_, end), (_, other_end) = one, other = a.gap(i), b.gap(j)
    here, there = _SPACE.split(a.text[slice(*one)])[-1], _SPACE.split(b.text[slice(*other)])[-1]
    if here != there:
        yield _difference(a, (end - len(here), end), b, (other_end - len(there), other_end))


def _after(a: _TextGaps, b: _TextGaps, i: int, j: int) -> Iterator[SignDifference]:
    """What differs of the signs that stand directly after the last word of a run."""
    (begin, _), (other_begin, _) = one, other = a.gap(i), b.gap(j)
    here, there = _SPACE.split(a.text[slice(*one)])[0], _SPACE.split(b.text[slice(*other)])[0]
    if here != there:
        yield _difference(a, (begin, begin + len(here)), b, (other_begin, other_begin + len(there)))


def _inner(text: _TextGaps, gap: Span, parts: list[str]) -> Span:
    """What stands alone between two words; of nothing the place after the first one."""
    begin, end = gap[0] + len(parts[0]), gap[1] - len(parts[-1])
    inner = text.text[begin:end]
    if not inner.strip():
        return begin, begin
    return end - len(inner.lstrip()), begin + len(inner.rstrip())


def _difference(a: _TextGaps, one: Span, b: _TextGaps, other: Span) -> SignDifference:
    return SignDifference("sign", a.token(*one), b.token(*other))
