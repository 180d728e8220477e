"""Strings and tokens of millions of documents, in little memory."""

from __future__ import annotations

import tempfile
from array import array
from typing import IO

import numpy as np
from numpy.typing import NDArray


class StringBuffer:
    """A list of strings in one buffer."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._ends = array("q", [0])

    def append(self, text: str) -> None:
        """Add a string."""
        self._bytes += text.encode("utf-8", "surrogatepass")
        self._ends.append(len(self._bytes))

    def __getitem__(self, at: int) -> str:
        return self._bytes[self._ends[at] : self._ends[at + 1]].decode("utf-8", "surrogatepass")


class TokenBuffer:
    """A list of tokens, in a temporary file once it has more bytes than the limit."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._bytes = bytearray()
        self._file: IO[bytes] | None = None

    def append(self, codes: NDArray[np.uint32]) -> None:
        """Add the tokens of a document."""
        self._bytes += codes.tobytes()
        if len(self._bytes) > self._limit:
            self._file = self._file or tempfile.TemporaryFile(prefix="simdoc-")  # noqa: SIM115 - closed when it is mapped
            self._file.write(self._bytes)
            self._bytes = bytearray()

    def read(self) -> NDArray[np.uint32]:
        """All tokens, perhaps as a mapped file. Nothing can be added afterwards."""
        if self._file is None:
            return np.frombuffer(self._bytes, np.uint32)
        self._file.write(self._bytes)
        self._file.flush()
        with self._file:
            return np.memmap(self._file, np.uint32, "r")
