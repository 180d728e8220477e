"""What a process and its parent say to each other: pickled values, each after its length."""

from __future__ import annotations

import pickle
from io import FileIO
from typing import Any

OUT_OF_MEMORY = 86
"""The exit status of a process that got no more memory."""

_LENGTH_BYTES = 8


def send(stream: FileIO, value: object) -> None:
    """Write a value to a pipe.

    Raises:
        OSError: nobody reads it any more.
    """
    data = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)  # before anything is written, as it may fail
    for part in (len(data).to_bytes(_LENGTH_BYTES, "big"), data):
        rest = memoryview(part)
        while rest:
            rest = rest[stream.write(rest) or 0 :]


def receive(stream: FileIO) -> Any:
    """Wait for the next value.

    Raises:
        EOFError: the other side has ended.
    """
    size = int.from_bytes(_exactly(stream, _LENGTH_BYTES), "big")
    return pickle.loads(_exactly(stream, size))  # noqa: S301 - from a process of our own


def _exactly(stream: FileIO, size: int) -> bytearray:
    data = bytearray(size)
    rest = memoryview(data)
    while rest:
        count = stream.readinto(rest)
        if not count:
            raise EOFError
        rest = rest[count:]
    return data
