"""Finds the cells of tables in texts. In another cell, a number means something else."""

from __future__ import annotations

import re
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from operator import attrgetter, itemgetter
from typing import NamedTuple, TypeVar
from unicodedata import normalize

from simdoc_search.passages.passage import MovedCell, RowDifference, Span

_CELL_BREAK = re.compile(r"\t|(?<!\\)\|")
_NO_WORD = re.compile(r"[\W_]+")
_LINE = re.compile(r"[-:\s]+")

_Item = TypeVar("_Item")


def write_cells(text: str) -> str:
    """Return a text with one row of a table per line. Texts with equal words in equal cells have the same result.

    Tabs separate the cells of a row. Outside of tables, all words are on one line, so line breaks make no difference.
    Spaces are single, and empty cells at the end of a row are left out.
    """
    return "\n".join(" ".join(line.split()) if is_prose else line for is_prose, line in _lines(text))


def have_equal_cells(text: str, other_text: str) -> bool:
    """Return whether two texts with the same words have them in the same cells of tables.

    Tabs separate cells, and so does the `|` of Markdown. Letter case, punctuation and the Unicode form of letters do
    not count.
    """
    return _write_words_in_cells(text) == _write_words_in_cells(other_text)


class _Row(NamedTuple):
    """A row of a table. `words` are the words of each cell, in lower case, without empty cells at the end."""

    span: Span
    cells: list[str]
    words: tuple[str, ...]


def find_row_differences(text: str, other_text: str) -> list[RowDifference]:
    """Return the rows that have the same words in both texts, but in other cells; see `have_equal_cells`."""
    if text == other_text:
        return []
    lines, other_lines = _drop_equal(_find_rows(text), _find_rows(other_text), itemgetter(1))
    rows, other_rows = _drop_equal(map(_parse_row, lines), map(_parse_row, other_lines), attrgetter("words"))
    candidates: defaultdict[str, deque[_Row]] = defaultdict(deque)
    for row in other_rows:
        candidates[" ".join(filter(None, row.words))].append(row)
    found = []
    for row in rows:
        key = " ".join(filter(None, row.words))
        if key and (others := candidates[key]):
            other = others.popleft()
            found.append(RowDifference(row.span, other.span, _find_moved_cells(row, other)))
    return found


def split_into_cells(row: str) -> list[str]:
    """Return the cells of a row, with single spaces."""
    return [" ".join(cell.split()) for cell in _separate_by_tabs(row).split("\t")]


def _find_rows(text: str) -> list[tuple[int, str]]:
    """Return the position and the text of each row."""
    if "\t" not in text and "|" not in text:
        return []
    lines = text.split("\n")
    starts = accumulate((len(line) + 1 for line in lines), initial=0)
    return [(start, line) for start, line in zip(starts, lines, strict=False) if "\t" in line or "|" in line]


def _parse_row(row: tuple[int, str]) -> _Row:
    start, line = row
    cells = split_into_cells(line)
    words = [_split_into_words(cell) for cell in cells]
    while words and not words[-1]:
        words.pop()
    return _Row((start, start + len(line)), cells, tuple(words))


def _drop_equal(
    items: Iterable[_Item], others: Iterable[_Item], key: Callable[[_Item], object]
) -> tuple[list[_Item], list[_Item]]:
    """Return both lists without the items that the other one has, too. Repeated items count."""
    first, second = list(items), list(others)
    counts = Counter(map(key, first)), Counter(map(key, second))
    equal = counts[0] & counts[1]

    def drop(listed: list[_Item]) -> list[_Item]:
        left, kept = equal.copy(), []
        for item in listed:
            if left[key(item)] > 0:
                left[key(item)] -= 1
            else:
                kept.append(item)
        return kept

    return drop(first), drop(second)


def _find_moved_cells(row: _Row, other: _Row) -> tuple[MovedCell, ...]:
    columns, other_columns = ([column for column, words in enumerate(each.words) if words] for each in (row, other))
    if [row.words[column] for column in columns] != [other.words[column] for column in other_columns]:
        return ()
    pairs = zip(columns, other_columns, strict=True)
    return tuple(MovedCell(other.cells[new], old + 1, new + 1) for old, new in pairs if old != new)


def _split_into_words(cell: str) -> str:
    """Return the words of a cell with single spaces, or its symbols; see `_write_words_or_symbols`."""
    cell = normalize("NFKC", cell).casefold()
    return _NO_WORD.sub(" ", cell).strip() or _LINE.sub("", cell)


def _lines(text: str) -> Iterator[tuple[bool, str]]:
    """Yield each row of a table, and all lines between two rows as one, with whether they are these lines."""
    prose: list[str] = []
    for line in text.split("\n"):
        if "\t" not in line:
            prose += filter(str.strip, [line])
            continue
        if prose:
            yield True, " ".join(prose)
            prose.clear()
        yield False, "\t".join(" ".join(cell.split()) for cell in line.split("\t")).rstrip("\t")
    if prose:
        yield True, " ".join(prose)


def _write_words_in_cells(text: str) -> list[str]:
    rows = "\n".join(_separate_by_tabs(line) for line in normalize("NFKC", text).split("\n"))
    written = (
        _NO_WORD.sub("", line) if is_prose else "\t".join(_write_words_or_symbols(cell) for cell in line.split("\t"))
        for is_prose, line in _lines(rows)
    )
    return [line.rstrip("\t").casefold() for line in written if line.strip("\t")]


def _write_words_or_symbols(cell: str) -> str:
    """Return the words of a cell. If it has none, return its symbols, such as `✓`, but not a line such as `:---`."""
    return _NO_WORD.sub("", cell) or _LINE.sub("", cell)


def _separate_by_tabs(line: str) -> str:
    """Return a row with tabs between its cells. A row of Markdown may also begin and end with `|`."""
    return _CELL_BREAK.sub("\t", line.strip(" \r").strip("|")) if "|" in line else line
