"""What a corpus yields: documents, files still to be read, and what was skipped with the reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from simdoc_search.errors import DocumentError

__all__ = ["MAX_ID_BYTES", "Document", "FileSource", "MetadataValue", "Skipped", "check_id"]

MetadataValue = str | int | float | bool | list[str]

MAX_ID_BYTES = 512
"""The longest id that OpenSearch and Elasticsearch accept, in UTF-8 bytes; the same for every store."""


@dataclass(frozen=True, slots=True)
class Document:
    """A text with its id.

    Attributes:
        id: any string of 1 to 512 UTF-8 bytes; for a file its path below the indexed folder, with `/`.
        text: the plain text.
        metadata: further fields, for filters and display.
    """

    id: str
    text: str
    metadata: Mapping[str, MetadataValue] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileSource:
    """A file that holds one document, not read yet: a worker process reads it.

    Attributes:
        id: the id that its document gets.
        path: where it lies.
        root: the absolute path of the indexed folder (of the file itself, if a file was named).
        size: in bytes.
        mtime_ns: time of the last change in nanoseconds.
    """

    id: str
    path: Path
    root: str
    size: int
    mtime_ns: int


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file or line that gave no document.

    Attributes:
        path: what was skipped.
        reason: why, in a few words.
        root: the absolute path of the indexed folder in which it was found, if it was in one.
    """

    path: str
    reason: str
    root: str | None = None


def check_id(id: str) -> None:
    """Refuse an id that some store could not keep.

    Raises:
        DocumentError: the id is empty, longer than 512 bytes of UTF-8, or not valid Unicode.
    """
    if not id:
        raise DocumentError("a document's id is empty; give every document an id")
    try:
        size = len(id.encode("utf-8"))
    except UnicodeEncodeError:
        raise DocumentError(f"the id {id!r} is not valid Unicode; rename the document") from None
    if size > MAX_ID_BYTES:
        raise DocumentError(f"the id {id[:40]!r}… is {size} bytes long; the limit is {MAX_ID_BYTES}")
