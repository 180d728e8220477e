"""The files of an index: which of them the last commit has, and whether they are as they were written.

A commit is a list of segments in `meta.json`; a segment is some files that never change, each with a CRC-32 of its
content at its end. Which of its documents are deleted stands in one more file.
"""

from __future__ import annotations

import stat
import zlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from simdoc_search.errors import StoreError
from simdoc_search.small_files import parse_json, read_small

META_FILE = "meta.json"
FILES_FILE = ".managed.json"
"""The names of all files that may be deleted when no commit needs them any more."""

PARTS = ("store", "term", "idx", "pos", "fieldnorm", "fast")
"""The endings of the files that every segment has."""

_MAGIC = 1337
_TAIL = 8
"""A file ends in JSON with its CRC-32, the length of that JSON, and a number that is always the same."""

_VERSION = {"major", "minor", "patch", "index_format_version"}
_CHUNK = 1 << 20
_MAX_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Segment:
    """Some documents that were written, or merged, together.

    Attributes:
        name: how its files are called.
        documents: how many there are, deleted ones too.
        deleted: how many of them are deleted.
        deletions: the name of the file that says which ones; None if none are.
    """

    name: str
    documents: int
    deleted: int = 0
    deletions: str | None = None

    @property
    def files(self) -> list[str]:
        """The names of all its files."""
        return [f"{self.name}.{part}" for part in PARTS] + ([self.deletions] if self.deletions else [])


@dataclass(frozen=True, slots=True)
class Commit:
    """What `meta.json` says: its bytes, and the segments."""

    meta: bytes
    segments: tuple[Segment, ...]

    @property
    def files(self) -> list[str]:
        """The names of the files of all segments."""
        return [name for each in self.segments for name in each.files]


def check_files(index: Path) -> None:
    """Refuse an index with a pipe or a device among its files, or with lists that would fill the memory.

    Raises:
        StoreError: there is one; the message names it.
        OSError: the folder cannot be read.
    """
    for each in index.iterdir():
        with suppress(FileNotFoundError):  # a writer removed it meanwhile
            info = each.stat()
            is_list = each.name in {META_FILE, FILES_FILE}
            if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
                problem = "is not a regular file"
            elif is_list and info.st_size > _MAX_BYTES:
                problem = f"is larger than {_MAX_BYTES:,} bytes"
            else:
                continue
            raise StoreError(f"{each} {problem}; remove it, or restore the store from a backup")


def read_commit(index: Path) -> Commit:
    """The last commit of an index.

    Raises:
        StoreError: its `meta.json` is damaged or gone.
        OSError: it cannot be read.
    """
    try:
        meta = read_small(index / META_FILE, _MAX_BYTES)
        return Commit(meta, tuple(map(_segment, parse_json(meta)["segments"])))
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{index / META_FILE} is damaged or gone; restore the store from a backup, or index again"
        ) from error


def fault_of(file: Path) -> str | None:
    """What is wrong with a file of a segment; None if it is as it was written.

    Raises:
        FileNotFoundError: it is gone, perhaps because a later commit does not need it.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(0, size - _TAIL))
        tail = opened.read()
        length = int.from_bytes(tail[:4], "little")
        if len(tail) < _TAIL or int.from_bytes(tail[4:], "little") != _MAGIC or length > size - _TAIL:
            return "it is cut, or its end is damaged"
        opened.seek(size - _TAIL - length)
        expected = _checksum_in(opened.read(length))
        if expected is None:
            return "its end is damaged"
        opened.seek(0)
        found = 0
        for chunk in _chunks(opened, size - _TAIL - length):
            found = zlib.crc32(chunk, found)
    return None if found == expected else "its content is not what was written (the checksum does not fit)"


def is_list_of_files(index: Path) -> bool:
    """Whether the list of files can be read, without which nothing can be written."""
    try:
        names = parse_json(read_small(index / FILES_FILE, _MAX_BYTES))
    except (OSError, ValueError):
        return False
    return isinstance(names, list) and all(isinstance(each, str) for each in names)


def read_alive(deletions: Path, documents: int) -> NDArray[np.bool_]:
    """For each document of a segment whether it is alive, as its file of deletions says.

    Raises:
        ValueError: the file is too short.
        FileNotFoundError: it is gone.
    """
    words = np.frombuffer(deletions.read_bytes(), np.uint8, offset=4)
    bits = np.unpackbits(words[: (documents + 63) // 64 * 8], bitorder="little")
    if len(bits) < documents:
        raise ValueError(f"{deletions.name} is cut")
    return bits[:documents].astype(np.bool_)


def _checksum_in(end: bytes) -> int | None:
    """The checksum in the JSON at the end of a file; None if that is not what the engine writes."""
    try:
        values = parse_json(end)
        if values.keys() == {"version", "crc"} and values["version"].keys() == _VERSION:
            return int(values["crc"])
    except (ValueError, TypeError, AttributeError):
        pass
    return None


def _chunks(opened: Any, size: int) -> Iterator[bytes]:
    while size > 0 and (chunk := opened.read(min(size, _CHUNK))):
        size -= len(chunk)
        yield chunk


def _segment(entry: dict[str, Any]) -> Segment:
    name, deletes = UUID(entry["segment_id"]).hex, entry["deletes"]  # a path to elsewhere is no UUID
    if deletes is None:
        return Segment(name, int(entry["max_doc"]))
    deletions = f"{name}.{int(deletes['opstamp'])}.del"
    return Segment(name, int(entry["max_doc"]), int(deletes["num_deleted_docs"]), deletions)
