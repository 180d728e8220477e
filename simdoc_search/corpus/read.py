"""Which of the paths that a person names is read how?"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path

from simdoc_search.corpus.document import Document, FileSource, Skipped
from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path, find_files
from simdoc_search.corpus.jsonl import read_jsonl
from simdoc_search.corpus.load import read_text_stream
from simdoc_search.corpus.tables import TABLE_ENDINGS, read_table

__all__ = ["read_corpus"]

_JSONL = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")


def read_corpus(
    paths: Iterable[str | Path],
    *,
    max_bytes: int = DEFAULT_MAX_BYTES,
    id_field: str = "id",
    text_field: str = "text",
    stdin_id: str | None = None,
) -> Iterator[FileSource | Document | Skipped]:
    """All that some paths hold, in their order.

    A named `.jsonl` or `.ndjson` file (also `.gz`) holds a document per line, a named `.csv`, `.tsv` or `.parquet`
    file one per row; inside a folder such a file is text like any other. `-` is standard input: one text if
    `stdin_id` is given, otherwise JSONL.

    Args:
        paths: folders, files, `-`.
        max_bytes: larger files are skipped; JSONL and standard input have no limit.
        id_field: the field of a JSONL object, or the column of a table, that holds the id.
        text_field: the field that holds the text.
        stdin_id: the id of the one text on standard input.

    Raises:
        CorpusError: at the call, a path is missing or closed to us; while iterating, a folder has no file.
        DocumentError: while iterating, standard input is no text, or `stdin_id` no id.
    """

    def one(path: Path) -> Iterator[FileSource | Document | Skipped]:
        if str(path) == "-" and stdin_id is not None:
            return (read_text_stream(stream, stdin_id) for stream in [sys.stdin.buffer])
        if str(path) == "-" or (path.name.lower().endswith(_JSONL) and not path.is_dir()):
            return read_jsonl(path, id_field=id_field, text_field=text_field)
        if path.suffix.lower() in TABLE_ENDINGS and not path.is_dir():
            return read_table(path, id_field=id_field, text_field=text_field)
        return find_files([path], max_bytes=max_bytes)

    named = [Path(path) for path in paths]
    for path in named:
        if str(path) != "-":
            check_path(path)
    return chain.from_iterable(map(one, named))
