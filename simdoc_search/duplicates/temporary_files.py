"""Temporary files for arrays that are too large for memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from tempfile import TemporaryFile, gettempdir
from typing import IO

import numpy as np
from numpy.typing import NDArray

from simdoc_search.errors import StoreError


def open_temporary_file() -> IO[bytes]:
    """Return a new temporary file. It is deleted when it is closed."""
    return TemporaryFile(prefix="simdoc-")


def close_temporary_file(file: IO[bytes]) -> None:
    """Close a temporary file, whose content is not needed any more, even if the disk is full."""
    with suppress(OSError):
        file.close()


@contextmanager
def convert_write_errors() -> Iterator[None]:
    """Raise a StoreError if a temporary file cannot be written."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"cannot write a temporary file in {gettempdir()}: {error.strerror or error}; free some disk space, or set "
            "TMPDIR to a folder on a larger disk"
        ) from error


class TokenBuffer:
    """Collects the tokens of documents. If they exceed `max_bytes`, they are stored in a temporary file."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._bytes = bytearray()
        self._file: IO[bytes] | None = None

    def append(self, token_ids: NDArray[np.uint32]) -> None:
        """Append the tokens of a document; uint32."""
        self._bytes += token_ids.tobytes()
        if len(self._bytes) > self._max_bytes:
            self._file = self._file or open_temporary_file()
            self._write(self._file)

    def read(self) -> NDArray[np.uint32]:
        """Return all tokens; uint32. Do not append tokens afterwards."""
        if self._file is None:
            return np.frombuffer(self._bytes, np.uint32)
        self._write(self._file)
        with self._file:
            return np.memmap(self._file, np.uint32, "r")

    def _write(self, file: IO[bytes]) -> None:
        """Write the tokens that are in memory. If this fails, the file is closed."""
        try:
            with convert_write_errors():
                file.write(self._bytes)
                file.flush()
        except StoreError:
            close_temporary_file(file)
            raise
        self._bytes = bytearray()
