"""The line that says how a near duplicate differs."""

from __future__ import annotations

import pytest

from simdoc_search.passages.compare import compare
from simdoc_search.passages.difference_summary import summarise_differences
from tests.support.cli import words

TEXT = words(0, 40)
INSERTED = "1 word inserted: “Draft”"


def summarise(before: str, after: str) -> str:
    """Summarise the differences between two texts. The second one also has the new first word `Draft`."""
    texts = f"{TEXT}\n{before}\n{TEXT}", f"Draft {TEXT}\n{after}\n{TEXT}"
    return summarise_differences(compare(*texts), texts)


@pytest.mark.parametrize(
    ("before", "after", "symbol"),
    [
        ("if x ≤ y then", "if x ≥ y then", "“≤” → “≥”"),
        ("the sum a + b is", "the sum a b is", "“+” (removed)"),
        ("pay in now", "pay in € now", "“€” (added)"),
        ("a balance of 5 now", "a balance of - 5 now", "“-” (added)"),
        ("a balance of (5) now", "a balance of 5 now", "“(5)” → “5”"),
    ],
)
def test_a_changed_symbol_is_quoted_before_the_words(before: str, after: str, symbol: str) -> None:
    assert summarise(before, after) == f"symbol: {symbol}; {INSERTED}"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("the end, and then", "the end; and then"),
        ("the end - and then", "the end – and then"),
        ("on page 5, then", "on page 5. Then"),
        ("name | sum", "name sum"),
        ("the title\n=========\nis here", "the title\n\nis here"),
    ],
)
def test_punctuation_is_not_quoted(before: str, after: str) -> None:
    """Dashes, the letter case, and the lines of tables and headings do not count either."""
    assert summarise(before, after) == INSERTED


def test_a_symbol_of_a_number_is_quoted_once() -> None:
    assert (
        summarise("costs € 5 now", "costs $ 5 now")
        == "+1 −0 words in 1 place; number: word38 word39 costs “€ 5” → “$ 5”"
    )


@pytest.mark.parametrize(
    ("before", "after", "cells"),
    [
        ("stamps\tin\t\nink\tout\t", "stamps\t\tin\nink\tout\t", "“in” moved from column 2 to column 3"),
        ("dark\tred ink", "dark red\tink", "text is in other cells in 1 table row"),
        (
            "dark\tred ink\nstamps\tin\t",
            "dark red\tink\nstamps\t\tin",
            "text is in other cells in 2 table rows; in one: “in” moved from column 2 to column 3",
        ),
    ],
)
def test_a_row_with_moved_cells_is_described_before_the_words(before: str, after: str, cells: str) -> None:
    assert summarise(before, after) == f"{cells}; {INSERTED}"
