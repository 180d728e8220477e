"""Reads the rows of a CSV, TSV or Parquet file as documents."""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from simdoc_search.corpus.csv_rows import BadRow, read_rows
from simdoc_search.corpus.encoding import detect_codec
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES
from simdoc_search.corpus.jsonl import to_document
from simdoc_search.corpus.parquet import read_parquet
from simdoc_search.documents import Document, SkippedFile
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.small_files import open_regular_file

_MAX_SHOWN_COLUMNS = 20

_Row = dict[str, Any] | BadRow


def read_table(
    path: Path, *, max_bytes: int = DEFAULT_MAX_BYTES, id_field: str = "id", text_field: str = "text"
) -> Iterator[Document | SkippedFile]:
    """Read the rows of a table. All columns except the id and the text become metadata, as in JSONL.

    A row that is not a document yields a `SkippedFile` with the path `FILE:ROW`. Row 1 is the row after the header.
    A table may have any size, because only a few rows are in memory. A column without a name is ignored. If two columns
    have the same name, the last one is used.

    The file is a Parquet file if its extension is `.parquet`; otherwise a CSV file in any encoding. `max_bytes` is the
    maximum number of characters in a CSV row and in a text.

    Raises:
        CorpusError: the file cannot be read as a table, or lacks one of the columns.
        MissingExtraError: pyarrow is needed and not installed.
    """
    with _open_table(path) as file:
        columns: list[str]
        rows: Iterator[_Row]
        if path.suffix.lower() == ".parquet":
            columns, rows = read_parquet(path, file, max_bytes=max_bytes)
        else:
            columns, rows = _read_csv(path, file, max_bytes)
        for field, option in ((id_field, "--id-field"), (text_field, "--text-field")):
            _check_column(path, columns, field, option)
        number = 0
        try:
            for number, row in enumerate(rows, 1):
                yield _convert_row(f"{path}:{number}", row, id_field, text_field, max_bytes)
        except DocumentError as error:
            yield SkippedFile(f"{path}:{number + 1}", str(error))


@contextmanager
def _open_table(path: Path) -> Iterator[BinaryIO]:
    try:
        with open_regular_file(path) as file:
            if not os.fstat(file.fileno()).st_size:  # a file in /proc has the size 0, but reading it may never end
                raise CorpusError(f"{path} is empty; its first line must contain the column names")
            yield file
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None


def _read_csv(path: Path, file: BinaryIO, max_bytes: int) -> tuple[list[str], Iterator[_Row]]:
    codec = detect_codec(file)
    if codec is None:
        raise CorpusError(f"{path} is binary; give a text file with one row per line")
    file.seek(0)
    text = io.TextIOWrapper(file, codec, "replace", newline="")
    rows = read_rows(text, delimiter="\t" if path.suffix.lower() == ".tsv" else None, max_characters=max_bytes)
    header = next(rows, None)
    if header is None:
        raise CorpusError(f"{path} is empty; its first line must contain the column names")
    if isinstance(header, BadRow):
        raise CorpusError(f"{path} has no valid header row: {header.reason}")
    if header[0].startswith("{"):
        raise CorpusError(f"{path} contains JSON; change the extension of the file to .jsonl")
    header[0] = header[0].removeprefix("\ufeff")  # the file may begin with two byte order marks
    return header, _name_cells(header, rows)


def _name_cells(columns: list[str], rows: Iterator[list[str] | BadRow]) -> Iterator[_Row]:
    try:
        for row in rows:
            if isinstance(row, BadRow):
                yield row
            else:
                yield {name: cell or None for name, cell in zip(columns, row, strict=False) if name}
    except OSError as error:
        raise DocumentError(f"the rest of the file cannot be read: {error.strerror}") from error


def _check_column(path: Path, columns: list[str], field: str, option: str) -> None:
    if Counter(columns)[field] > 1:
        raise CorpusError(f"{path} has several columns named {field!r}; give each column a different name")
    if field not in columns:
        shown = ", ".join(" ".join(name.split())[:40] for name in columns[:_MAX_SHOWN_COLUMNS] if name)
        more = f" and {len(columns) - _MAX_SHOWN_COLUMNS:,} more" if len(columns) > _MAX_SHOWN_COLUMNS else ""
        raise CorpusError(f"{path} has no column {field!r}; choose one of {shown}{more} with {option}")


def _convert_row(
    location: str, row: _Row, id_field: str, text_field: str, max_characters: int
) -> Document | SkippedFile:
    if isinstance(row, BadRow):
        return SkippedFile(location, row.reason)
    try:
        document = to_document(row, id_field, text_field)
    except DocumentError as error:
        return SkippedFile(location, str(error))
    if len(document.text) > max_characters:
        return SkippedFile(location, f"{len(document.text):,} characters are over the limit of {max_characters:,}")
    return document
