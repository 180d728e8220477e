"""Which documents do the rows of a CSV or Parquet table hold?"""

from __future__ import annotations

import csv
import io
import sys
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
    for field, option in ((id_field, "--id-field"), (text_field, "--text-field")):
        if field not in columns:
            raise CorpusError(f"{path} has no column {field!r}; choose one of {', '.join(columns)} with {option}")
    for number, row in enumerate(rows, 1):
        try:
            yield document_of(row, id_field, text_field)
        except DocumentError as error:
            yield Skipped(f"{path}:{number}", str(error))


def _csv(path: Path) -> tuple[list[str], Iterable[dict[str, Any]]]:
    try:
        text = decode(path.read_bytes())
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None
    if text is None:
        raise CorpusError(f"{path} is binary; name a text file with one row per line")
    csv.field_size_limit(sys.maxsize)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(path, text))
    rows = ({name: value or None for name, value in row.items() if name is not None} for row in reader)
    return list(reader.fieldnames or []), rows


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
    return list(file.schema_arrow.names), rows


def _plain(value: Any) -> Any:
    """A value as JSON could have it; dates, decimals and the like as text."""
    return value if value is None or isinstance(value, str | int | float | bool | list | dict) else str(value)
