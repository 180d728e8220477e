"""Reads the rows of a CSV file with Python's `csv` module. A row with a broken quote costs only its first line.

A row of several lines counts only if every quote is closed before a delimiter or the end of a line, and if the row has
no more cells than there are columns. Otherwise the first line is bad, and the next line begins a new row.
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
_MAX_LIMIT = (1 << 31) - 2  # of the csv module on systems with a `long` of 32 bits
_QUOTED = re.compile(r'"[^"]*("|$)')
_UNCLOSED = "a quote is not closed; close it, and double those within a text"
_CSV_LIMIT = threading.Lock()  # the csv module has one limit of cells for the whole process


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that is not a row, and the reason."""

    reason: str


def read_rows(stream: TextIO, *, delimiter: str | None = None, limit: int) -> Iterator[list[str] | BadRow]:
    """Read the rows of a stream one by one, the heading first. Blank lines are left out.

    A row may be shorter than the heading. Empty cells beyond the columns are dropped. If they are not empty, the row
    is bad: its text probably has a delimiter and no quotes.

    Args:
        stream: opened with `newline=""`.
        delimiter: the delimiter. None: the most frequent of `,`, `;`, tab and `|` in the heading, outside of quotes.
        limit: maximum number of characters in a row.
    """
    lines = _Lines(stream, min(limit, _MAX_LIMIT))
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
    """The lines of a stream. Lines can be put back."""

    def __init__(self, stream: TextIO, limit: int) -> None:
        self._stream = stream
        self._returned: deque[str | BadRow] = deque()
        self.limit = limit

    def next(self) -> str | BadRow:
        """Return the next line with its end, or an empty string at the end of the stream."""
        if self._returned:
            return self._returned.popleft()
        line = self._stream.readline(self.limit + 1)
        if len(line) <= self.limit or line.endswith(_LINE_ENDS):
            return line
        while line and not line.endswith(_LINE_ENDS):
            line = self._stream.readline(_CHUNK_CHARACTERS)
        return BadRow(f"the line is over the limit of {self.limit:,} characters")

    def put_back(self, lines: Sequence[str | BadRow]) -> None:
        """Let `next` return these lines again."""
        self._returned.extendleft(reversed(lines))


def _read_row(line: str, lines: _Lines, delimiter: str, columns: int) -> list[str] | BadRow:
    """Read the row that begins with a line. If the row is bad, only this line is used up."""
    if '"' not in line:
        row = line.rstrip("\r\n").split(delimiter)
        return _too_many_cells(row, delimiter, columns) or row
    more: list[str] = []

    def row_lines() -> Iterator[str]:
        yield line
        left = lines.limit - len(line)
        while isinstance(following := lines.next(), str) and 0 < len(following) <= left:
            more.append(following)
            left -= len(following)
            yield following
        lines.put_back([following])

    try:
        row = _parse(row_lines(), delimiter, lines.limit, strict=True)
    except csv.Error:
        lines.put_back(more)
        more = []
        row = _parse(iter([line.rstrip("\r\n") + "\n"]), delimiter, lines.limit, strict=False)
        if row[-1].endswith("\n"):
            return _too_many_cells(row, delimiter, columns) or BadRow(_UNCLOSED)
    bad = _too_many_cells(row, delimiter, columns)
    if bad:
        lines.put_back(more)
    return bad or row


def _parse(lines: Iterator[str], delimiter: str, limit: int, *, strict: bool) -> list[str]:
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    with _CSV_LIMIT:
        limit_before = csv.field_size_limit(limit)
        try:
            return next(reader)
        finally:
            csv.field_size_limit(limit_before)


def _too_many_cells(row: list[str], delimiter: str, columns: int) -> BadRow | None:
    if columns and any(row[columns:]):
        return BadRow(f"more cells than the {columns} columns; put a text with {delimiter!r} in it in quotes")
    return None
