"""A matrix of keys that is written by columns and read by rows."""

from __future__ import annotations

from tempfile import TemporaryFile
from types import TracebackType
from typing import IO

import numpy as np

from simdoc_search.duplicates.arrays import Keys

_MAX_BYTES_IN_MEMORY = 1 << 26


class KeyMatrix:
    """A matrix of uint64. A large one is in a temporary file. Use it as a context manager."""

    def __init__(self, row_count: int, column_count: int) -> None:
        self._column_count = column_count
        self._item_size = np.dtype(np.uint64).itemsize
        size = row_count * column_count * self._item_size
        self._file: IO[bytes] | None = None
        if size > _MAX_BYTES_IN_MEMORY:
            self._file = TemporaryFile(prefix="simdoc-")  # noqa: SIM115 - closed by `__exit__`
        self._keys = np.empty((0 if self._file else row_count, column_count), np.uint64)

    def __enter__(self) -> KeyMatrix:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file:
            self._file.close()

    def write_columns(self, column: int, keys: Keys) -> None:
        """Write some columns, from this one on; shape (rows, columns)."""
        if not self._file:
            self._keys[:, column : column + keys.shape[1]] = keys
            return
        for row, values in enumerate(keys):
            self._file.seek((row * self._column_count + column) * self._item_size)
            self._file.write(values.tobytes())

    def read_row(self, row: int) -> Keys:
        """Return a row, which the caller may change."""
        if not self._file:
            in_memory: Keys = self._keys[row]
            return in_memory
        self._file.seek(row * self._column_count * self._item_size)
        keys: Keys = np.fromfile(self._file, np.uint64, self._column_count)
        return keys
