"""Compares texts with the same words: which characters differ, and whether a plan may drop one of the texts."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain

from simdoc_search.analysis.settings import Analysis
from simdoc_search.analysis.words import locate_words
from simdoc_search.batches import split_by_count
from simdoc_search.duplicates.document_arrays import Documents
from simdoc_search.duplicates.verification import ReadTexts
from simdoc_search.passages.cells import find_row_differences, have_equal_cells
from simdoc_search.passages.character_differences import find_character_differences, find_mathematical_symbols
from simdoc_search.passages.numbers import SMALL_DIGITS, UNSPACED_LETTERS
from simdoc_search.passages.passage import CharacterDifference, Span
from simdoc_search.passages.row_descriptions import summarise_row_differences
from simdoc_search.passages.significant_changes import find_significant_changes
from simdoc_search.passages.summary import describe_character_differences, describe_form_difference

SIGNIFICANT_CHANGES = "not dropped, because a number, a symbol such as + or €, or the cells of a table differ"
NOT_COMPARED = "not dropped, because the texts were not compared"
"""The reasons why a document with the same words is not dropped."""

_TEXT_PAIRS_AT_ONCE = 50
_MAX_SPACES = 4
_NUMBER_END = re.compile(r"\d[^\S\r\n]*$")
_NUMBER_AFTER = re.compile(rf"[^\S\r\n]{{0,{_MAX_SPACES}}}\d")
_SMALL_DIGIT = re.compile(f"[{SMALL_DIGITS}]")
_NUMBER_START = re.compile(rf"(?<![^\W{UNSPACED_LETTERS}])\d")


def find_text_problems(
    documents: Documents, groups: Mapping[int, Sequence[int]], read_texts: ReadTexts | None, analysis: Analysis
) -> dict[int, str]:
    """Return the duplicates with the words of the kept document that a plan must not drop, and why.

    If the texts differ in the sign of a number, in a mathematical or currency symbol, or in the cells of a table, they
    do not say the same. Texts that are not stored cannot be compared.
    """
    labels, words = documents.text_labels, documents.same_words_labels
    pairs = [
        (kept, number)
        for kept, duplicates in groups.items()
        for number in duplicates
        if words[kept] == words[number] and labels[kept] != labels[number]
    ]
    problems: dict[int, str] = {}
    for part in split_by_count(pairs, _TEXT_PAIRS_AT_ONCE):
        texts = dict(read_texts(list(dict.fromkeys(chain.from_iterable(part))))) if read_texts else {}
        for kept, number in part:
            kept_text, text = texts.get(kept), texts.get(number)
            if kept_text is None or text is None:
                problems[number] = NOT_COMPARED
            elif not have_equal_cells(kept_text, text) or _do_numbers_or_symbols_differ(kept_text, text, analysis):
                problems[number] = SIGNIFICANT_CHANGES
    return problems


def _do_numbers_or_symbols_differ(a: str, b: str, analysis: Analysis) -> bool:
    """Return whether two texts with the same words differ in symbols, or in the characters next to a number."""
    differences = _find_character_differences(a, b, analysis)
    if any(change.kind in ("number", "date") for change in find_significant_changes(a, b, (), differences)):
        return True
    return any(_has_other_symbols(difference, a, b) or _is_in_number(difference, a, b) for difference in differences)


def _has_other_symbols(difference: CharacterDifference, a: str, b: str) -> bool:
    """Return whether a difference is in mathematical or currency symbols, as in `a + b` and `a - b`."""
    return find_mathematical_symbols(a[slice(*difference.a)]) != find_mathematical_symbols(b[slice(*difference.b)])


def _is_in_number(difference: CharacterDifference, a: str, b: str) -> bool:
    """Return whether a difference is in a number, or in symbols beside one, as in `- 5`, `3 + 5` and `m²`."""
    old, new = a[slice(*difference.a)], b[slice(*difference.b)]
    if old.casefold() == new.casefold():
        return False
    if _NUMBER_START.search(f"{old} {new}") or _SMALL_DIGIT.findall(old) != _SMALL_DIGIT.findall(new):
        return True
    has_words = any(map(str.isalnum, old + new))
    return not has_words and (_is_beside_number(a, difference.a) or _is_beside_number(b, difference.b))


def _is_beside_number(text: str, span: Span) -> bool:
    begin, end = span
    return bool(_NUMBER_END.search(text[max(0, begin - _MAX_SPACES - 1) : begin]) or _NUMBER_AFTER.match(text, end))


def describe_character_changes(a: str, b: str, analysis: Analysis) -> str:
    """Describe how two texts with the same words differ: a table row with moved cells, and characters, numbers first.

    Spaces and line breaks are only named if nothing else differs.
    """
    rows = summarise_row_differences(find_row_differences(a, b))
    if form := describe_form_difference(a, b):
        return rows or form
    characters = describe_character_differences(_find_character_differences(a, b, analysis), (a, b), 1)
    return "; ".join(filter(None, (rows, characters)))


def _find_character_differences(a: str, b: str, analysis: Analysis) -> list[CharacterDifference]:
    words = locate_words(a, analysis), locate_words(b, analysis)
    runs = [(0, 0, len(words[0].words))] if words[0].words == words[1].words else []
    return find_character_differences((a, b), words, runs)
