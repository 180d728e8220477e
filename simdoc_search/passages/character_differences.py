"""Finds differences between texts in letter case, punctuation and symbols.

The comparison of words ignores these differences. For example, `-500` and `500`, or `Bill` and `bill`, are equal words.
The Unicode form of a letter does not count: `é` may be one character or two.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from unicodedata import category, normalize

from simdoc_search.analysis.words import WordPositions
from simdoc_search.cancellation import check_stopped
from simdoc_search.passages.passage import CharacterDifference, Difference, Span
from simdoc_search.passages.spaced_text import SpacedText
from simdoc_search.passages.subsequences import EqualRun
from simdoc_search.passages.typography import unify_typography

_SPACE = re.compile(r"\s+")


def find_character_differences(
    texts: tuple[str, str],
    words: tuple[WordPositions, WordPositions],
    runs: Iterable[EqualRun],
    differences: Iterable[Difference] = (),
) -> list[CharacterDifference]:
    """Return the differences in characters inside, between and next to equal words, in the order of the first text.

    Differences in apostrophes only, as between `don't` and `don’t`, come after all others. There may be many.

    Whitespace and the Unicode form of letters are ignored. Differences in one token, as between `(5)` and `5`, count
    once. `runs` are the runs of equal words. For two texts with the same words, pass `[(0, 0, number of words)]`.
    `differences` are those between the words. Symbols beside them are compared too, as in `5 € new` and `5 $ old`.
    """
    first, second = map(SpacedText, texts, words)
    text_ends = {(0, 0), (len(words[0].words), len(words[1].words))}
    found: list[Iterator[CharacterDifference]] = []
    for i, j, size in runs:
        begin, end = (i, j), (i + size, j + size)
        found += [
            _find_difference_before(first, second, *begin),
            _find_inner_differences(first, second, i, j, size),
            _find_difference_after(first, second, *end),
            *(_find_difference_in_separate_symbols(first, second, *place) for place in {begin, end} & text_ends),
        ]
    for difference in differences:
        begin = first.word_at(difference.a[0]), second.word_at(difference.b[0])
        end = begin[0] + difference.removed_word_count, begin[1] + difference.added_word_count
        if difference.kind == "replaced":
            found += [_find_difference_in_separate_symbols(first, second, *place) for place in (begin, end)]
        elif difference.kind != "moved" and _have_other_symbols(first, second, begin, end):
            found.append(_find_difference_in_separate_symbols(first, second, *begin))
    result: dict[tuple[Span, Span], CharacterDifference] = {}
    for part in found:
        check_stopped()
        result.update(((character.a, character.b), character) for character in part)
    return sorted(result.values(), key=lambda found: (has_only_other_apostrophes(found, texts), found.a, found.b))


def has_only_other_apostrophes(difference: CharacterDifference, texts: tuple[str, str]) -> bool:
    """Return whether a difference is only in which characters are the apostrophes."""
    return _are_equal_with_any_apostrophes(texts[0][slice(*difference.a)], texts[1][slice(*difference.b)])


def find_mathematical_symbols(text: str) -> list[str]:
    """Return the mathematical and currency symbols of a text. A minus sign is left out: it may be a dash."""
    return [character for character in text if category(character) in ("Sm", "Sc") and character != "−"]


def _find_inner_differences(a: SpacedText, b: SpacedText, i: int, j: int, size: int) -> Iterator[CharacterDifference]:
    """Yield the differences inside and between `size` words. Equal stretches are skipped."""
    text_a, text_b = a[a.words_span(i, size)], b[b.words_span(j, size)]
    if text_a == text_b or normalize("NFC", text_a).split() == normalize("NFC", text_b).split():
        return
    if size == 1:
        is_apostrophe = _are_equal_with_any_apostrophes(text_a, text_b)
        yield CharacterDifference("symbols" if is_apostrophe else "letters", a.words_span(i), b.words_span(j))
        return
    half = size // 2
    yield from _find_inner_differences(a, b, i, j, half)
    yield from _find_differences_between(a, b, i + half, j + half)
    yield from _find_inner_differences(a, b, i + half, j + half, size - half)


def _find_differences_between(a: SpacedText, b: SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the differences between the gap before word `i` and the gap before word `j`."""
    gap, other_gap = a.gap_before(i), b.gap_before(j)
    gap_a, gap_b = a[gap], b[other_gap]
    if _differ_only_in_spaces(gap_a, gap_b):
        return
    parts, other_parts = _SPACE.split(gap_a), _SPACE.split(gap_b)
    if len(parts) == 1 or len(other_parts) == 1:  # there is no whitespace between the words, as in a<b
        yield CharacterDifference("symbols", a.extend_to_whitespace(gap), b.extend_to_whitespace(other_gap))
        return
    if parts[0] != other_parts[0]:
        yield from _find_difference_after(a, b, i, j)
    yield from _find_difference_in_separate_symbols(a, b, i, j)
    if parts[-1] != other_parts[-1]:
        yield from _find_difference_before(a, b, i, j)


