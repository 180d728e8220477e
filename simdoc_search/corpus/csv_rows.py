"""Reads the rows of a CSV file with Python's `csv` module. After an unclosed quote, only one line is lost.

A row may have several lines only if each closing quote is followed by a delimiter or the end of a line, and if the row
has no more cells than the heading. Otherwise the first line is reported as bad, and the next line begins a new row.
"""

from __future__ import annotations

import csv
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TextIO

_LINE_ENDS = ("\n", "\r")
_CHUNK_CHARACTERS = 1 << 20
_MAX_CELL_CHARACTERS = (1 << 31) - 2  # limit of the csv module on systems with a `long` of 32 bits
_QUOTED = re.compile(r'"[^"]*("|$)')
_UNCLOSED = "a quote is not closed; close it, and double each quote inside a cell"
_CSV_LIMIT = threading.Lock()  # the csv module has one cell size limit for the whole process


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that cannot be read as a row, with the reason."""

    reason: str


def read_rows(stream: TextIO, *, delimiter: str | None = None, max_characters: int) -> Iterator[list[str] | BadRow]:
    """Yield the rows of a stream, the heading first. Blank lines are skipped.

    A row may have fewer cells than the heading. If it has more, the additional cells are dropped if they are empty.
    Otherwise the row is bad: a text that is not quoted probably contains a delimiter.

    Args:
        stream: a stream that was opened with `newline=""`.
        delimiter: the delimiter. If it is None, the most frequent of `,`, `;`, tab and `|` in the heading, outside of
            quotes, is used.
        max_characters: maximum number of characters in a row.
    """
    lines = _Lines(stream, min(max_characters, _MAX_CELL_CHARACTERS))
    columns = 0
    while line := lines.next():
        if isinstance(line, BadRow):
            yield line
        elif line.strip("\r\n"):
            delimiter = delimiter or max(",;\t|", key=_QUOTED.sub("", line).count)
            row = _read_row(line, lines, delimiter, columns)
            if not isinstance(row, BadRow):
                columns = columns or len(row)
                row = row[:columns]
            yield row


class _Lines:
    """Reads lines from a stream. Lines can be put back."""

    def __init__(self, stream: TextIO, max_characters: int) -> None:
        self._stream = stream
        self._put_back: deque[str | BadRow] = deque()
        self.max_characters = max_characters

    def next(self) -> str | BadRow:
        """Return the next line with its end, or an empty string at the end of the stream."""
        if self._put_back:
            return self._put_back.popleft()
        line = self._stream.readline(self.max_characters + 1)
        if len(line) <= self.max_characters or line.endswith(_LINE_ENDS):
            return line
        while line and not line.endswith(_LINE_ENDS):
            line = self._stream.readline(_CHUNK_CHARACTERS)
        return BadRow(f"the line is over the limit of {self.max_characters:,} characters")

    def put_back(self, lines: Sequence[str | BadRow]) -> None:
        """Put lines back, so that `next` returns them again."""
        self._put_back.extendleft(reversed(lines))


def _read_row(line: str, lines: _Lines, delimiter: str, columns: int) -> list[str] | BadRow:
    """Read the row that begins with this line. If the row is bad, only this line is consumed."""
    if '"' not in line:
        row = line.rstrip("\r\n").split(delimiter)
        return _too_many_cells(row, delimiter, columns) or row
    further_lines: list[str] = []

    def row_lines() -> Iterator[str]:
        yield line
        remaining = lines.max_characters - len(line)
        while isinstance(next_line := lines.next(), str) and 0 < len(next_line) <= remaining:
            further_lines.append(next_line)
            remaining -= len(next_line)
            yield next_line
        lines.put_back([next_line])

    try:
        row = _parse(row_lines(), delimiter, lines.max_characters, strict=True)
    except csv.Error:
        lines.put_back(further_lines)
        further_lines = []
        row = _parse(iter([line.rstrip("\r\n") + "\n"]), delimiter, lines.max_characters, strict=False)
        if row[-1].endswith("\n"):
            return _too_many_cells(row, delimiter, columns) or BadRow(_UNCLOSED)
    bad = _too_many_cells(row, delimiter, columns)
    if bad:
        lines.put_back(further_lines)
    return bad or row


def _parse(lines: Iterator[str], delimiter: str, max_characters: int, *, strict: bool) -> list[str]:
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    with _CSV_LIMIT:
        previous_limit = csv.field_size_limit(max_characters)
        try:
            return next(reader)
        finally:
            csv.field_size_limit(previous_limit)


def _too_many_cells(row: list[str], delimiter: str, columns: int) -> BadRow | None:
    if columns and any(row[columns:]):
        return BadRow(f"more cells than the {columns} columns; quote each text that contains {delimiter!r}")
    return None
