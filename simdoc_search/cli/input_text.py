"""Reads the texts that commands query with: files, folders, pipes, stdin, lists of queries, and stored documents."""

from __future__ import annotations

import io
import json
import stat
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simdoc_search.documents import SkippedFile
from simdoc_search.errors import CorpusError, DocumentError, NoTextError

if TYPE_CHECKING:
    from collections.abc import Callable

    from simdoc_search.documents import Document
    from simdoc_search.search.similarity_search import SimilaritySearch


class QueryText(NamedTuple):
    """A query document."""

    name: str
    text: str | None = None  # None for a stored document with this name
    file: str | None = None  # the path, or `-` for stdin; None without a file
    row: str | None = None  # the id of the row of a table; None if the document is not from a table

    def as_json(self, id: str | None = None) -> dict[str, Any]:
        """Return the id that the document has in the store, and its file and row, as JSON."""
        return {"id": id, "file": self.file, **({} if self.row is None else {"row": self.row})}


class QueryFiles:
    """Iterates over the texts of files and folders. Each file is read on demand.

    Attributes:
        total: number of files if all files are listed before the first one is read (`list_first`), otherwise None.
        skipped: files without a text, with the reasons. Complete at the end of the iteration.
        problems: one sentence for each path that could not be read. Complete at the end of the iteration.
    """

    def __init__(self, paths: Sequence[Path], *, list_first: bool) -> None:
        from simdoc_search.corpus import read_corpus
        from simdoc_search.indexing.run import skip_unreadable_sources

        self.skipped: list[SkippedFile] = []
        self.problems: list[str] = []
        sources = skip_unreadable_sources(read_corpus(paths, stdin_id="-"), self.problems)
        self._sources = list(sources) if list_first else sources
        self.total: int | None = len(self._sources) if isinstance(self._sources, list) else None

    def __iter__(self) -> Iterator[QueryText]:
        from simdoc_search.corpus import FileSource, read_sources

        for source, document in read_sources(self._sources):
            if isinstance(document, SkippedFile):
                self.skipped.append(document)
            elif isinstance(source, FileSource):
                yield QueryText(source.path, document.text, source.path)
            elif document.id == "-":
                yield QueryText("-", document.text, "-")
            else:
                yield QueryText(document.id, document.text, row=document.id)


def read_file(file: Path) -> str:
    """Return the text of a file, of stdin (`-`), or of a pipe such as `<(command)`."""
    return read_document(file).text


def read_document(file: Path) -> Document:
    """Return the text of a file and the dates in its properties. Raises the same errors as `read_file`."""
    from simdoc_search.corpus import read_file as read
    from simdoc_search.corpus import read_text_stream

    if is_stream(file):
        return read_text_stream(io.BytesIO(_read_bytes(file)), _display_name(file))
    return read(file)


def read_text(text: str) -> str:
    """Return the text that `--text` gives. `-` reads stdin."""
    return read_file(Path("-")) if text == "-" else text


def read_lines(file: Path) -> list[str]:
    """Return the lines of a file, a pipe or stdin, except empty ones.

    If the file has NUL characters, as in the output of `find -print0`, return the names between them.
    """
    from simdoc_search.corpus import read_text_stream

    data = _read_bytes(file)
    try:
        text = read_text_stream(io.BytesIO(data), _display_name(file)).text
    except DocumentError:  # names that are separated by NUL characters look like a binary file
        names = data.decode("utf-8", "replace").split("\0")
        if len(names) == 1 or "\ufffd" in data.decode("utf-8", "replace"):
            raise
        return [name for name in names if name]
    if text.lstrip().startswith("[") and _is_json(text):
        raise CorpusError(f"{_display_name(file)} is a JSON list; write one id or query per line")
    lines = text.split("\0") if "\0" in text else text.splitlines()
    return [line.strip() for line in lines if line.strip()]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def is_file(name: str) -> bool:
    """Whether an argument is the path of an existing file, or `-` for stdin."""
    try:
        return name == "-" or (Path(name).exists() and not Path(name).is_dir())
    except (OSError, ValueError):  # the argument is too long for a path, or contains a NUL
        return False


def read_stored_text(search: SimilaritySearch, name: str) -> tuple[str, str]:
    """Return the id and the text of a stored document."""
    from simdoc_search.search.resolver import find_record
    from simdoc_search.search.stored_texts import read_texts

    key = find_record(search.store, name).key
    text = read_texts(search.store, [key]).get(key)
    if text is None:
        raise NoTextError(key.id)
    return key.id, text


def read_query_arguments(
    search: SimilaritySearch,
    id: str | None,
    file: Path | None,
    make_file_arguments: Callable[[Document], dict[str, Any]],
    text: str | None = None,
) -> tuple[dict[str, Any], str | None]:
    """Return the arguments of a query for one of `id`, `file` and `text`, and the id of the document if it is stored.

    If an indexed file is given, its document is excluded from the hits. `make_file_arguments` returns further arguments
    for a file that is not a pipe.
    """
    from simdoc_search.search.files import IndexedFiles
    from simdoc_search.search.resolver import find_record

    if text is not None:
        return {"text": read_text(text)}, None
    if file is None:
        key = find_record(search.store, id or "").key
        return {"query": key}, key.id
    document = read_document(file)
    if is_stream(file):
        return {"text": document.text}, None
    indexed = IndexedFiles(search.store).get(file)
    indexed_key = indexed.key if indexed else None
    arguments = {"text": document.text, "exclude": indexed_key, **make_file_arguments(document)}
    return arguments, indexed_key.id if indexed_key else None


def _read_bytes(file: Path) -> bytes:
    from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path

    if str(file) == "-":
        data = sys.stdin.buffer.read(DEFAULT_MAX_BYTES + 1)
    else:
        check_path(file)
        if file.is_dir():
            raise CorpusError(f"{file} is a folder; give a file in it")
        try:
            with file.open("rb") as opened:
                data = opened.read(DEFAULT_MAX_BYTES + 1)
        except OSError as error:
            raise CorpusError(f"cannot read {file}: {(error.strerror or str(error)).lower()}") from None
    if len(data) > DEFAULT_MAX_BYTES:
        raise CorpusError(
            f"{_display_name(file)} is larger than {DEFAULT_MAX_BYTES:,} bytes; split it into smaller files"
        )
    return data


def is_stream(file: Path) -> bool:
    """Whether a file is stdin or a pipe."""
    try:
        return str(file) == "-" or stat.S_ISFIFO(file.stat().st_mode)
    except OSError:
        return False


def _display_name(file: Path) -> str:
    return "stdin" if str(file) == "-" else file.name