def _find_difference_before(a: SpacedText, b: SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the difference in the symbols directly before two words, if any."""
    gap, other_gap = a.gap_before(i), b.gap_before(j)
    symbols_a, symbols_b = _SPACE.split(a[gap])[-1], _SPACE.split(b[other_gap])[-1]
    if symbols_a != symbols_b and not _differ_only_in_spaces(a[gap], b[other_gap]):
        span, other = (gap[1] - len(symbols_a), gap[1]), (other_gap[1] - len(symbols_b), other_gap[1])
        yield CharacterDifference("symbols", a.extend_to_whitespace(span), b.extend_to_whitespace(other))


def _find_difference_after(a: SpacedText, b: SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the difference in the symbols directly after the words that precede two words, if any."""
    gap, other_gap = a.gap_before(i), b.gap_before(j)
    symbols_a, symbols_b = _SPACE.split(a[gap])[0], _SPACE.split(b[other_gap])[0]
    if symbols_a != symbols_b and not _differ_only_in_spaces(a[gap], b[other_gap]):
        span, other = (gap[0], gap[0] + len(symbols_a)), (other_gap[0], other_gap[0] + len(symbols_b))
        yield CharacterDifference("symbols", a.extend_to_whitespace(span), b.extend_to_whitespace(other))


def _find_difference_in_separate_symbols(a: SpacedText, b: SpacedText, i: int, j: int) -> Iterator[CharacterDifference]:
    """Yield the difference in the symbols between spaces before two words, if any."""
    span, other = a.separate_symbols(i), b.separate_symbols(j)
    if not (
        _differ_only_in_spaces(a[span], b[other]) or _differ_only_in_spaces(a[a.gap_before(i)], b[b.gap_before(j)])
    ):
        yield CharacterDifference("symbols", span, other)


def _have_other_symbols(a: SpacedText, b: SpacedText, begin: tuple[int, int], end: tuple[int, int]) -> bool:
    """Return whether the symbols around inserted or removed words are others than at this place in the other text.

    These words may have brought some of the symbols, such as a second comma.
    """
    gaps, other_gaps = (
        [_SPACE.sub("", text[text.gap_before(word)]) for word in sorted({first, last})]
        for text, first, last in zip((a, b), begin, end, strict=True)
    )
    (gap,), around = sorted((gaps, other_gaps), key=len)
    return not (around[0].startswith(gap) or around[-1].endswith(gap) or gap == "".join(around))


def _are_equal_with_any_apostrophes(text: str, other: str) -> bool:
    return normalize("NFC", unify_typography(text)) == normalize("NFC", unify_typography(other))


def _differ_only_in_spaces(gap: str, other: str) -> bool:
    return gap == other or normalize("NFC", _SPACE.sub("", gap)) == normalize("NFC", _SPACE.sub("", other))
