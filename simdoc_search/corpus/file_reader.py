"""Reads the text of files. Files that may crash their reader or make it hang are read in a subprocess."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import BinaryIO

from simdoc_search.corpus.encoding import decode, is_binary, is_image
from simdoc_search.corpus.extraction import NO_TEXT_REASONS, extract_text
from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path, find_files, printable_path
from simdoc_search.corpus.formats import FileFormat, FormatKind, determine_format
from simdoc_search.corpus.html import extract_html_text
from simdoc_search.corpus.links import LINK_OUT_REASON, leads_out
from simdoc_search.corpus.table_text import extract_table_text
from simdoc_search.documents import Document, SkippedFile, check_id
from simdoc_search.errors import CorpusError, DocumentError, MissingExtraError
from simdoc_search.small_files import open_regular_file
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

ARCHIVE_REASON = "an archive or a mailbox"
_IMAGE, _BINARY = "an image", "binary"
_REASONS_WITHOUT_TEXT = frozenset({_IMAGE, _BINARY, *NO_TEXT_REASONS})

_TEXT_READERS: dict[FormatKind, Callable[[bytes], str | None]] = {
    "html": extract_html_text,
    "table": extract_table_text,
}
"""Functions that extract the text of a file, or return None if it is binary. Unlisted kinds are read as plain text."""

_PLAN_BEGINNING = re.compile(rb'# This plan of simdoc-search |[0-9a-f]{16} \{"simdoc-search": "undo file of a plan')
"""Matches the beginning of a plan of `duplicates`, and of its undo file. They are not documents of the user."""

_HEAD_BYTES, _CHUNK_BYTES = 1 << 16, 1 << 20


class TextlessFileError(CorpusError):
    """A file has no text, such as an image or a scan.

    Attributes:
        reason: the reason in a few words.
    """

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name} cannot be read: {reason}")
        self.reason: str = reason


class NeedsSubprocessError(Exception):
    """A file may crash this process, make it hang, or take all memory."""


def read_sources(
    sources: Iterable[Source], *, limits: ItemLimits | None = None
) -> Iterator[tuple[Source, Document | SkippedFile]]:
    """Yield each source with its document, or with the reason why it is skipped.

    Sources are read one at a time and in order. PDF, office formats and large HTML pages are read in one subprocess,
    which starts with the first such file.
    """
    with ExitStack() as opened:
        pool: WorkerPool[FileSource, Document | SkippedFile] | None = None
        for source in sources:
            if not isinstance(source, FileSource):
                yield source, source
                continue
            try:
                document = read_in_process(source, allow_risky=False)
            except NeedsSubprocessError:
                pool = pool or opened.enter_context(closing(WorkerPool(1, _read_chunk, _skip, limits or ItemLimits())))
                (document,) = pool.submit([source]).result()
            yield source, document


def read_file(path: str | Path, *, max_bytes: int = DEFAULT_MAX_BYTES, limits: ItemLimits | None = None) -> Document:
    """Read one file of any supported format. The text is in the attribute `text` of the document.

    Formats that may crash their reader are read in a subprocess.

    Args:
        path: the file.
        max_bytes: maximum size of the file.
        limits: maximum time and memory in the subprocess.

    Raises:
        CorpusError: the file is missing, is a folder, or has no text.
        MissingExtraError: the file needs a package that is not installed.
    """
    check_path(Path(path))
    if Path(path).is_dir():
        raise CorpusError(f"{path} is a folder; give a file in it")
    return _read_source(str(path), next(find_files([path], max_bytes=max_bytes)), limits)


def read_bytes(
    name: str, data: bytes, *, max_bytes: int = DEFAULT_MAX_BYTES, limits: ItemLimits | None = None
) -> Document:
    """Read a file that is in memory. `read_file` reads a file on disk in the same way.

    Args:
        name: the file name, which determines the format. Folders in it are ignored.
        data: the bytes of the file.
        max_bytes: maximum number of bytes in the file, and of characters in its text.
        limits: maximum time and memory in the subprocess.

    Raises:
        CorpusError: the file has no text.
    """
    path = Path(name.replace("\\", "/").rpartition("/")[2].replace("\0", "") or "file")
    source = FileSource(path.name, path.name, "", len(data), 0, max_bytes, data=data, format=determine_format(path))
    return _read_source(repr(path.name), source, limits)


def read_text_stream(stream: BinaryIO, id: str, *, max_bytes: int = DEFAULT_MAX_BYTES) -> Document:
    """Read a stream, usually standard input, as one document of plain text.

    Raises:
        DocumentError: the stream is binary or larger than `max_bytes`, or the id is invalid.
    """
    check_id(id)
    data = stream.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise DocumentError(f"the text of {id!r} is over the limit of {max_bytes:,} bytes; give a shorter text")
    text = decode(data)
    if text is None:
        raise DocumentError(f"the text of {id!r} is binary; give plain text")
    return Document(id, text)


def read_in_process(source: FileSource, *, allow_risky: bool = True) -> Document | SkippedFile:
    """Read one file in this process. If it has no text, return a `SkippedFile` with the reason.

    Raises:
        NeedsSubprocessError: the file is risky, and `allow_risky` is False.
        MissingExtraError: the file needs a package that is not installed.
    """
    try:
        if source.is_risky and not allow_risky:
            raise NeedsSubprocessError
        data = _read_bytes(source)
        format = source.format.refine_from_content(data)
        if (
            format.is_risky(len(data)) and not allow_risky
        ):  # the name did not show that the content is a PDF, or the file has grown
            raise NeedsSubprocessError
        return _parse_document(source, data, format)
    except DocumentError as error:
        return _skip(source, str(error))


@contextmanager
def open_source(source: FileSource) -> Iterator[BinaryIO]:
    """Open a file for reading.

    Raises:
        OSError: the file cannot be read, is not a regular file, or has become a link out of its folder.
    """
    with open_regular_file(source.path) as file:
        if source.boundary and leads_out(source.path, source.boundary, file.fileno()):
            raise OSError(0, LINK_OUT_REASON)
        yield file


def _read_chunk(sources: Sequence[FileSource], begin_item: BeginItem) -> list[Document | SkippedFile]:
    documents = []
    for index, source in enumerate(sources):
        begin_item(index, source.time_share)
        documents.append(read_in_process(source))
    return documents


def _skip(source: FileSource, reason: str) -> Document | SkippedFile:
    return SkippedFile(printable_path(source.path), reason)


def _read_source(name: str, source: FileSource | SkippedFile, limits: ItemLimits | None) -> Document:
    ((_, document),) = read_sources([source], limits=limits)
    if isinstance(document, SkippedFile):
        if document.reason in _REASONS_WITHOUT_TEXT:
            raise TextlessFileError(name, document.reason)
        raise CorpusError(f"{name} cannot be read: {document.reason}")
    return document


def _read_bytes(source: FileSource) -> bytes:
    """Return the bytes of a file.

    Raises:
        DocumentError: the file cannot be read, or its format is not supported. The message is the reason in a few
            words.
    """
    if reason := _reason_to_skip(source):
        raise DocumentError(reason)
    if source.data is not None:
        return source.data
    try:
        return _read_file(source)
    except FileNotFoundError:
        raise DocumentError("vanished before it was read") from None
    except OSError as error:
        raise DocumentError((error.strerror or str(error)).lower()) from None


def _reason_to_skip(source: FileSource) -> str:
    """Return the reason why a file is not opened, or an empty string."""
    in_memory, extension = source.data is not None, source.format.extension
    if source.max_bytes is not None and source.data is not None and len(source.data) > source.max_bytes:
        return f"{len(source.data):,} bytes are over the limit of {source.max_bytes:,}"
    if source.format.kind == "archive":
        return (
            "the file is an archive; extract one of its documents, and give that document"
            if in_memory
            else ARCHIVE_REASON
        )
    if extension == ".parquet" and not in_memory:
        return "a table; give the path of this file to index its rows"
    if extension == ".parquet" or source.format.kind == "unsupported":
        return f"format {extension} is not supported"
    return ""


def _read_file(source: FileSource) -> bytes:
    """Return the bytes of a file. If its format is text but its content is binary, return only its first bytes.

    Raises:
        OSError: the file cannot be read, is not a regular file, or has grown over the limit.
    """
    with open_source(source) as file:
        chunk: bytes | None = file.read(_HEAD_BYTES)
        if chunk and is_binary(chunk) and source.format.kind != "document":
            return chunk
        chunks, size = [], 0
        while chunk:
            chunks.append(chunk)
            size += len(chunk)
            if source.max_bytes is not None and size > source.max_bytes:
                raise OSError(0, f"grew over the limit of {source.max_bytes:,} bytes before it was read")
            chunk = file.read(_CHUNK_BYTES)
    if chunk is None:
        raise OSError(0, "reading the file would block until another process writes data")
    return b"".join(chunks)


def _parse_document(source: FileSource, data: bytes, format: FileFormat) -> Document:
    if format.kind != "document":
        if _PLAN_BEGINNING.match(data):
            raise DocumentError("a plan that simdoc-search wrote")
        text = _TEXT_READERS.get(format.kind, decode)(data)
        if text is None:
            raise DocumentError(_IMAGE if is_image(data) else _BINARY)
        return Document(source.id, text)
    try:
        text, properties = extract_text(data, format)
    except MissingExtraError as error:
        raise DocumentError(str(error)) from None
    if source.max_bytes is not None and len(text) > source.max_bytes:  # a few kilobytes can unpack to gigabytes
        raise DocumentError(f"{len(text):,} characters are over the limit of {source.max_bytes:,}")
    return Document(source.id, text, properties)
