"""Reads the rows of a CSV file with Python's `csv` module. After an unclosed quote, only one line is lost.

A row may span several lines under two conditions: each closing quote is followed by a delimiter or the end of a line,
and the row has no more cells than the header row. Otherwise, the first line is reported as bad, and the next line
begins a new row.
"""

from __future__ import annotations

import csv
import re
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TextIO

_LINE_ENDINGS = ("\n", "\r")
_CHUNK_CHARACTERS = 1 << 20
_MAX_CELL_CHARACTERS = (1 << 31) - 2  # limit of the csv module on systems with a `long` of 32 bits
_QUOTED = re.compile(r'"[^"]*("|$)')
_UNCLOSED_QUOTE = "a quote is not closed; close it, and double each quote inside a cell"
_CSV_LIMIT_LOCK = threading.Lock()  # the csv module has one cell size limit for the whole process


@dataclass(frozen=True, slots=True)
class BadRow:
    """The reason why a line cannot be read as a row."""

    reason: str


def read_rows(stream: TextIO, *, delimiter: str | None = None, max_characters: int) -> Iterator[list[str] | BadRow]:
    """Yield the rows of a stream, the header row first. Blank lines are skipped.

    A row may have fewer cells than the header row. If it has more, the additional cells are dropped if they are empty.
    Otherwise the row is bad. The usual cause is a text that contains the delimiter and is not quoted. Without a
    `delimiter`, `choose_delimiter` chooses it. The stream must be opened with `newline=""`.
    """
    lines = _LineReader(stream, min(max_characters, _MAX_CELL_CHARACTERS))
    column_count = 0
    while line := lines.read_line():
        if isinstance(line, BadRow):
            yield line
        elif line.strip("\r\n"):
            delimiter = delimiter or choose_delimiter(line)
            row = _read_row(line, lines, delimiter, column_count)
            if not isinstance(row, BadRow):
                column_count = column_count or len(row)
                row = row[:column_count]
            yield row


def choose_delimiter(header: str) -> str:
    """Return the one of `,`, `;`, tab and `|` that is most frequent in a header, outside of quotes."""
    return max(",;\t|", key=_QUOTED.sub("", header).count)


@contextmanager
def set_cell_limit(max_characters: int) -> Iterator[None]:
    """Set the maximum number of characters in a cell. The csv module has one limit for the whole process."""
    with _CSV_LIMIT_LOCK:
        previous_limit = csv.field_size_limit(min(max_characters, _MAX_CELL_CHARACTERS))
        try:
            yield
        finally:
            csv.field_size_limit(previous_limit)


class _LineReader:
    """Reads lines from a stream. Lines can be put back."""

    def __init__(self, stream: TextIO, max_characters: int) -> None:
        self._stream = stream
        self._put_back: deque[str | BadRow] = deque()
        self.max_characters = max_characters

    def read_line(self) -> str | BadRow:
        """Return the next line with its line ending, or an empty string at the end of the stream."""
        if self._put_back:
            return self._put_back.popleft()
        line = self._stream.readline(self.max_characters + 1)
        if len(line) <= self.max_characters or line.endswith(_LINE_ENDINGS):
            return line
        while line and not line.endswith(_LINE_ENDINGS):
            line = self._stream.readline(_CHUNK_CHARACTERS)
        return BadRow(f"the line is over the limit of {self.max_characters:,} characters")

    def put_back(self, lines: Sequence[str | BadRow]) -> None:
        """Put lines back, so that `read_line` returns them again."""
        self._put_back.extendleft(reversed(lines))


def _read_row(line: str, lines: _LineReader, delimiter: str, column_count: int) -> list[str] | BadRow:
    """Read the row that begins with this line. If the row is bad, only this line is consumed."""
    if '"' not in line:
        row = line.rstrip("\r\n").split(delimiter)
        return _check_cell_count(row, delimiter, column_count) or row
    further_lines: list[str] = []

    def row_lines() -> Iterator[str]:
        yield line
        remaining = lines.max_characters - len(line)
        while isinstance(next_line := lines.read_line(), str) and 0 < len(next_line) <= remaining:
            further_lines.append(next_line)
            remaining -= len(next_line)
            yield next_line
        lines.put_back([next_line])

    try:
        row = _parse_row(row_lines(), delimiter, lines.max_characters, strict=True)
    except csv.Error:
        lines.put_back(further_lines)
        further_lines = []
        row = _parse_row(iter([line.rstrip("\r\n") + "\n"]), delimiter, lines.max_characters, strict=False)
        if row[-1].endswith("\n"):
            return _check_cell_count(row, delimiter, column_count) or BadRow(_UNCLOSED_QUOTE)
    bad = _check_cell_count(row, delimiter, column_count)
    if bad:
        lines.put_back(further_lines)
    return bad or row


def _parse_row(lines: Iterator[str], delimiter: str, max_characters: int, *, strict: bool) -> list[str]:
    reader = csv.reader(lines, delimiter=delimiter, strict=strict)
    with set_cell_limit(max_characters):
        return next(reader)


def _check_cell_count(row: list[str], delimiter: str, column_count: int) -> BadRow | None:
    if column_count and any(row[column_count:]):
        return BadRow(f"more cells than columns ({column_count}); quote each text that contains {delimiter!r}")
    return None
