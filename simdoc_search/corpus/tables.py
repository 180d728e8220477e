"""Which documents do the rows of a CSV or Parquet table hold?"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from simdoc_search.corpus.decode import decode
from simdoc_search.corpus.document import Document, Skipped
from simdoc_search.corpus.jsonl import document_of
from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError

__all__ = ["TABLE_ENDINGS", "read_table"]

TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_SAMPLE = 1 << 16
_ROWS_AT_ONCE = 256


def read_table(path: Path, *, id_field: str = "id", text_field: str = "text") -> Iterator[Document | Skipped]:
    """The documents of a table, one a row; other columns become metadata, as in JSONL.

    A row without a document is skipped as `FILE:ROW`; the first row of data is row 1.

    Raises:
        CorpusError: the file cannot be read as a table, or lacks one of the columns.
        MissingExtraError: a Parquet file, and pyarrow is not installed.
    """
    columns, rows = _parquet(path) if path.suffix.lower() == ".parquet" else _csv(path)
    if not columns:
        raise CorpusError(f"{path} is empty; the first line names the columns")
    for field, option in ((id_field, "--id-field"), (text_field, "--text-field")):
        if field not in columns:
            raise CorpusError(f"{path} has no column {field!r}; choose one of {', '.join(columns)} with {option}")
    number = 0
    try:
        for number, row in enumerate(rows, 1):
            yield _document(f"{path}:{number}", row, id_field, text_field)
    except DocumentError as error:
        yield Skipped(f"{path}:{number + 1}", str(error))


def _document(place: str, row: dict[str, Any], id_field: str, text_field: str) -> Document | Skipped:
    try:
        return document_of(row, id_field, text_field)
    except DocumentError as error:
        return Skipped(place, str(error))


def _csv(path: Path) -> tuple[list[str], Iterable[dict[str, Any]]]:
    try:
        text = decode(path.read_bytes())
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None
    if text is None:
        raise CorpusError(f"{path} is binary; name a text file with one row per line")
    csv.field_size_limit(2**31 - 1)  # the most on Windows
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(path, text))
    rows = ({name: value or None for name, value in row.items() if name is not None} for row in reader)
    return list(reader.fieldnames or []), _until_broken(rows, csv.Error)


def _until_broken(rows: Iterator[dict[str, Any]], *errors: type[Exception]) -> Iterator[dict[str, Any]]:
    """The rows; where they break, the rest is a DocumentError."""
    try:
        yield from rows
    except errors as error:
        raise DocumentError(f"the rest cannot be read: {' '.join(str(error).split())}") from error


def _delimiter(path: Path, text: str) -> str:
    """What stands between the columns: the candidate that the heading has most of."""
    if path.suffix.lower() == ".tsv":
        return "\t"
    heading = text[:_SAMPLE].partition("\n")[0]
    return max(",;\t|", key=heading.count)


def _parquet(path: Path) -> tuple[list[str], Iterable[dict[str, Any]]]:
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("a Parquet file", "documents") from error
    try:
        file = parquet.ParquetFile(path)
    except (ArrowException, OSError) as error:
        raise CorpusError(f"{path} cannot be read as Parquet ({error}); check the file") from None
    batches = file.iter_batches(batch_size=_ROWS_AT_ONCE)
    rows = ({name: _plain(value) for name, value in row.items()} for batch in batches for row in batch.to_pylist())
    return list(file.schema_arrow.names), _until_broken(rows, ArrowException, OSError, UnicodeDecodeError)


def _plain(value: Any) -> Any:
    """A value as JSON could have it, whatever it holds; dates, decimals and the like as text."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):  # a map is pairs
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)
