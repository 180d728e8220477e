"""Extracts the text of a CSV or TSV file in a folder: its cells, separated by tabs, with one row per line.

In `Water,1250.88,1507.88`, the two numbers would be one word, so a table would not share its numbers with the workbook
that it was exported from. Two tables have the same text only if they have the same cells:

- A line break inside a cell becomes a vertical tab, and a tab inside a cell becomes a unit separator. Both are spaces.
- A file that already contains one of these two characters is not converted.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from simdoc_search.batches import split_by_count
from simdoc_search.corpus.csv_rows import set_cell_limit
from simdoc_search.corpus.encoding import decode

_DELIMITERS = "\t;|,"
"""If several delimiters fit equally well, the first one is chosen: rows of `a;1,5` have decimal commas."""

_SAMPLE_ROWS = 1000
_MIN_SHARE = 0.75
"""The minimum share of rows that fit. In a text with commas, fewer lines do."""

_MAX_CELL_CHARACTERS = 1 << 20
_BATCH_ROWS = 1 << 12
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_LINE_BREAK_IN_CELL, _TAB_IN_CELL = "\v", "\x1f"
_IN_CELL = str.maketrans({"\n": _LINE_BREAK_IN_CELL, "\t": _TAB_IN_CELL})


def extract_table_text(data: bytes) -> str | None:
    """Return the text of a CSV or TSV file, or None if the file is binary. A file without a table is plain text.

    The delimiter is the one of tab, `;`, `|` and `,` that most rows fit. A row fits if it has two or more cells, and
    either as many as most rows or at most as many as the first row. If no delimiter fits, or a quote is wrong, the file
    is not a table.
    """
    text = decode(data)
    if text is None or _LINE_BREAK_IN_CELL in text or _TAB_IN_CELL in text:
        return text
    with set_cell_limit(_MAX_CELL_CHARACTERS):
        delimiter = _detect_delimiter(text)
        if delimiter is None:
            return text
        if '"' not in text and (delimiter == "\t" or "\t" not in text):
            return text.replace("\r\n", "\n").replace("\r", "\n").replace(delimiter, "\t")
        try:
            rows = map(format_row, _read_rows(text, delimiter))
            table = "\n".join(map("\n".join, split_by_count(rows, _BATCH_ROWS)))
        except csv.Error:
            return text
    return table + "\n" * text.endswith(("\n", "\r"))


def _detect_delimiter(text: str) -> str | None:
    shares = {delimiter: _share_of_fitting_rows(text, delimiter) for delimiter in _DELIMITERS if delimiter in text}
    best = max(shares, key=shares.__getitem__, default=None)
    return best if best is not None and shares[best] >= _MIN_SHARE else None


def _share_of_fitting_rows(text: str, delimiter: str) -> float:
    """Return the share of the first rows that fit a delimiter; 0 if its commas may be those of decimal numbers."""
    try:
        counts = [len(row) for row in islice(_read_rows(text, delimiter), _SAMPLE_ROWS) if row]
    except csv.Error:
        return 0.0
    ((usual_count, _),) = Counter(counts).most_common(1) or [(0, 0)]
    has_decimal_commas = delimiter == "," and usual_count == 2 and counts[0] == 1
    fitting = sum(count >= 2 and (count == usual_count or count <= counts[0]) for count in counts)
    if fitting < 2 or has_decimal_commas:
        return 0.0
    return fitting / len(counts)


def _read_rows(text: str, delimiter: str) -> Iterator[list[str]]:
    return csv.reader((line[0] for line in _LINE.finditer(text)), delimiter=delimiter, strict=True)


def format_row(cells: Sequence[str]) -> str:
    """Return a row as a line of text, with tabs between the cells."""
    row = "\t".join(cells)
    if "\n" in row or row.count("\t") >= len(cells):
        row = "\t".join(cell.translate(_IN_CELL) for cell in cells)
    return row
