"""Which rows does a Parquet file hold? pyarrow reads them, a few at a time.

A Parquet file of some kilobytes can unpack to gigabytes. Each group of rows is judged by its metadata before it is
read, and what no table of texts is like is refused: more rows than the file has bytes, or a group that grows to more
than 100 times the file and the limit. Metadata can lie, and pyarrow can crash: `read_corpus` reads tables in a process
of its own.
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

_ROWS_AT_ONCE = 256
_BYTES_AT_ONCE = 64_000_000
_GROWTH = 100
_BUFFER = 1 << 20
# What pyarrow raises about damaged files; ArrowException is an Exception of its own kind beside each of these.
_DAMAGED = (OSError, ValueError, ArithmeticError, LookupError, NotImplementedError, MemoryError, TypeError)


def read_parquet(path: Path, file: BinaryIO, *, max_bytes: int) -> tuple[list[str], Iterator[dict[str, Any]]]:
    """The names of the columns, and the rows by these names, each value as JSON could have it.

    Args:
        path: what the file is called in errors.
        file: the open file.
        max_bytes: what a group of rows may unpack to in any case.

    Raises:
        CorpusError: it is no Parquet file.
        DocumentError: while iterating, the rest cannot be read; the message is the reason.
        MissingExtraError: pyarrow is not installed.
    """
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise MissingExtraError("a Parquet file", "documents") from error
    try:
        table = parquet.ParquetFile(file, buffer_size=_BUFFER)
        names = list(table.schema_arrow.names)
    except (ArrowException, *_DAMAGED) as error:
        raise CorpusError(f"{path} cannot be read as Parquet ({_words(error)}); check the file") from None

    def rows() -> Iterator[dict[str, Any]]:
        try:
            yield from _rows(table, names, os.fstat(file.fileno()).st_size, max_bytes)
        except (ArrowException, *_DAMAGED) as error:
            if isinstance(error, DocumentError):
                raise
            raise DocumentError(f"the rest cannot be read: {_words(error)}") from error

    return names, rows()


def _rows(table: ParquetFile, names: list[str], size: int, max_bytes: int) -> Iterator[dict[str, Any]]:
    if table.metadata.num_rows > size:
        raise DocumentError(f"not read: {table.metadata.num_rows:,} rows are said to be in {size:,} bytes")
    for number in range(table.num_row_groups):
        at_once = _rows_at_once(table.metadata.row_group(number).total_byte_size, size, max_bytes)
        for batch in table.iter_batches(batch_size=at_once, row_groups=[number]):
            for row in zip(*map(_values, batch.columns), strict=True):
                yield dict(zip(names, map(_plain, row), strict=True))


def _rows_at_once(unpacked: int, size: int, max_bytes: int) -> int:
    """How many rows of a group fit into memory, even if each had the largest value that there can be.

    The metadata of its columns would say more, but pyarrow ends the process over some that are damaged.

    Raises:
        DocumentError: the group is not like a table of texts.
    """
    if unpacked > max(max_bytes, _GROWTH * size):
        raise DocumentError(f"the rest is not read: {size:,} bytes would unpack to {unpacked:,}")
    return max(1, min(_ROWS_AT_ONCE, _BYTES_AT_ONCE // max(unpacked, 1)))


def _values(column: Array) -> list[Any]:
    """The values of a column; times that Python has none of are text."""
    from pyarrow import string, types  # noqa: PLC0415 - an extra

    try:
        values: list[Any] = column.to_pylist()
    except (ValueError, OverflowError):
        if not types.is_temporal(column.type):
            raise
        values = column.cast(string()).to_pylist()
    return values


def _plain(value: Any) -> Any:
    """A value as JSON could have it, whatever it holds; dates, decimals and the like as text."""
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):  # a map is pairs
        return [_plain(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _words(error: BaseException) -> str:
    """What an error says, on one line."""
    words = " ".join(str(error).split())
    return "".join(filter(str.isprintable, words))[:200] or type(error).__name__
