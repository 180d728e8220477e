"""Reads the lines of a JSONL file as documents."""

from __future__ import annotations

import gzip
import json
import math
import re
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, cast

from simdoc_search.corpus.folder import DEFAULT_MAX_BYTES
from simdoc_search.documents import Document, MetadataValue, SkippedFile, check_id
from simdoc_search.errors import CorpusError, DocumentError

_CHUNK_BYTES = 1 << 16
_MAX_TOTAL_NAME_CHARACTERS = 1 << 20
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INT64_RANGE = range(-(2**63), 2**63)


def read_jsonl(
    source: BinaryIO | str | Path,
    *,
    id_field: str = "id",
    text_field: str = "text",
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Iterator[Document | SkippedFile]:
    """Read a JSONL file in UTF-8 with one object per line. Only one line at a time is in memory.

    The other fields of an object become metadata. Nulls are dropped, nested objects are flattened (`author.name`), and
    lists of strings are kept. Other lists and integers beyond 64 bits become strings. A line that is not a document
    yields a `SkippedFile` with the path `FILE:LINE`. Blank lines are ignored. If several lines have the same id,
    each line yields a document.

    Args:
        source: an open stream, a path (`.gz` is unpacked), or `-` for standard input.
        id_field: the field with the id, a string or a number.
        text_field: the field with the text.
        max_bytes: maximum size of a line. Longer lines are skipped without reading them into memory.

    Raises:
        CorpusError: the file cannot be opened.
    """
    if not isinstance(source, (str, Path)):
        yield from _read_documents(source, getattr(source, "name", "stream"), id_field, text_field, max_bytes)
    elif str(source) == "-":
        yield from _read_documents(sys.stdin.buffer, "-", id_field, text_field, max_bytes)
    else:
        with _open_jsonl(Path(source)) as stream:
            yield from _read_documents(stream, str(source), id_field, text_field, max_bytes)


def _open_jsonl(path: Path) -> BinaryIO:
    try:
        return cast(BinaryIO, gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None


def _read_documents(
    stream: BinaryIO, name: str, id_field: str, text_field: str, max_bytes: int
) -> Iterator[Document | SkippedFile]:
    number = 0
    lines = _read_lines(stream, max_bytes)
    while True:
        number += 1
        try:
            line = next(lines, b"")
        except (OSError, EOFError, zlib.error) as error:
            yield SkippedFile(f"{name}:{number}", f"the rest of the file cannot be read: {error}")
            return
        if line is None:
            yield SkippedFile(f"{name}:{number}", f"the line is over the limit of {max_bytes:,} bytes")
        elif not line:
            return
        elif not line.isspace():
            document = _parse_line(line, number == 1, id_field, text_field)
            line = b""  # frees a large line while the document is used
            yield SkippedFile(f"{name}:{number}", document) if isinstance(document, str) else document


def _read_lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | None]:
    """Yield each line, or None for a line that is too long. A few bytes of gzip can unpack to a line of gigabytes."""
    while line := stream.readline(max_bytes + 1):
        if len(line) <= max_bytes or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_CHUNK_BYTES)
        yield None


def _parse_line(raw: bytes, is_first: bool, id_field: str, text_field: str) -> Document | str:
    """Return the document of a line, or the reason why the line is not a document."""
    try:
        line = raw.decode("utf-8-sig" if is_first else "utf-8")
        record = json.loads(line, parse_constant=_refuse_constant, parse_float=_parse_finite)
        if _SURROGATE.search(line):
            json.dumps(record, ensure_ascii=False).encode()
        return to_document(record, id_field, text_field)
    except DocumentError as error:
        reason = str(error)
    except UnicodeDecodeError:
        reason = "not valid UTF-8"
    except UnicodeEncodeError:
        reason = "the line contains an unpaired surrogate, which is not a character"
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
    except ValueError as error:
        reason = f"not JSON: {error}"
    except RecursionError:
        reason = "nested too deeply"
    return reason


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"JSON does not allow {name}")


def _parse_finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"the number {digits[:20]} is too large")
    return number


def to_document(record: object, id_field: str, text_field: str) -> Document:
    """Convert a JSON object or a table row to a document.

    Raises:
        DocumentError: the object has no valid id, or no text. The message is the reason in a few words.
    """
    if not isinstance(record, dict):
        raise DocumentError("not a JSON object")
    id_, text = record.pop(id_field, None), record.pop(text_field, None)
    if id_ is None:
        raise DocumentError(f"no {id_field!r}")
    if text is None:
        raise DocumentError(f"no {text_field!r}")
    if isinstance(id_, bool) or not isinstance(id_, (str, int, float)):
        raise DocumentError(f"{id_field!r} is neither a string nor a number")
    if not isinstance(text, str):
        raise DocumentError(f"{text_field!r} is not a string")
    check_id(str(id_))
    return Document(str(id_), text, _flatten_metadata(record))


def _flatten_metadata(record: dict[str, Any]) -> dict[str, MetadataValue]:
    """Return the remaining fields of a record. The names of all levels of a nested field are joined with dots.

    Raises:
        DocumentError: the names are too long. A few kilobytes of nested objects can have gigabytes of joined names.
    """
    metadata: dict[str, MetadataValue] = {}
    remaining = _MAX_TOTAL_NAME_CHARACTERS

    def add(fields: dict[str, Any], prefix: str) -> None:
        nonlocal remaining
        for key, value in fields.items():
            name = prefix + key
            remaining -= len(name)
            if remaining < 0:
                raise DocumentError(
                    f"the field names have more than {_MAX_TOTAL_NAME_CHARACTERS:,} characters in total"
                )
            if isinstance(value, dict):
                add(value, name + ".")
            elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
                metadata[name] = json.dumps(value, ensure_ascii=False)
            elif isinstance(value, int) and value not in _INT64_RANGE:
                metadata[name] = str(value)
            elif value is not None:
                metadata[name] = value

    add(record, "")
    return metadata
