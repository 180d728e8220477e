"""How do the lines of a CSV file become rows of cells?

Cells in quotes hold delimiters, line breaks and doubled quotes, as RFC 4180 has it. Python's own reader is not used:
its limit for the size of a cell is one for the whole process, and an unclosed quote makes one cell of all that follows.

The rule for a row of several lines: it is one only if its quotes are closed before a delimiter or the end of a line,
if it has no more cells than there are columns, and if it is within the limit. Otherwise a quote was not closed, and
only its first line is given up; the next line begins a new row. What cannot be told from a text of several lines: an
unclosed quote that another stray one closes in the right place.
"""

from __future__ import annotations

import re
import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TextIO

_ENDS = ("\n", "\r")
_QUOTED = re.compile(r'"[^"]*("|$)')
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class BadRow:
    """A line that is no row, and why."""

    reason: str


class _BadRowError(Exception):
    """Why the line at hand begins no row."""


def delimiter_of(heading: str) -> str:
    """What stands between the columns: the candidate that the first line has most of, outside of quotes."""
    return max(",;\t|", key=_QUOTED.sub("", heading).count)


def read_rows(stream: TextIO, *, delimiter: str | None = None, limit: int) -> Iterator[list[str] | BadRow]:
    """The rows of a stream, the heading first, one at a time in memory; blank lines are none.

    A row may be shorter than the heading. Cells beyond its columns are dropped if they are empty, otherwise the row
    is bad: a delimiter stands in a text without quotes, and the text would be cut.

    Args:
        stream: opened with `newline=""`.
        delimiter: what stands between the cells; by default what `delimiter_of` says of the first line.
        limit: the most characters that a row may have.
    """
    return iter(_Rows(stream, delimiter, min(limit, sys.maxsize - 1)))


class _Rows:
    """The reading of one stream.

    `_again` are lines that were read for a row that was none, `_taken` those that the row at hand has beyond its first.
    """

    def __init__(self, stream: TextIO, delimiter: str | None, limit: int) -> None:
        self._stream = stream
        self._delimiter = delimiter
        self._limit = limit
        self._columns = 0
        self._again: deque[str] = deque()
        self._taken: list[str] = []

    def __iter__(self) -> Iterator[list[str] | BadRow]:
        while True:
            self._taken = []
            try:
                if not (line := self._line()):
                    return
                if line.strip("\r\n"):
                    yield self._row(line)
            except _BadRowError as error:
                self._again.extendleft(reversed(self._taken))
                yield BadRow(str(error))

    def _row(self, line: str) -> list[str]:
        self._delimiter = self._delimiter or delimiter_of(line)
        cells = self._cells(line, self._delimiter) if '"' in line else line.rstrip("\r\n").split(self._delimiter)
        self._columns = self._columns or len(cells)
        if any(cells[self._columns :]):
            raise self._too_many()
        return cells[: self._columns]

    def _cells(self, line: str, delimiter: str) -> list[str]:
        """The cells of the row that begins with this line; more lines are taken while a quote is open."""
        cells: list[str] = []
        start, end, size = 0, len(line.rstrip("\r\n")), len(line)
        while True:
            pieces: list[str] = []
            if line.startswith('"', start):
                start += 1
                while (close := _closing_quote(line, start)) < 0:
                    pieces.append(line[start:])
                    if len(cells) >= self._columns > 0:
                        raise self._too_many()
                    line = self._next_line(size)
                    start, end, size = 0, len(line.rstrip("\r\n")), size + len(line)
                pieces.append(line[start:close])
                start = close + 1
            stop = line.find(delimiter, start, end)
            rest = line[start : end if stop < 0 else stop]
            if rest and len(pieces) > 1:
                raise _unclosed()
            cells.append("".join(pieces).replace('""', '"') + rest)
            if stop < 0:
                return cells
            start = stop + 1

    def _next_line(self, size: int) -> str:
        """One more line of a row that has this many characters so far."""
        line = self._line()
        self._taken.append(line)
        if not line or size + len(line) > self._limit:
            raise _unclosed()
        return line

    def _line(self) -> str:
        """The next line with its end; empty at the end of the stream."""
        if self._again:
            return self._again.popleft()
        line = self._stream.readline(self._limit + 1)
        if len(line) <= self._limit or line.endswith(_ENDS):
            return line
        while line and not line.endswith(_ENDS):
            line = self._stream.readline(_AT_ONCE)
        raise _BadRowError(f"the line is over the limit of {self._limit:,} characters")

    def _too_many(self) -> _BadRowError:
        return _BadRowError(
            f"more cells than the {self._columns} columns; put a text with {self._delimiter!r} in it in quotes"
        )


def _unclosed() -> _BadRowError:
    return _BadRowError("a quote is not closed; close it, and double those within a text")


def _closing_quote(line: str, start: int) -> int:
    """Where the cell in quotes ends that began before `start`; -1 if not in this line."""
    while (close := line.find('"', start)) >= 0 and line.startswith('"', close + 1):
        start = close + 2
    return close
