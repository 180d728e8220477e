"""Which documents do the lines of a JSONL file hold, and which lines hold none, and why?"""

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
from simdoc_search.documents import Document, MetadataValue, Skipped, check_id
from simdoc_search.errors import CorpusError, DocumentError

_PIECE = 1 << 16  # of a line that is passed over
_LONGEST_NAMES = 1 << 20  # characters of all names of fields
_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")
_INT64 = range(-(2**63), 2**63)


def read_jsonl(
    source: BinaryIO | str | Path,
    *,
    id_field: str = "id",
    text_field: str = "text",
    max_bytes: int = DEFAULT_MAX_BYTES,
) -> Iterator[Document | Skipped]:
    """The documents of a JSONL file, one object a line, in UTF-8; one line at a time is in memory.

    Other fields become metadata: null is dropped, nested objects are flattened (`author.name`), lists of strings
    are kept, other lists and integers beyond 64 bits become text. A line without a document is skipped as
    `FILE:LINE`, a blank one in silence. An id that comes again is yielded again.

    Args:
        source: an open stream, a path (`.gz` is unpacked), or `-` for standard input.
        id_field: the field that holds the id, a string or a number.
        text_field: the field that holds the text.
        max_bytes: longer lines are skipped, and never held; the whole may have any size.

    Raises:
        CorpusError: the file cannot be opened.
    """
    if not isinstance(source, (str, Path)):
        yield from _documents(source, getattr(source, "name", "stream"), id_field, text_field, max_bytes)
    elif str(source) == "-":
        yield from _documents(sys.stdin.buffer, "-", id_field, text_field, max_bytes)
    else:
        with _open(Path(source)) as stream:
            yield from _documents(stream, str(source), id_field, text_field, max_bytes)


def _open(path: Path) -> BinaryIO:
    try:
        return cast(BinaryIO, gzip.open(path)) if path.suffix.lower() == ".gz" else path.open("rb")
    except OSError as error:
        raise CorpusError(f"{path} cannot be read ({error.strerror}); check the path and its permissions") from None


def _documents(
    stream: BinaryIO, name: str, id_field: str, text_field: str, max_bytes: int
) -> Iterator[Document | Skipped]:
    number = 0
    lines = _lines(stream, max_bytes)
    while True:
        number += 1
        try:
            raw = next(lines, b"")
        except (OSError, EOFError, zlib.error) as error:
            yield Skipped(f"{name}:{number}", f"the rest cannot be read: {error}")
            return
        if raw is None:
            yield Skipped(f"{name}:{number}", f"the line is over the limit of {max_bytes:,} bytes")
            continue
        if not raw:
            return
        if raw.isspace():
            continue
        found = _line(raw, number == 1, id_field, text_field)
        raw = b""  # a line may be large: no second copy of it while the document is used
        yield Skipped(f"{name}:{number}", found) if isinstance(found, str) else found


def _lines(stream: BinaryIO, max_bytes: int) -> Iterator[bytes | None]:
    """The lines; None for one that is too long, of which a few bytes of gzip can unpack to gigabytes."""
    while line := stream.readline(max_bytes + 1):
        if len(line) <= max_bytes or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_PIECE)
        yield None


def _line(raw: bytes, first: bool, id_field: str, text_field: str) -> Document | str:
    """The document of a line, or the reason why there is none."""
    try:
        line = raw.decode("utf-8-sig" if first else "utf-8")
        record = json.loads(line, parse_constant=_refuse_constant, parse_float=_finite)
        if _SURROGATE.search(line):
            json.dumps(record, ensure_ascii=False).encode()
        return document_of(record, id_field, text_field)
    except DocumentError as error:
        reason = str(error)
    except UnicodeDecodeError:
        reason = "not valid UTF-8"
    except UnicodeEncodeError:
        reason = "half a surrogate pair is not a character"
    except json.JSONDecodeError as error:
        reason = f"not JSON: {error.msg} at column {error.colno}"
    except ValueError as error:
        reason = f"not JSON: {error}"
    except RecursionError:
        reason = "nested too deep"
    return reason


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a number there")


def _finite(digits: str) -> float:
    if math.isinf(number := float(digits)):
        raise ValueError(f"{digits[:20]} is too large a number")
    return number


def document_of(record: object, id_field: str, text_field: str) -> Document:
    """The document of a JSON object, or of a row of a table.

    Raises:
        DocumentError: it has no valid id, or no text; the message is the reason in a few words.
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
    return Document(str(id_), text, _metadata(record))


def _metadata(record: dict[str, Any]) -> dict[str, MetadataValue]:
    """The fields of a record, nested ones by their whole names.

    Raises:
        DocumentError: the names are too long. Nested deep, those in a few kilobytes can become gigabytes.
    """
    found: dict[str, MetadataValue] = {}
    left = _LONGEST_NAMES

    def add(fields: dict[str, Any], prefix: str) -> None:
        nonlocal left
        for key, value in fields.items():
            name = prefix + key
            left -= len(name)
            if left < 0:
                raise DocumentError(f"the names of its fields have more than {_LONGEST_NAMES:,} characters")
            if isinstance(value, dict):
                add(value, name + ".")
            elif isinstance(value, list) and not all(isinstance(item, str) for item in value):
                found[name] = json.dumps(value, ensure_ascii=False)
            elif isinstance(value, int) and value not in _INT64:
                found[name] = str(value)
            elif value is not None:
                found[name] = value

    add(record, "")
    return found
