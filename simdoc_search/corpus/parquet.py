"""Reads the rows of a Parquet file with pyarrow, a few at a time.

A Parquet file of a few kilobytes can unpack to gigabytes. The metadata of each row group is therefore checked before
the group is read. A file with more rows than bytes is rejected. A row group is rejected if it would unpack to more than
`max_bytes` and more than 100 times the size of the file. Metadata can be wrong and pyarrow can crash, so `read_corpus`
reads Parquet in a subprocess.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError

if TYPE_CHECKING:
    from pyarrow import Array
    from pyarrow.parquet import ParquetFile

_BATCH_ROWS, _BATCH_BYTES = 256, 64_000_000
_MAX_EXPANSION_RATIO = 100
_BUFFER_BYTES = 1 << 20
# pyarrow raises these errors for damaged files. Most of its own exceptions are subclasses of one of them.
_DAMAGE_ERRORS = (OSError, ValueError, ArithmeticError, LookupError, NotImplementedError, MemoryError, TypeError)


def read_parquet(path: Path, file: BinaryIO, *, max_bytes: int) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """Return the names of the columns, and the rows, each as a dictionary of column names to JSON values.

    Each row group may unpack to `max_bytes`, or to 100 times the size of the file if that is more.

    Raises:
        CorpusError: the file is not a Parquet file.
        DocumentError: the iterator raises it if the rest of the file cannot be read. The message is the reason.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("a Parquet file", "datasets") from error
    try:
        table = parquet.ParquetFile(file, buffer_size=_BUFFER_BYTES)
        columns = list(table.schema_arrow.names)
    except (ArrowException, *_DAMAGE_ERRORS) as error:
        raise CorpusError(f"{path} cannot be read as Parquet ({_describe_error(error)}); check the file") from None

    def rows() -> Iterator[dict[str, Any]]:
        try:
            yield from _read_rows(table, columns, os.fstat(file.fileno()).st_size, max_bytes)
        except DocumentError:
            raise
        except (ArrowException, *_DAMAGE_ERRORS) as error:
            raise DocumentError(f"the rest of the file cannot be read: {_describe_error(error)}") from error

    return columns, rows()


def _read_rows(table: ParquetFile, columns: list[str], size: int, max_bytes: int) -> Iterator[dict[str, Any]]:
    if table.metadata.num_rows > size:
        raise DocumentError(f"the file is damaged: it claims {table.metadata.num_rows:,} rows in {size:,} bytes")
    for row_group in range(table.num_row_groups):
        unpacked = table.metadata.row_group(row_group).total_byte_size
        if unpacked > max(max_bytes, _MAX_EXPANSION_RATIO * size):
            raise DocumentError(
                f"the remaining rows were skipped: the file has {size:,} bytes, but the next row group would unpack to "
                f"{unpacked:,} bytes"
            )
        # Assume that each row is as large as the whole row group, because one row may contain nearly all of its bytes.
        # The metadata of the columns would allow a better estimate, but pyarrow crashes if some of it is damaged.
        batch_rows = max(1, min(_BATCH_ROWS, _BATCH_BYTES // max(unpacked, 1)))
        for batch in table.iter_batches(batch_size=batch_rows, row_groups=[row_group]):
            for row in zip(*map(column_values, batch.columns), strict=True):
                yield dict(zip(columns, map(_as_json, row), strict=True))


def column_values(column: Array) -> list[Any]:
    """Return the values of a column. Times beyond Python's range become strings."""
    from pyarrow import string, types  # noqa: PLC0415 - an optional dependency

    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        if not types.is_temporal(column.type):
            raise
        values = column.cast(string()).to_pylist()
    return values


def _as_json(value: Any) -> Any:
    """Convert a value for JSON. Dates, decimals and other types become strings."""
    if isinstance(value, dict):
        return {str(key): _as_json(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):  # pyarrow returns a map as a list of pairs
        return [_as_json(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _describe_error(error: BaseException) -> str:
    """Return the message of an error as one printable line."""
    words = " ".join(str(error).split())
    return "".join(filter(str.isprintable, words))[:200] or type(error).__name__
