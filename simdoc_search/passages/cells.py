"""Finds the cells of tables in texts. In another cell, a number means something else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from unicodedata import normalize

_CELL_BREAK = re.compile(r"\t|(?<!\\)\|")
_NO_WORD = re.compile(r"[\W_]+")
_LINE = re.compile(r"[-:\s]+")


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
