"""Reads the list of files of the last commit of an index, and verifies their checksums.

A commit is a list of segments in `meta.json`. A segment consists of files that never change. If documents of a
segment were deleted, another file lists them. Each file ends with a JSON object that contains the CRC-32 of the
content.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from simdoc_search.errors import StoreError
from simdoc_search.small_files import parse_json, read_small_file

META_FILE = "meta.json"
FILE_EXTENSIONS = ("store", "term", "idx", "pos", "fieldnorm", "fast")
"""Extensions of the files of a segment. `store` contains the documents. The others are the inverted index."""

_MAGIC = 1337
_FOOTER_BYTES = 8
"""Number of bytes after the JSON object at the end of a file: the length of the object, and a magic number."""

_CHUNK_BYTES = 1 << 20
_MAX_META_BYTES = 16 << 20


@dataclass(frozen=True, slots=True)
class Segment:
    """Documents that were written or merged together.

    `max_doc` is the number of documents, including deleted documents. `opstamp` is the number in the name of the list
    of deleted documents, or None if there are none.
    """

    name: str
    max_doc: int
    deleted_count: int = 0
    opstamp: int | None = None

    @property
    def deletions_file(self) -> str | None:
        """Name of the file that lists the deleted documents, or None if there are no deleted documents."""
        return None if self.opstamp is None else f"{self.name}.{self.opstamp}.del"

    @property
    def files(self) -> list[str]:
        """Names of all files of the segment."""
        return [f"{self.name}.{extension}" for extension in FILE_EXTENSIONS] + (
            [self.deletions_file] if self.deletions_file else []
        )


@dataclass(frozen=True, slots=True)
class Commit:
    """The content of a `meta.json`, as bytes and as segments."""

    meta: bytes
    segments: tuple[Segment, ...]

    @property
    def files(self) -> list[str]:
        """Names of the files of all segments."""
        return [name for segment in self.segments for name in segment.files]

    @property
    def live_document_count(self) -> int:
        """Number of documents, without deleted documents."""
        return sum(segment.max_doc - segment.deleted_count for segment in self.segments)


def read_commit(index: Path) -> Commit:
    """Read the last commit of an index.

    Raises:
        StoreError: `meta.json` is damaged or missing.
        OSError: `meta.json` cannot be read.
    """
    try:
        meta = read_small_file(index / META_FILE, _MAX_META_BYTES)
        return Commit(meta, tuple(map(_parse_segment, parse_json(meta)["segments"])))
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError) as error:
        raise StoreError(
            f"{index / META_FILE} is damaged or missing; restore the index from a backup, or index again"
        ) from error


def find_fault(file: Path) -> str | None:
    """Verify a file of a segment. Return what is wrong with it, or None.

    Raises:
        FileNotFoundError: the file is missing, perhaps because a later commit does not need it.
    """
    with file.open("rb") as opened:
        size = opened.seek(0, 2)
        opened.seek(max(0, size - _FOOTER_BYTES))
        tail = opened.read()
        length, magic = int.from_bytes(tail[:4], "little"), int.from_bytes(tail[4:], "little")
        if magic != _MAGIC or length > size - _FOOTER_BYTES:
            return "the file is truncated, or its end is damaged"
        opened.seek(size - _FOOTER_BYTES - length)
        try:
            expected = parse_json(opened.read(length))["crc"]
        except (ValueError, LookupError, TypeError):
            return "the end of the file is damaged"
        opened.seek(0)
        remaining, checksum = size - _FOOTER_BYTES - length, 0
        while chunk := opened.read(min(remaining, _CHUNK_BYTES)):
            remaining -= len(chunk)
            checksum = zlib.crc32(chunk, checksum)
    return None if checksum == expected else "the checksum does not match the content"


def _parse_segment(entry: dict[str, Any]) -> Segment:
    name, deletes = UUID(entry["segment_id"]).hex, entry["deletes"]  # `UUID` rejects a name that contains a path
    if deletes is None:
        return Segment(name, int(entry["max_doc"]))
    return Segment(name, int(entry["max_doc"]), int(deletes["num_deleted_docs"]), int(deletes["opstamp"]))
