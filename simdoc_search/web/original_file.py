"""Sends the original file of a document to a browser on this computer."""

from __future__ import annotations

import mimetypes
import os
import stat
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from starlette.exceptions import HTTPException

from simdoc_search.corpus.member_names import find_archive
from simdoc_search.errors import SimdocError
from simdoc_search.stores.record import Record
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_query import find_document_key, read_stored_record
from simdoc_search.web.response import OriginalFile

_CHUNK_BYTES = 1 << 16
_TEXT_EXTENSIONS = frozenset({".txt", ".text", ".md", ".rst", ".log", ".csv", ".tsv", ".tex", ".eml"})
"""A browser shows these files as plain text. It saves all others, so that no file runs as a page of this server."""


class FileNotAvailableError(SimdocError):
    """The original file of a document cannot be sent."""


def original_file(request: PageRequest) -> OriginalFile:
    """Return the file that a document was read from."""
    if request.local is None:
        raise HTTPException(403, "original files can only be opened on the computer that runs the server")
    search = request.served_store.search()
    record = read_stored_record(search, find_document_key(request, search))
    path = _find_path(record)
    file = open_file_without_links(path)
    name = PurePosixPath(record.id).name or "document"
    is_text = os.path.splitext(path)[1].lower() in _TEXT_EXTENSIONS  # noqa: PTH122 - the path is a string
    media_type = "text/plain" if is_text else mimetypes.guess_type(name)[0] or "application/octet-stream"
    return OriginalFile(name, os.fstat(file.fileno()).st_size, _read_chunks(file), media_type, is_shown=is_text)


def _find_path(record: Record) -> str:
    """Return the path of the file, which must still be in the indexed folder."""
    if record.origin is None:
        raise FileNotAvailableError("this document was not read from a file")
    path, root = record.origin.path_of(record.id), record.origin.root
    if record.origin.content_hash or find_archive(path):
        raise FileNotAvailableError(
            "the document is in an archive or an e-mail; open the archive or the e-mail to see the document"
        )
    real, real_root = Path(os.path.realpath(path)), Path(os.path.realpath(root))
    if real != real_root and real_root not in real.parents:
        raise FileNotAvailableError(
            "the path leads out of the indexed folder through a symbolic link; open the file in a file manager instead"
        )
    return str(real)


def open_file_without_links(path: str) -> BinaryIO:
    """Open a regular file. A link is not followed, and opening never waits."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags)
    except OSError:
        raise FileNotAvailableError("the file no longer exists, or it cannot be read") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise FileNotAvailableError("the document's path no longer leads to a regular file")
    return os.fdopen(handle, "rb")


def _read_chunks(file: BinaryIO) -> Iterator[bytes]:
    with file:
        while chunk := file.read(_CHUNK_BYTES):
            yield chunk
