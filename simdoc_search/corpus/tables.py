"""Which documents do the rows of a CSV or Parquet table hold?"""

from __future__ import annotations

import io
import os
import stat
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from simdoc_search.corpus.decode import text_codec
from simdoc_search.corpus.delimited import BadRow, read_rows
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES
from simdoc_search.corpus.jsonl import document_of
from simdoc_search.corpus.parquet import read_parquet
from simdoc_search.documents import Document, Skipped
from simdoc_search.errors import CorpusError, DocumentError

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_SHOWN = 20  # columns in an error

_Row = dict[str, Any] | BadRow
_Table = tuple[list[str], Iterator[_Row]]


def read_table(
    path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES, id_field: str = "id", text_field: str = "text"
) -> Iterator[Document | Skipped]:
    """The documents of a table, one a row; other columns become metadata, as in JSONL.

    A row without a document is skipped as `FILE:ROW`; the first row of data is row 1. A table may be of any size: a
    few rows at a time are in memory. `delimited.py` says what becomes of a quote that is not closed. A column without
    a name is left out; of those with one name the last counts.

    Args:
        path: a CSV file in any encoding, or a Parquet file, by its ending.
        max_bytes: a longer row of a CSV file (in characters) is skipped, and a row with a longer text.
        id_field: the column that holds the id.
        text_field: the column that holds the text.

    Raises:
        CorpusError: the file cannot be read as a table, or lacks one of the columns.
        MissingExtraError: a Parquet file, and pyarrow is not installed.
    """
    reader = _parquet if path.suffix.lower() == ".parquet" else _csv
    with _opened(path) as file, reader(path, file, max_bytes) as (columns, rows):
        for field, option in ((id_field, "--id-field"), (text_field, "--text-field")):
            _check_column(path, columns, field, option)
        number = 0
        try:
            for number, row in enumerate(rows, 1):
                yield _document(f"{path}:{number}", row, id_field, text_field, max_bytes)
        except DocumentError as error:
            yield Skipped(f"{path}:{number + 1}", str(error))


def _opened(path: Path) -> BinaryIO:
    """The file, never waited for.

    Raises:
        CorpusError: it cannot be opened, is no file, or empty.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None
    file = os.fdopen(descriptor, "rb")
    info = os.fstat(descriptor)
    if stat.S_ISREG(info.st_mode) and info.st_size:  # what has no size may be a file of the system without an end
        return file
    file.close()
    if stat.S_ISREG(info.st_mode):
        raise CorpusError(f"{path} is empty; the first line of a table names the columns")
    raise CorpusError(f"{path} is no file but a pipe, socket or device; write its rows to a file")


@contextmanager
def _parquet(path: Path, file: BinaryIO, max_bytes: int) -> Iterator[_Table]:
    yield read_parquet(path, file, max_bytes=max_bytes)


@contextmanager
def _csv(path: Path, file: BinaryIO, max_bytes: int) -> Iterator[_Table]:
    with _as_text(path, file) as text:
        rows = read_rows(text, delimiter="\t" if path.suffix.lower() == ".tsv" else None, limit=max_bytes)
        heading = next(rows, None)
        if heading is None:
            raise CorpusError(f"{path} is empty; the first line of a table names the columns")
        if isinstance(heading, BadRow):
            raise CorpusError(f"{path} has no heading: {heading.reason}")
        if heading[0].startswith("{"):
            raise CorpusError(f"{path} holds JSON; give it a name that ends in .jsonl")
        heading[0] = heading[0].removeprefix("\ufeff")  # a second byte order mark
        yield heading, _by_column(heading, rows)


def _as_text(path: Path, file: BinaryIO) -> TextIO:
    try:
        codec = text_codec(file)
        file.seek(0)
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the disk") from None
    if codec is None:
        raise CorpusError(f"{path} is binary; name a text file with one row per line")
    return io.TextIOWrapper(file, codec, "replace", newline="")


def _by_column(columns: list[str], rows: Iterator[list[str] | BadRow]) -> Iterator[_Row]:
    try:
        for row in rows:
            yield (
                row
                if isinstance(row, BadRow)
                else {name: cell or None for name, cell in zip(columns, row, strict=False) if name}
            )
    except OSError as error:
        raise DocumentError(f"the rest cannot be read: {error.strerror}") from error


def _check_column(path: Path, columns: list[str], field: str, option: str) -> None:
    if Counter(columns)[field] > 1:
        raise CorpusError(f"{path} has the column {field!r} more than once; give each column a name of its own")
    if field not in columns:
        shown = ", ".join(" ".join(name.split())[:40] for name in columns[:_SHOWN] if name)
        more = f" and {len(columns) - _SHOWN:,} more" if len(columns) > _SHOWN else ""
        raise CorpusError(f"{path} has no column {field!r}; choose one of {shown}{more} with {option}")


def _document(place: str, row: _Row, id_field: str, text_field: str, max_bytes: int) -> Document | Skipped:
    if isinstance(row, BadRow):
        return Skipped(place, row.reason)
    try:
        document = document_of(row, id_field, text_field)
    except DocumentError as error:
        return Skipped(place, str(error))
    if len(document.text) > max_bytes:
        return Skipped(place, f"{len(document.text):,} characters are over the limit of {max_bytes:,}")
    return document
