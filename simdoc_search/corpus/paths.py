"""Which of the paths that a person names is read how?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path, find_files, readable_path
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.load import read_text_stream
from simdoc_search.corpus.tables import TABLE_ENDINGS, read_table
from simdoc_search.documents import Document, FileSource, Skipped, check_id
from simdoc_search.errors import CorpusError, DocumentError
from simdoc_search.workers import ItemLimits, iterate_in_subprocess

_JSONL = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def holds_several(path: str | Path) -> bool:
    """Whether a file that is named by itself holds a document per line or row, by its name."""
    name = Path(path).name.lower()
    return name.endswith(_JSONL) or Path(name).suffix in TABLE_ENDINGS


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
) -> Iterator[FileSource | Document | Skipped]:
    """All that some paths hold, in their order.

    A named `.jsonl` or `.ndjson` file (also `.gz`) holds a document per line, a named `.csv`, `.tsv` or `.parquet`
    file one per row; inside a folder such a file is text like any other. `-` is standard input: one text if
    `stdin_id` is given, otherwise JSONL.

    Args:
        paths: folders, files, `-`.
        max_bytes: larger files, longer lines of JSONL and longer rows of a table are skipped; a larger text on standard
            input is refused.
        follow_links: follow links that lead out of a named folder too; see `find_files`.
        exclude: patterns of what is left out of folders; see `Excluding`.
        id_field: the field of a JSONL object, or the column of a table, that holds the id.
        text_field: the field that holds the text.
        stdin_id: the id of the one text on standard input.
        limits: the time and memory that the process may take which reads a Parquet file, for some rows.

    Raises:
        CorpusError: at the call, a path is missing, closed to us, or no file; while iterating, a folder has no file.
        DocumentError: at the call, `stdin_id` is no id; while iterating, standard input is no text.
    """

    def one(path: Path) -> Iterator[FileSource | Document | Skipped]:
        if str(path) == "-" and stdin_id is not None:
            return (read_text_stream(stream, stdin_id, max_bytes=max_bytes) for stream in [sys.stdin.buffer])
        if str(path) == "-" or (path.name.lower().endswith(_JSONL) and not path.is_dir()):
            if str(path) != "-" and not path.stat().st_size:
                return iter(())  # what has no size may be a file of the system that one waits for
            return read_jsonl(path, id_field=id_field, text_field=text_field, max_bytes=max_bytes)
        if path.suffix.lower() in TABLE_ENDINGS and not path.is_dir():
            read = partial(read_table, path, max_bytes=max_bytes, id_field=id_field, text_field=text_field)
            return _read_table(read, path, limits)
        return find_files([path], max_bytes=max_bytes, follow_links=follow_links, exclude=patterns)

    patterns = list(exclude)
    if stdin_id is not None:
        check_id(stdin_id)
    named = [Path(path) for path in paths]
    for path in named:
        if str(path) != "-":
            check_path(path)
            _check_kind(path)
    return chain.from_iterable(map(one, named))


def _check_kind(path: Path) -> None:
    if not (path.is_file() or path.is_dir()):
        raise CorpusError(
            f"{path} is no file but a pipe, socket or device; write it to a file, or give it as standard input (-)"
        )


def _read_table(
    read: Callable[[], Iterator[Document | Skipped]], path: Path, limits: ItemLimits | None
) -> Iterator[Document | Skipped]:
    """A table; in a process of its own if other people's code reads it."""
    try:
        yield from iterate_in_subprocess(read, limits=limits) if path.suffix.lower() == ".parquet" else read()
    except DocumentError as error:
        yield Skipped(readable_path(path), str(error))
