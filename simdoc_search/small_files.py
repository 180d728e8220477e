"""The small files that people write or hand in: settings, stop words, synonyms, pairs. All of them are read here.

Such a file may come from anybody. It may be a pipe that nobody writes to, a device without an end, larger than the
memory, or made to exhaust a parser.
"""

from __future__ import annotations

import errno
import json
import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any, BinaryIO, cast

_MAX_BITS = 64
_MAX_DEPTH = 100
_MAX_DOTS = 200
_TOO_DEEP = f"values are nested more than {_MAX_DEPTH} levels deep"
_TOO_LARGE = f"an integer has more than {_MAX_BITS} bits"

_TYPES: Mapping[int, str] = {stat.S_IFDIR: "folder", stat.S_IFIFO: "pipe"}


def read_small(path: str | os.PathLike[str], limit: int) -> bytes:
    """The bytes of a regular file. Links are followed. The call never waits for another process.

    Args:
        path: the file.
        limit: the maximum size in bytes.

    Raises:
        OSError: the file is missing, is not a regular file, is larger than the limit or cannot be read. Its `strerror`
            completes "PATH cannot be read: ...".
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        data: bytes | None = b""
        if size <= limit:
            # The size of a file of the system is 0 whatever it holds, and any file may grow.
            data = cast("bytes | None", file.read(limit + 1))
    if data is None:
        raise OSError(errno.EAGAIN, "reading it would wait for another process", os.fspath(path))
    if max(size, len(data)) > limit:
        raise OSError(errno.EFBIG, f"it is larger than {limit:,} bytes", os.fspath(path))
    return data


@contextmanager
def open_regular(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A regular file, open for reading. Links are followed. The call never waits for another process.

    Raises:
        OSError: the file is missing, is not a regular file or cannot be opened. Its `strerror` completes
            "PATH cannot be read: ...".
    """
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        mode = os.fstat(handle).st_mode
        if not stat.S_ISREG(mode):
            kind = _TYPES.get(stat.S_IFMT(mode), "device")
            raise OSError(errno.EINVAL, f"it is a {kind}, not a regular file", os.fspath(path))
        with open(handle, "rb", closefd=False) as file:
            yield file
    finally:
        os.close(handle)


def parse_toml(text: str) -> dict[str, Any]:
    """The tables of a TOML document of at most a few hundred kilobytes.

    Raises:
        ValueError: the text is not TOML, values are nested more than 100 levels deep, an integer has more than 64 bits,
            or a line has more than 200 dots. The message is a clause that does not name the file.
    """
    if sys.version_info >= (3, 11):
        import tomllib  # noqa: PLC0415 - an extra in Python 3.10
    else:
        import tomli as tomllib  # noqa: PLC0415
    # The parser keeps each beginning of a dotted key: 40,000 dots in one key take 6 GB.
    if any(line.count(".") > _MAX_DOTS for line in text.split("\n")):
        raise ValueError(f"a line has more than {_MAX_DOTS} dots")
    try:
        tables = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except ValueError:  # from int()
        raise ValueError(_TOO_LARGE) from None
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _check_values(tables)
    return tables


def parse_json(data: bytes) -> Any:
    """The value of a JSON document.

    Raises:
        ValueError: the data is not JSON, values are nested more than 100 levels deep, or an integer has more than 64
            bits. The message is a clause that does not name the file.
    """
    try:
        value = json.loads(data)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    _check_values(value)
    return value


def _check_values(value: Any) -> None:
    """Refuse what could be parsed, but not be shown or walked through."""
    level = [value]
    for _ in range(_MAX_DEPTH + 1):
        if any(isinstance(each, int) and each.bit_length() > _MAX_BITS for each in level):
            raise ValueError(_TOO_LARGE)
        inner = (each.values() if isinstance(each, dict) else each if isinstance(each, list) else () for each in level)
        level = list(chain.from_iterable(inner))
    if level:
        raise ValueError(_TOO_DEEP)
