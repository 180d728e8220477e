"""Summarises the differences between two texts in one line."""

from __future__ import annotations

import re
from itertools import islice

from simdoc_search.passages.character_differences import find_mathematical_symbols
from simdoc_search.passages.passage import CharacterDifference, Comparison
from simdoc_search.passages.row_descriptions import summarise_row_differences
from simdoc_search.passages.significant_changes import find_significant_changes
from simdoc_search.passages.summary import (
    describe_character_differences,
    describe_difference,
    describe_differences,
    describe_significant_changes,
    excerpt,
)

_MAX_CHECKED_SYMBOLS = 20
"""The maximum number of changed symbols that are searched for one outside of a significant change."""
_DRAWN_LINE = re.compile(r"[-+=~<>|]{3,}|\|")
"""A line of symbols, such as `====` under a heading, or the line between two cells."""
_DASH_OR_PLUS = re.compile("[-–—−+]")
_NEGATIVE_NUMBER = re.compile(r"\([\d.,]*\d\)\W?")
"""A number in parentheses, which is negative in accounts."""
_NUMBER_AFTER = re.compile(r"[^\S\r\n]{0,4}\d")


def summarise_differences(comparison: Comparison, texts: tuple[str, str]) -> str:
    """Describe a table row with moved cells, a changed symbol, and the words that differ.

    Up to two significant changes of words are quoted, or else the first difference.

    For example: "symbol: “≤” → “≥”; +1 −1 words in 1 place; number: The rent is “850” → “890”".
    """
    parts = [summarise_row_differences(comparison.row_differences), _quote_symbol(comparison, texts)]
    return "; ".join([*filter(None, parts), _summarise_words(comparison, texts)])


def _summarise_words(comparison: Comparison, texts: tuple[str, str]) -> str:
    summary, changes = describe_differences(comparison), describe_significant_changes(comparison.significant_changes, 2)
    if changes or not comparison.differences:
        others = changes or [describe_character_differences(comparison.character_differences, texts, 1)]
        return "; ".join(filter(None, [summary, *others]))
    first = describe_difference(comparison.differences[0], *texts)
    return first if len(comparison.differences) == 1 else f"{summary}; first: {first}"


def _quote_symbol(comparison: Comparison, texts: tuple[str, str]) -> str:
    """Quote the first mathematical symbol, currency or sign that differs and is not part of a significant change."""
    found = (difference for difference in comparison.character_differences if _has_other_symbol(difference, texts))
    for difference in islice(found, _MAX_CHECKED_SYMBOLS):
        if not find_significant_changes(*texts, (), [difference]):
            old, new = (
                excerpt(text[slice(*span)]) for text, span in zip(texts, (difference.a, difference.b), strict=True)
            )
            if old and new:
                return f"symbol: “{old}” → “{new}”"
            return f"symbol: “{new}” (added)" if new else f"symbol: “{old}” (removed)"
    return ""


def _has_other_symbol(difference: CharacterDifference, texts: tuple[str, str]) -> bool:
    """Return whether a difference is in a mathematical or currency symbol, or in the sign of a number.

    The lines of a table and those under a heading do not count.
    """
    if difference.kind != "symbols":
        return False
    spans = difference.a, difference.b
    old, new = (_DRAWN_LINE.sub("", text[slice(*span)]) for text, span in zip(texts, spans, strict=True))
    if find_mathematical_symbols(old) != find_mathematical_symbols(new):
        return True
    if any(map(str.isalnum, old + new)):
        return bool(_NEGATIVE_NUMBER.fullmatch(old)) != bool(_NEGATIVE_NUMBER.fullmatch(new))
    if len(_DASH_OR_PLUS.findall(old)) == len(_DASH_OR_PLUS.findall(new)):
        return False
    return all(_NUMBER_AFTER.match(text, span[1]) for text, span in zip(texts, spans, strict=True))
