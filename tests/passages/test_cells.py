"""In another cell of a table, a number means something else."""

from __future__ import annotations

from typing import Any

import pytest

from simdoc_search.passages.cells import find_row_differences, have_equal_cells, write_cells


@pytest.mark.parametrize(
    ("text", "other", "is_equal"),
    [("rent\t\t850\n", "rent\t850\t\n", False), ("in\tout\n5\t\n", "in\tout\n\t5\n", False),
     ("a\t5\n\tb\n", "a\t\n5\tb\n", False), ("a\tb\n", "a b\n", False), ("a\tb\nc\td", "a\tb\tc\td", False),
     ("| a | | 5 |\n", "| a | 5 | |\n", False), ("| a | b |\n|---|---|\n| | 5 |", "A\tb\n\n\t**5**\t\t\r\n", True),
     ("A long\nline. b", "a long line\n\n(b)", True), ("Head\nline\na\tb\nend", "head line\r\na \t b\t\n\nend", True),
     ("a \\| b", "a b", True)],
)  # fmt: skip
def test_only_the_cells_of_the_words_count(text: str, other: str, is_equal: bool) -> None:
    assert is_equal == have_equal_cells(text, other)


def test_written_cells_have_single_spaces_and_no_empty_cells_at_the_end() -> None:
    assert "two lines\na b\t\tC,\nend" == write_cells("two\n  lines\n a  b\t\tC,\t \t\r\n\nend\n")


@pytest.mark.parametrize(
    ("a", "b", "rows"),
    [
        ("in\tout\n5\t\n", "in\tout\n\t5\n", [("5\t", "\t5", [("5", 1, 2)])]),
        ("| a | | -5 |", "x\n| a | - 5 | |", [("| a | | -5 |", "| a | - 5 | |", [("- 5", 3, 2)])]),
        ("a\t✓\t\n", "a\t\t✓\n", [("a\t✓\t", "a\t\t✓", [("✓", 2, 3)])]),
        ("a\t5\t6\n", "a\t\t5\t6", [("a\t5\t6", "a\t\t5\t6", [("5", 2, 3), ("6", 3, 4)])]),
        ("a\tb c\n", "a\tb\tc\n", [("a\tb c", "a\tb\tc", [])]),
        ("a\t1\t\nb\t2\t\na\t1\t\n", "b\t2\t\na\t1\na\t\t1", [("a\t1\t", "a\t\t1", [("1", 2, 3)])]),
        ("a\t1\t\nb\t2\n", "b\t2\t\na\t1\n", []),
        ("A\t1\n", "a\t 1 \t\n", []),
        ("a\t1\t\n", "a\t\t2\n", []),
        ("a b", "a\nb", []),
    ],
)
def test_rows_with_the_same_words_in_other_cells_are_found(a: str, b: str, rows: list[Any]) -> None:
    """The order of rows, letter case and empty cells at the end of a row do not count."""
    found = [
        (
            a[slice(*row.a)],
            b[slice(*row.b)],
            [(cell.text, cell.column, cell.new_column) for cell in row.moved_cells],
        )
        for row in find_row_differences(a, b)
    ]

    assert rows == found
