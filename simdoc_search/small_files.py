"""Reads small files that people write: settings, stop words, synonyms, pairs.

Such a file is not trusted. It may be a pipe that nobody writes to, an endless device, larger than the memory, or
crafted to exhaust a parser.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

_MAX_DOTS_PER_LINE = 200
_TOO_DEEP_MESSAGE = "values are nested too deeply"

_FILE_TYPES: Mapping[int, str] = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe"}


def read_small_file(path: str | os.PathLike[str], max_bytes: int) -> bytes:
    """Read a regular file. Links are followed. The function never waits for another process.

    Args:
        path: the file.
        max_bytes: maximum size.

    Raises:
        OSError: the file is missing, is not a regular file, is larger than the limit or cannot be read. Its `strerror`
            completes "PATH cannot be read: ...".
    """
    with open_regular_file(path) as file:
        size = os.fstat(file.fileno()).st_size
        data: bytes | None = b""
        if size <= max_bytes:  # the size is not reliable, because a file in /proc has size 0, and any file may grow
            data = cast("bytes | None", file.read(size + 1))  # reading `max_bytes` would reserve this much memory
            if data and len(data) > size:
                data += cast("bytes | None", file.read(max_bytes - size)) or b""
    if data is None:
        raise OSError(errno.EAGAIN, "reading the file would block until another process writes data", os.fspath(path))
    if max(size, len(data)) > max_bytes:
        raise OSError(errno.EFBIG, f"the file is larger than {max_bytes:,} bytes", os.fspath(path))
    return data


@contextmanager
def open_regular_file(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a regular file for reading. Links are followed. The function never waits for another process.

    Raises:
        OSError: the file is missing, is not a regular file or cannot be opened. Its `strerror` completes
            "PATH cannot be read: ...".
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = _FILE_TYPES.get(stat.S_IFMT(mode), "device")
            raise OSError(errno.EINVAL, f"the path leads to a {kind}, not to a regular file", os.fspath(path))
        with open(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def parse_toml(text: str) -> dict[str, Any]:
    """Parse a small TOML document.

    Raises:
        ValueError: the text is not TOML, values are nested too deeply, an integer is too long, or a line has more than
            200 dots. The message is a clause that does not name the file.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - Python 3.10 has no `tomllib`
    else:
        import tomli as tomllib  # noqa: PLC0415 - an optional dependency
    # The parser stores every prefix of a dotted key. A key with 40,000 dots takes 6 GB of memory.
    if any(line.count(".") > _MAX_DOTS_PER_LINE for line in text.split("\n")):
        raise ValueError(f"a line has more than {_MAX_DOTS_PER_LINE} dots, so parsing could need too much memory")
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError(_TOO_DEEP_MESSAGE) from None


def parse_json(data: bytes) -> Any:
    """Parse a JSON document.

    Raises:
        ValueError: the data is not JSON, or values are nested too deeply. The message is a clause that does not name
            the file.
    """
    try:
        return json.loads(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP_MESSAGE) from None
