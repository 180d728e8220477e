"""What is the text of this file, or of this stream?"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from simdoc_search.corpus.decode import decode, is_binary, is_image
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, LINK_OUT, check_path, find_files, leads_out, readable_path
from simdoc_search.corpus.formats import document_format, document_text
from simdoc_search.corpus.html import html_text
from simdoc_search.corpus.member_names import CLOSED, is_archive
from simdoc_search.documents import Document, FileSource, Skipped, check_id
from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError
from simdoc_search.workers import ItemLimits, iterate_in_subprocess

_HTML = frozenset({".html", ".htm", ".xhtml"})
_UNSUPPORTED = frozenset({".djvu", ".mobi", ".azw3"})
_TABLES = frozenset({".parquet"})
_HEAD, _PIECE = 1 << 16, 1 << 20  # bytes read at once, first and then
_LARGE_PAGE = 1 << 16  # for one of 256 kB, nested deep, the parser needs some seconds
_SMALL_PAGE_SHARE, _WHOLE_SHARE_BYTES = 1 / 12, 50_000_000


def _is_html(path: Path) -> bool:
    return path.suffix.lower() in _HTML


def is_risky(path: Path, size: int, head: bytes = b"") -> bool:
    """Whether a file is for another process, by its name, its size in bytes and perhaps its first bytes."""
    if _is_html(path) and size > _LARGE_PAGE:
        return True  # the parser's time grows with the square of the depth of nested elements
    return document_format(path, head) is not None


def time_share(source: FileSource) -> float:
    """The share of the time limit that a file may take, 0..1.

    The HTML parser reads tens of megabytes per second. Its time grows with the square of nested elements and of
    attributes, so a page of one megabyte could take all the time there is.
    """
    if not _is_html(source.path):
        return 1.0
    return min(1.0, _SMALL_PAGE_SHARE + source.size / _WHOLE_SHARE_BYTES)


def load(source: FileSource) -> Document | Skipped:
    """Read one file; any file that cannot be read gives its reason. Safe to call in another process.

    HTML and document formats are known by their ending, PDF and RTF also by their first bytes; whatever else decodes
    is plain text, Markdown too: its signs are no words.
    """
    data = _data(source)
    return data if isinstance(data, Skipped) else _parsed(source, data)


def load_here(source: FileSource) -> Document | Skipped | None:
    """The same, but None for a file that `is_risky`: it is for another process."""
    if is_risky(source.path, source.size):
        return None
    data = _data(source)
    if isinstance(data, Skipped):
        return data
    if is_risky(source.path, len(data), data):  # known by its content, or another file by now
        return None
    return _parsed(source, data)


def read_text(path: str | Path, *, max_bytes: int = DEFAULT_MAX_BYTES, limits: ItemLimits | None = None) -> str:
    """The text of one file that a person named; as `read_file`."""
    return read_file(path, max_bytes=max_bytes, limits=limits).text


def read_file(path: str | Path, *, max_bytes: int = DEFAULT_MAX_BYTES, limits: ItemLimits | None = None) -> Document:
    """One file that a person named, as `load` gives it; other people's code reads in a process of its own.

    Args:
        path: the file.
        max_bytes: a larger one is refused.
        limits: the time and memory that such a process may take.

    Raises:
        CorpusError: it is missing, a folder, or gives no text.
        MissingExtraError: the file needs a package that is not installed.
    """
    check_path(Path(path))
    if Path(path).is_dir():
        raise CorpusError(f"{path} is a folder; name a file in it")
    found = next(find_files([path], max_bytes=max_bytes))
    result = _load_safely(found, limits) if isinstance(found, FileSource) else found
    if isinstance(result, Skipped):
        raise CorpusError(f"{path} cannot be read: {result.reason}")
    return result


def read_bytes(
    name: str, data: bytes, *, max_bytes: int = DEFAULT_MAX_BYTES, limits: ItemLimits | None = None
) -> Document:
    """A file that is in memory and nowhere else, as `read_file` reads one; its name says what it may be.

    Args:
        name: what the file is called; whatever folders stand in it are left out.
        data: all of its bytes.
        max_bytes: more bytes, or characters of its text, are refused.
        limits: the time and memory that a process may take in which other people's code reads it.

    Raises:
        CorpusError: it gives no text.
    """
    path = Path(name.replace("\\", "/").rpartition("/")[2].replace("\0", "") or "file")
    source = FileSource(path.name, path, "", len(data), 0, max_bytes)
    try:
        result = _whole(source, data, limits)
    except DocumentError as error:
        result = Skipped(path.name, str(error))
    if isinstance(result, Skipped):
        raise CorpusError(f"{path.name!r} cannot be read: {result.reason}")
    return result


def _whole(source: FileSource, data: bytes, limits: ItemLimits | None) -> Document | Skipped:
    if source.max_bytes is not None and len(data) > source.max_bytes:
        return Skipped(source.id, f"over the limit of {source.max_bytes:,} bytes")
    if is_archive(source.path.name):
        return Skipped(source.id, "it holds several documents; give one of them")
    if source.path.suffix.lower() in _UNSUPPORTED | _TABLES:
        return Skipped(source.id, f"format {source.path.suffix.lower()} is not supported")
    if is_risky(source.path, len(data), data):
        return next(iterate_in_subprocess(_parsed_apart, source, data, limits=_limits(source, limits)))
    return _parsed(source, data)


def _parsed_apart(source: FileSource, data: bytes) -> Iterator[Document | Skipped]:
    yield _parsed(source, data)


def _limits(source: FileSource, limits: ItemLimits | None) -> ItemLimits:
    given = limits or ItemLimits()
    return replace(given, seconds=time_share(source) * given.seconds)


def _load_safely(source: FileSource, limits: ItemLimits | None) -> Document | Skipped:
    try:
        return load_here(source) or next(iterate_in_subprocess(_loaded, source, limits=_limits(source, limits)))
    except DocumentError as error:
        return Skipped(readable_path(source.path), str(error))


def _loaded(source: FileSource) -> Iterator[Document | Skipped]:
    yield load(source)


def read_text_stream(stream: BinaryIO, id: str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Document:
    """Read a stream, usually standard input, to its end as one document of plain text.

    Raises:
        DocumentError: the stream is binary or over `max_bytes`, or the id is not one that can be stored.
    """
    check_id(id)
    data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DocumentError(f"what was given as {id!r} is over the limit of {max_bytes:,} bytes; give a shorter text")
    text = decode(data)
    if text is None:
        raise DocumentError(f"what was given as {id!r} is binary; give plain text")
    return Document(id, text)


def _data(source: FileSource) -> bytes | Skipped:
    path = source.path
    if reason := _closed(source):
        return Skipped(readable_path(path), reason)
    if source.data is not None:
        return source.data
    try:
        return _read(source, whole=document_format(path) is not None)
    except FileNotFoundError:
        return Skipped(readable_path(path), "vanished before it was read")
    except OSError as error:
        return Skipped(readable_path(path), (error.strerror or str(error)).lower())


def _closed(source: FileSource) -> str:
    """Why a file is not even looked at, by its name; empty if it is."""
    suffix = source.path.suffix.lower()
    if source.data is None and is_archive(source.path.name):
        return CLOSED
    if suffix in _UNSUPPORTED:
        return f"format {suffix} is not supported"
    return "a table; name the file itself to index its rows" if suffix in _TABLES else ""


def _parsed(source: FileSource, data: bytes) -> Document | Skipped:
    if (format := document_format(source.path, data)) is not None:
        return _formatted(source, data, format)
    text = html_text(data) if _is_html(source.path) else decode(data)
    if text is None:
        return Skipped(readable_path(source.path), "an image" if is_image(data) else "binary")
    return Document(source.id, text)


def _formatted(source: FileSource, data: bytes, format: str) -> Document | Skipped:
    try:
        text, properties = document_text(data, format)
    except (DocumentError, MissingExtraError) as error:
        return Skipped(readable_path(source.path), str(error))
    if source.max_bytes is not None and len(text) > source.max_bytes:  # a few kilobytes may unpack to gigabytes
        return Skipped(
            readable_path(source.path), f"{len(text):,} characters are over the limit of {source.max_bytes:,}"
        )
    return Document(source.id, text, properties)


@contextmanager
def opened(source: FileSource) -> Iterator[FileIO]:
    """The file, open for reading.

    Raises:
        OSError: it cannot be read, is no file, or has become a link.
    """
    # In its place there may be a pipe by now; and what /proc calls a file can be endless, or wait for ever.
    descriptor = os.open(source.path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(0, "not a file any more")
        if source.within and leads_out(source.path, source.within, descriptor):
            raise OSError(0, LINK_OUT)
        yield file


def _read(source: FileSource, *, whole: bool) -> bytes:
    """The file, or only its beginning if that is binary and not all is wanted.

    Raises:
        OSError: it cannot be read, is no file or one without an end, has grown over the limit, or has become a link.
    """
    max_bytes = source.max_bytes
    with opened(source) as file:
        piece = file.read(_HEAD)
        if piece and is_binary(piece) and not whole:
            return piece
        pieces, size = [], 0
        while piece:
            pieces.append(piece)
            size += len(piece)
            if max_bytes is not None and size > max_bytes:
                raise OSError(0, f"grew over the limit of {max_bytes:,} bytes before it was read")
            piece = file.read(_PIECE)
    if piece is None:
        raise OSError(0, "not a file but a stream that would have to be waited for")
    return b"".join(pieces)
