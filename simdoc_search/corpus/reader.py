"""Reads documents from the paths that the user gives: folders, files, tables and standard input."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.file_reader import read_text_stream
from simdoc_search.corpus.file_source import Source
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path, find_files, printable_path
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.tables import read_table
from simdoc_search.documents import Document, SkippedFile, check_id
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import ItemLimits, iterate_in_subprocess


def has_several_documents(path: str | Path) -> bool:
    """Return whether the extension of a file shows that it has one document per line or row."""
    return determine_format(path).kind in ("jsonl", "table")


def read_corpus(
    paths: Iterable[str | Path],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    follow_links: bool = False,
    exclude: Iterable[str] = (),
    id_field: str = "id",
    text_field: str = "text",
    stdin_id: str | None = None,
    limits: ItemLimits | None = None,
) -> Iterator[Source]:
    """Find the documents in folders, files and standard input, in order, for `SimilaritySearch.index`.

    Files are read later, by `index`. To get the text of a file, use `read_file`.

    If a path is a `.jsonl` or `.ndjson` file (also `.gz`), each line is a document. If it is a `.csv`, `.tsv` or
    `.parquet` file, each row is a document. Inside a folder, such a file is one document, or skipped if it is Parquet.
    `-` is standard input: one text if `stdin_id` is given, otherwise JSONL.

    Args:
        paths: folders, files and `-`.
        max_bytes: larger files, lines of JSONL and rows of tables are skipped. A larger text on standard input is an
            error.
        follow_links: also follow links out of a folder; see `find_files`.
        exclude: patterns of files and folders to skip; see `Exclusions`.
        id_field: the field of a JSONL object, or the column of a table, with the id.
        text_field: the field or column with the text.
        stdin_id: the id of the text on standard input.
        limits: maximum time and memory of the subprocess that reads a Parquet file.

    Raises:
        CorpusError: the call raises it if a path is missing, unreadable, a pipe or a device. The iterator raises it if
            a folder has no files.
        DocumentError: the call raises it if `stdin_id` is not a valid id. The iterator raises it if standard input is
            not text.
    """
    patterns = list(exclude)
    fields = {"id_field": id_field, "text_field": text_field}

    def read(path: Path) -> Iterator[Source]:
        if str(path) == "-":
            return read_jsonl(path, max_bytes=max_bytes, **fields) if stdin_id is None else read_stdin(stdin_id)
        kind = "folder" if path.is_dir() else determine_format(path).kind
        if kind == "jsonl":
            # A file in /proc has the size 0, but reading it may never end.
            return read_jsonl(path, max_bytes=max_bytes, **fields) if path.stat().st_size else iter(())
        if kind == "table":
            return read_rows(path)
        return find_files([path], max_bytes=max_bytes, follow_links=follow_links, exclude=patterns)

    def read_stdin(id: str) -> Iterator[Document]:
        yield read_text_stream(sys.stdin.buffer, id, max_bytes=max_bytes)

    def read_rows(path: Path) -> Iterator[Document | SkippedFile]:
        rows = partial(read_table, path, max_bytes=max_bytes, **fields)
        try:
            yield from iterate_in_subprocess(rows, limits=limits) if path.suffix.lower() == ".parquet" else rows()
        except DocumentError as error:
            yield SkippedFile(printable_path(path), str(error))

    if stdin_id is not None:
        check_id(stdin_id)
    given = [Path(path) for path in paths]
    for path in given:
        if str(path) != "-":
            check_path(path)
            if not (path.is_file() or path.is_dir()):
                raise CorpusError(
                    f"{path} is a pipe, socket or device; save its content to a file, or pass it on standard input (-)"
                )
    return chain.from_iterable(map(read, given))
