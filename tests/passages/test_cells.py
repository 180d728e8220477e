"""In another cell of a table, a number means something else."""

from __future__ import annotations

import pytest

from simdoc_search.passages.cells import have_equal_cells, write_cells


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
