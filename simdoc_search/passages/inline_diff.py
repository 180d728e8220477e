"""Merges a place of two texts into one quotation, in which removed and inserted parts are marked.

Without the removed parts, the result reads as the second text. Without the inserted parts, it reads as the first one.
Only whitespace and the Unicode form of letters may differ. The symbols between the words are compared, too.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice, pairwise, takewhile
from typing import Literal, NamedTuple
from unicodedata import normalize

from simdoc_search.analysis.words import WordPositions
from simdoc_search.passages.passage import Difference, Span
from simdoc_search.passages.positions import CHARACTERS_PER_WORD, find_line_ends
from simdoc_search.passages.spaced_text import SpacedText

_TOUCHING_SYMBOLS = re.compile(r"\S{0,20}$"), re.compile(r"\A\S{0,20}")  # before words, and after words
_WHITESPACE, _WHITESPACE_AT_END = re.compile(r"\s*"), re.compile(r"\s*\Z")
_SYMBOL = re.compile(r"\S")


WordPair = tuple[int, int]
"""The index of a word in the first text, and the index of a word in the second one."""


class DiffPart(NamedTuple):
    """A part of an inline diff. Removed and inserted parts have no whitespace at their ends."""

    kind: Literal["kept", "removed", "inserted"]
    text: str


class _Region(NamedTuple):
    """A part of a text: the words from `first_word` up to, but not including, `end_word`, and symbols around them."""

    text: SpacedText
    first_word: int
    end_word: int
    span: Span

    @property
    def has_words(self) -> bool:
        return self.first_word < self.end_word

    @property
    def words_span(self) -> Span:
        return self.text.words_span(self.first_word, self.end_word - self.first_word)

    def find_symbols_before(self) -> list[int]:
        """Return the position of each symbol before the words; of all symbols if there are no words."""
        return self._find_symbols(self.span[0], self.words_span[0] if self.has_words else self.span[1])

    def find_symbols_after(self) -> list[int]:
        """Return the position of each symbol after the words; of all symbols if there are no words."""
        return self._find_symbols(self.words_span[1] if self.has_words else self.span[0], self.span[1])

    def _find_symbols(self, start: int, end: int) -> list[int]:
        return [match.start() for match in _SYMBOL.finditer(self.text.text, start, end)]


class InlineDiff:
    """Quotes the differences between two texts. `differences` are all differences of these texts."""

    def __init__(
        self, texts: tuple[str, str], words: tuple[WordPositions, WordPositions], differences: Iterable[Difference]
    ) -> None:
        self._texts: tuple[SpacedText, SpacedText] = SpacedText(texts[0], words[0]), SpacedText(texts[1], words[1])
        ranges = [self._find_words(difference) for difference in differences]
        sides = [[pair[side] for pair in ranges if pair[side][0] < pair[side][1]] for side in (0, 1)]
        self._starts = [sorted(start for start, _ in side) for side in sides]
        self._ends = [sorted(end for _, end in side) for side in sides]

    def have_equal_words_between(self, difference: Difference, later: Difference) -> bool:
        """Return whether both texts have the same words between two differences."""
        between = zip(self._find_words(difference), self._find_words(later), strict=True)
        a, b = (
            text.words.words[end:start] if end <= start else None
            for text, ((_, end), (start, _)) in zip(self._texts, between, strict=True)
        )
        return a is not None and a == b

    def quote(self, differences: Sequence[Difference], context_words: int) -> list[DiffPart]:
        """Quote differences, the words between them, and up to `context_words` equal words on both sides.

        The words between the differences must be equal; see `have_equal_words_between`. `…` stands for the text before
        and after the quoted words.
        """
        ranges = [self._find_words(difference) for difference in differences]
        first, end = (ranges[0][0][0], ranges[0][1][0]), (ranges[-1][0][1], ranges[-1][1][1])
        before, after = self._count_words_before(first, context_words), self._count_words_after(end, context_words)
        equal = [(first[0] - count, first[1] - count) for count in range(before, 0, -1)]
        for (span, other), (later, _) in pairwise(ranges):
            equal += [(span[1] + count, other[1] + count) for count in range(later[0] - span[1])]
        equal += [(end[0] + count, end[1] + count) for count in range(after)]
        first, end = (first[0] - before, first[1] - before), (end[0] + after, end[1] + after)
        starts = self._find_edge(first, differences[0], 0, has_context=before > 0)
        ends = self._find_edge(end, differences[-1], 1, has_context=after > 0)
        parts = [DiffPart("kept", "… " if any(starts) else "")]
        for pair in equal:
            spans = [text.words_span(word) for text, word in zip(self._texts, pair, strict=True)]
            word, spelled = (text[span] for text, span in zip(self._texts, spans, strict=True))
            if normalize("NFC", word) == normalize("NFC", spelled):
                parts += self._merge(first, pair, starts, (spans[0][0], spans[1][0]))
                parts.append(DiffPart("kept", word))
                first, starts = (pair[0] + 1, pair[1] + 1), (spans[0][1], spans[1][1])
        parts += self._merge(first, end, starts, ends)
        is_whole = all(place == len(text.text) for place, text in zip(ends, self._texts, strict=True))
        return _join_kept_parts([*parts, DiffPart("kept", "" if is_whole else " …")])

    def _find_words(self, difference: Difference) -> tuple[Span, Span]:
        """Return the index of the first word and the index after the last word, in both texts."""
        a, b = (
            (text.word_at(start), text.word_at(end))
            for text, (start, end) in zip(self._texts, (difference.a, difference.b), strict=True)
        )
        return a, b

    def _count_words_before(self, place: WordPair, max_count: int) -> int:
        """Count the words before a place of both texts that are equal, and not in a difference."""
        (i, first), (j, other_first) = (
            (word, ends[number - 1] if (number := bisect_right(ends, word)) else 0)
            for word, ends in zip(place, self._ends, strict=True)
        )
        pairs = zip(range(i - 1, first - 1, -1), range(j - 1, other_first - 1, -1), strict=False)
        return self._count_context(list(islice(pairs, max_count)), max_count)

    def _count_words_after(self, place: WordPair, max_count: int) -> int:
        """Count the words after a place of both texts that are equal, and not in a difference."""
        (i, end), (j, other_end) = (
            (word, starts[number] if (number := bisect_left(starts, word)) < len(starts) else len(text.words.words))
            for word, starts, text in zip(place, self._starts, self._texts, strict=True)
        )
        pairs = zip(range(i, end), range(j, other_end), strict=False)
        return self._count_context(list(islice(pairs, max_count)), max_count)

    def _count_context(self, pairs: Sequence[WordPair], max_count: int) -> int:
        """Count the first pairs of equal words. Long words are not counted."""
        length = 0
        for count, pair in enumerate(pairs):
            spans = [text.words_span(word) for text, word in zip(self._texts, pair, strict=True)]
            length += max(end - start + 1 for start, end in spans)
            a, b = (text.words.words[word] for text, word in zip(self._texts, pair, strict=True))
            if a != b or length > CHARACTERS_PER_WORD * max_count:
                return count
        return len(pairs)

    def _find_edge(self, place: WordPair, difference: Difference, side: Literal[0, 1], *, has_context: bool) -> Span:
        """Return where a quotation begins (side 0) or ends (side 1) in both texts, if its edge is before these words.

        The symbols that touch the quoted words are included. Next to context, they are included if both have them.
        """
        a, b = self._texts
        if place == ((len(a.words.words), len(b.words.words)) if side else (0, 0)):
            return (len(a.text), len(b.text)) if side else (0, 0)
        gaps = a.gap_before(place[0]), b.gap_before(place[1])
        found = (_TOUCHING_SYMBOLS[side].search(text[gap]) for text, gap in zip(self._texts, gaps, strict=True))
        symbols = [match[0] if match else "" for match in found]
        if has_context and symbols[0] != symbols[1]:
            symbols = ["", ""]
        edge_a, edge_b = (
            gap[0] + len(touching) if side else gap[1] - len(touching)
            for gap, touching in zip(gaps, symbols, strict=True)
        )
        if has_context:
            return edge_a, edge_b
        return (
            difference.a[side] if difference.kind == "inserted" else edge_a,
            difference.b[side] if difference.kind == "removed" else edge_b,
        )

    def _merge(self, first: WordPair, end: WordPair, starts: Span, ends: Span) -> Iterator[DiffPart]:
        """Yield the parts of a region in which no words are spelled equally in both texts."""
        a, b = (
            _Region(*region) for region in zip(self._texts, first, end, zip(starts, ends, strict=True), strict=True)
        )
        text_a, text_b = a.text[a.span], b.text[b.span]
        if _drop_spaces(text_a) == _drop_spaces(text_b):
            yield DiffPart("kept", text_a)
            return
        middle_a, middle_b = _find_middle(a, b)
        removed, inserted = a.text[middle_a], b.text[middle_b]
        changed = [text for text in (removed, inserted) if text.strip()]
        yield DiffPart("kept", a.text[a.span[0], middle_a[0]])
        yield DiffPart("kept", " " if any(text[0].isspace() for text in changed) else "")
        yield DiffPart("removed", removed.strip())
        yield DiffPart("kept", " " if len(changed) > 1 else "")
        yield DiffPart("inserted", inserted.strip())
        yield DiffPart("kept", " " if any(text[-1].isspace() for text in changed) else "")
        yield DiffPart("kept", a.text[middle_a[1], a.span[1]])


def place_empty_spans(
    texts: tuple[str, str], words: tuple[WordPositions, WordPositions], differences: Iterable[Difference]
) -> list[Difference]:
    """Move the empty spans of inserted and removed words to the right place between the symbols of the other text.

    For example, `x` is inserted between the brackets of `[ ]`, and a line at the beginning of the next line.
    """
    a, b = SpacedText(texts[0], words[0]), SpacedText(texts[1], words[1])
    placed = []
    for difference in differences:
        i, j = a.word_at(difference.a[0]), b.word_at(difference.b[0])
        if difference.kind == "inserted":
            place = _find_place(a, i, b, j, j + difference.added_word_count)
            placed.append(replace(difference, a=(place, place)))
        elif difference.kind == "removed":
            place = _find_place(b, j, a, i, i + difference.removed_word_count)
            placed.append(replace(difference, b=(place, place)))
        else:
            placed.append(difference)
    return sorted(placed, key=lambda difference: (difference.a, difference.b))


def _find_place(text: SpacedText, word: int, other: SpacedText, first: int, end: int) -> int:
    """Return the place before a word where the other text has additional words."""
    around = other.gap_before(first)[0], other.gap_before(end)[1]
    (place, place_end), (additional, _) = _find_middle(
        _Region(text, word, word, text.gap_before(word)), _Region(other, first, end, around)
    )
    whitespace = _WHITESPACE.match(other.text, additional)
    line_count = len(find_line_ends(whitespace[0] if whitespace else ""))
    whitespace = _WHITESPACE.match(text.text, place, place_end)
    lines = find_line_ends(whitespace[0] if whitespace else "")[:line_count]
    return place + lines[-1] if lines else place


def _find_middle(a: _Region, b: _Region) -> tuple[Span, Span]:
    """Return the spans of two regions without the equal symbols at their beginnings and ends."""
    before = a.find_symbols_before(), b.find_symbols_before()
    after = a.find_symbols_after(), b.find_symbols_after()
    prefix = _count_equal_symbols((a, b), *before)
    suffix = _count_equal_symbols((a, b), *(symbols[::-1] for symbols in after))
    # In a region without words, the symbols before and after them are the same. No symbol counts twice.
    limits = [
        (len(symbols), region is a) for region, symbols in zip((a, b), before, strict=True) if not region.has_words
    ]
    limit, is_first = min(limits, default=(prefix + suffix, True))
    if prefix + suffix > limit:
        longer = 1 if is_first else 0

        def rate(size: int) -> tuple[int, int]:
            region = (a, b)[longer]
            return _rate_cut(region.text.text, _cut(region, before[longer], after[longer], size, limit - size)), size

        prefix = max(range(limit - suffix, prefix + 1), key=rate)
        suffix = limit - prefix
    return _cut(a, before[0], after[0], prefix, suffix), _cut(b, before[1], after[1], prefix, suffix)


def _count_equal_symbols(regions: tuple[_Region, _Region], a: Sequence[int], b: Sequence[int]) -> int:
    first, second = (region.text.text for region in regions)
    return sum(1 for _ in takewhile(lambda pair: first[pair[0]] == second[pair[1]], zip(a, b, strict=False)))


def _cut(region: _Region, before: Sequence[int], after: Sequence[int], prefix: int, suffix: int) -> Span:
    """Return the span of a region without its first and last symbols."""
    start = before[prefix - 1] + 1 if prefix else region.span[0]
    return start, max(start, after[-suffix] if suffix else region.span[1])


def _rate_cut(text: str, span: Span) -> int:
    """Rate a cut by the whitespace that the span has at its ends. Whole lines are best, then whole words."""
    start, end = span
    ahead, behind = _WHITESPACE.match(text, start, end), _WHITESPACE_AT_END.search(text, max(start, end - 20), end)
    spaces = [match[0] if match else "" for match in (ahead, behind)]
    at_ends = start == 0, end == len(text)
    return sum(
        2 if is_end or find_line_ends(space) else len(space[:1]) for space, is_end in zip(spaces, at_ends, strict=True)
    )


def _drop_spaces(text: str) -> str:
    return normalize("NFC", "".join(text.split()))


def _join_kept_parts(parts: Iterable[DiffPart]) -> list[DiffPart]:
    """Join consecutive parts that both texts have, and drop empty parts."""
    joined: list[DiffPart] = []
    for kind, text in parts:
        if joined and text and joined[-1].kind == kind == "kept":
            joined[-1] = DiffPart("kept", joined[-1].text + text)
        elif text:
            joined.append(DiffPart(kind, text))
    return joined
