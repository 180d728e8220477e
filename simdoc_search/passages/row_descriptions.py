"""Describes the rows of tables that have the same words in other cells."""

from __future__ import annotations

from collections.abc import Sequence

from simdoc_search.display import format_count
from simdoc_search.passages.cells import split_into_cells
from simdoc_search.passages.passage import RowDifference
from simdoc_search.passages.summary import excerpt

_MAX_CELL_WORDS, _MAX_CELLS, _MAX_MOVED_CELLS = 6, 8, 3


def describe_row_difference_count(count: int) -> str:
    """Describe the number of rows with text in other cells: "text is in other cells in 2 table rows"."""
    return f"text is in other cells in {format_count(count, 'table row')}"


def describe_moved_cells(difference: RowDifference) -> str:
    """Describe which cells of a row moved: "“120” moved from column 3 to column 2"."""
    if not difference.moved_cells:
        return "cells joined or split"
    moved = [
        f"“{excerpt(cell.text, _MAX_CELL_WORDS)}” moved from column {cell.column:,} to column {cell.new_column:,}"
        for cell in difference.moved_cells[:_MAX_MOVED_CELLS]
    ]
    more = len(difference.moved_cells) - len(moved)
    return "; ".join([*moved, f"and {format_count(more, 'more cell')}"] if more > 0 else moved)


def summarise_row_differences(rows: Sequence[RowDifference]) -> str:
    """Describe one row with moved cells, and count the rows if there are several; empty without rows.

    For example: "text is in other cells in 2 table rows; in one: “120” moved from column 3 to column 2".
    """
    moved = next((describe_moved_cells(row) for row in rows if row.moved_cells), "")
    if len(rows) == 1 and moved:
        return moved
    count = describe_row_difference_count(len(rows)) if rows else ""
    return f"{count}; in one: {moved}" if moved else count


def quote_rows(difference: RowDifference, texts: tuple[str, str]) -> tuple[str, str]:
    """Quote a row of each text, with `|` between its cells. If a row is long, quote only the cells that moved."""
    rows = [
        split_into_cells(text[slice(*span)]) for text, span in zip(texts, (difference.a, difference.b), strict=True)
    ]
    columns = [column for cell in difference.moved_cells for column in (cell.column, cell.new_column)]
    first = max(0, min(columns, default=1) - 2)
    a, b = (_quote_row(row, first) for row in rows)
    return a, b


def _quote_row(cells: Sequence[str], first: int) -> str:
    """Quote the cells from column `first` on, and the first cell of the row."""
    shown = [excerpt(cell, _MAX_CELL_WORDS) for cell in cells]
    if len(shown) > _MAX_CELLS:
        end = first + _MAX_CELLS
        label = shown[:1] if first else []
        shown = [*label, *["…"][: first > 1], *shown[first:end], *["…"][: end < len(shown)]]
    return " | ".join(shown)
