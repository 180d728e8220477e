"""Keys in temporary files, if there are too many for memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from types import TracebackType
from typing import IO

import numpy as np

from simdoc_search.duplicates.arrays import Ints, Keys
from simdoc_search.duplicates.temporary_files import (
    close_temporary_file,
    convert_write_errors,
    open_temporary_file,
)

_MAX_BYTES_IN_MEMORY, _KEYS_AT_ONCE = 1 << 26, 1 << 21


class KeyMatrix:
    """A matrix of uint64 that is written by columns and read by rows. A large one is in a temporary file.

    Use it as a context manager.
    """

    def __init__(self, row_count: int, column_count: int) -> None:
        self._column_count = column_count
        self._item_size = np.dtype(np.uint64).itemsize
        size = row_count * column_count * self._item_size
        self._file: IO[bytes] | None = None
        if size > _MAX_BYTES_IN_MEMORY:
            self._file = open_temporary_file()
        self._keys = np.empty((0 if self._file else row_count, column_count), np.uint64)

    def __enter__(self) -> KeyMatrix:
        return self

    def __exit__(
        self, error_type: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._file:
            close_temporary_file(self._file)

    def write_columns(self, column: int, keys: Keys) -> None:
        """Write some columns, from this one on; shape (rows, columns)."""
        if not self._file:
            self._keys[:, column : column + keys.shape[1]] = keys
            return
        with convert_write_errors():
            for row, values in enumerate(keys):
                self._file.seek((row * self._column_count + column) * self._item_size)
                self._file.write(values.tobytes())
            self._file.flush()

    def read_row(self, row: int) -> Keys:
        """Return a row, which the caller may change."""
        if not self._file:
            in_memory: Keys = self._keys[row]
            return in_memory
        self._file.seek(row * self._column_count * self._item_size)
        keys: Keys = np.fromfile(self._file, np.uint64, self._column_count)
        return keys


def regroup_by_key(parts: Iterable[tuple[Keys, Ints]], max_keys: int) -> Iterator[tuple[Keys, Ints]]:
    """Yield the keys and their documents in new parts, so that all entries of a key are in the same part.

    If there are many keys, the parts are stored in temporary files, so that they need not fit into memory. `max_keys`
    is an upper bound of the number of keys.
    """
    count = max_keys // _KEYS_AT_ONCE + 1
    with ExitStack() as stack:
        files = [open_temporary_file() for _ in range(count)] if count > 1 else []
        for file in files:
            stack.callback(close_temporary_file, file)
        entries = [np.zeros((0, 2), np.uint64)]
        for keys, owners in parts:
            entries.append(np.stack((keys, owners.astype(np.uint64)), axis=1))
            if files:
                part_of = (keys % np.uint64(count)).astype(np.int64)
                grouped = entries.pop()[np.argsort(part_of, kind="stable")]
                ends = np.cumsum(np.bincount(part_of, minlength=count))
                with convert_write_errors():
                    for file, group in zip(files, np.split(grouped, ends[:-1]), strict=True):
                        file.write(group.tobytes())
        yield _split_entries(np.concatenate(entries))
        for file in files:
            with convert_write_errors():
                file.seek(0)
            yield _split_entries(np.frombuffer(file.read(), np.uint64).reshape(-1, 2))


def _split_entries(entries: Keys) -> tuple[Keys, Ints]:
    return entries[:, 0].copy(), entries[:, 1].astype(np.int64)
