"""What is the text of this file, or of this stream?"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import BinaryIO

from simdoc_search.corpus.decode import decode, is_binary
from simdoc_search.corpus.document import Document, FileSource, Skipped, check_id
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path, find_files, printable
from simdoc_search.corpus.formats import document_format, document_text
from simdoc_search.corpus.html import html_text
from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError

__all__ = ["head_of", "is_html", "load", "read_text", "read_text_stream"]

_HTML = frozenset({".html", ".htm", ".xhtml"})
_UNSUPPORTED = frozenset({".djvu", ".mobi", ".azw3", ".mbox"})
_TABLES = frozenset({".parquet"})
_HEAD = 1 << 16


def is_html(path: Path) -> bool:
    """Whether a file is read as HTML, by its ending."""
    return path.suffix.lower() in _HTML


def load(source: FileSource) -> Document | Skipped:
    """Read one file; any file that cannot be read gives its reason. Safe to call in another process.

    HTML and document formats are known by their ending, PDF and RTF also by their first bytes; whatever else decodes
    is plain text, Markdown too: its signs are no words.
    """
    path, suffix = source.path, source.path.suffix.lower()
    if suffix in _UNSUPPORTED:
        return Skipped(printable(path), f"format {suffix} is not supported")
    if suffix in _TABLES:
        return Skipped(printable(path), "a table; name the file itself to index its rows")
    try:
        data = _read(path, whole=document_format(path) is not None)
    except FileNotFoundError:
        return Skipped(printable(path), "vanished before it was read")
    except OSError as error:
        return Skipped(printable(path), (error.strerror or str(error)).lower())
    if (format := document_format(path, data[:_HEAD])) is not None:
        return _formatted(source, data, format)
    text = html_text(data) if is_html(path) else decode(data)
    return Skipped(printable(path), "binary") if text is None else Document(source.id, text)


def read_text(path: str | Path, *, max_bytes: int = DEFAULT_MAX_BYTES) -> str:
    """The text of one file that a person named.

    Raises:
        CorpusError: it is missing, a folder, or gives no text.
        MissingExtraError: the file needs a package that is not installed.
    """
    check_path(Path(path))
    if Path(path).is_dir():
        raise CorpusError(f"{path} is a folder; name a file in it")
    found = next(find_files([path], max_bytes=max_bytes))
    result = load(found) if isinstance(found, FileSource) else found
    if isinstance(result, Skipped):
        raise CorpusError(f"{path} cannot be read: {result.reason}")
    return result.text


def read_text_stream(stream: BinaryIO, id: str) -> Document:
    """Read a stream, usually standard input, to its end as one document of plain text.

    Raises:
        DocumentError: the stream is binary, or the id is not one that can be stored.
    """
    check_id(id)
    text = decode(stream.read())
    if text is None:
        raise DocumentError(f"what was given as {id!r} is binary; give plain text")
    return Document(id, text)


def _formatted(source: FileSource, data: bytes, format: str) -> Document | Skipped:
    try:
        return Document(source.id, document_text(source.path, data, format))
    except (DocumentError, MissingExtraError) as error:
        return Skipped(printable(source.path), str(error))


def head_of(path: Path) -> bytes:
    """The first bytes of a file, enough for `document_format`; none if it cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(descriptor, "rb") as file:
            return file.read(16) or b""
    except OSError:
        return b""


def _read(path: Path, *, whole: bool) -> bytes:
    """The file, or only its beginning if that is binary and not all is wanted. Never waits for a pipe in its place."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a file any more")
        head = file.read(_HEAD)
        return head if is_binary(head) and not whole else head + file.read()
