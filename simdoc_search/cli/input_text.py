"""What the commands that ask read: a text, or many queries, from a file, a pipe or standard input."""

from __future__ import annotations

import io
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from simdoc_search.errors import CorpusError, DocumentError

if TYPE_CHECKING:
    from simdoc_search.documents import Document


def read_file(file: Path) -> str:
    """The text of a file; `-` is standard input, and a pipe such as `<(command)` is read to its end.

    Raises:
        CorpusError: it cannot be read.
        DocumentError: it is no text.
    """
    return read_document(file).text


def read_document(file: Path) -> Document:
    """The same with the dates that the file has in its properties. Raises as `read_file`."""
    from simdoc_search.corpus import read_file as read
    from simdoc_search.corpus import read_text_stream

    if is_stream(file):
        return read_text_stream(io.BytesIO(_bytes(file)), _name(file))
    return read(file)


def read_lines(file: Path) -> list[str]:
    """The lines of a file, a pipe or standard input, or what stands between NUL characters, as after `find -print0`.

    Empty ones are left out. Raises as `read_file`.
    """
    from simdoc_search.corpus import read_text_stream

    data = _bytes(file)
    try:
        text = read_text_stream(io.BytesIO(data), _name(file)).text
    except DocumentError:  # binary, as NUL characters are
        names = data.decode("utf-8", "replace").split("\0")
        if len(names) == 1 or "\ufffd" in data.decode("utf-8", "replace"):
            raise
        return [name for name in names if name]
    lines = text.split("\0") if "\0" in text else text.splitlines()
    return [line.strip() for line in lines if line.strip()]


def _bytes(file: Path) -> bytes:
    from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES, check_path

    if str(file) == "-":
        data = sys.stdin.buffer.read(DEFAULT_MAX_BYTES + 1)
    else:
        check_path(file)
        if file.is_dir():
            raise CorpusError(f"{file} is a folder; name a file in it")
        try:
            with file.open("rb") as opened:
                data = opened.read(DEFAULT_MAX_BYTES + 1)
        except OSError as error:
            raise CorpusError(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None
    if len(data) > DEFAULT_MAX_BYTES:
        raise CorpusError(f"{_name(file)} is over the limit of {DEFAULT_MAX_BYTES:,} bytes; give less at a time")
    return data


def is_stream(file: Path) -> bool:
    """Whether there is nothing to look at before it is read."""
    try:
        return str(file) == "-" or stat.S_ISFIFO(file.stat().st_mode)
    except OSError:
        return False


def _name(file: Path) -> str:
    return "stdin" if str(file) == "-" else file.name
