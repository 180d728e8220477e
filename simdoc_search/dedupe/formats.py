"""File formats of datasets, and their compression."""

from __future__ import annotations

import gzip
import io
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO, Literal, cast

from simdoc_search.errors import CorpusError, MissingExtraError

FileFormat = Literal["parquet", "jsonl", "csv", "arrow"]
Compression = Literal["", "gzip", "zstd"]

_FORMATS: dict[str, FileFormat] = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_COMPRESSIONS: dict[str, Compression] = {".gz": "gzip", ".zst": "zstd"}
_READ_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class FormatAndCompression:
    """The format and the compression of a file, according to its name."""

    format: FileFormat
    compression: Compression = ""


def format_of(path: Path) -> FormatAndCompression | None:
    """Return the format of a file, judging by its extension; None if it is not a format of datasets."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    compression: Compression = _COMPRESSIONS.get(suffixes[-1], "") if suffixes else ""
    kind = _FORMATS.get(suffixes[-2 if compression else -1]) if len(suffixes) > bool(compression) else None
    if kind is None or (compression and kind not in ("jsonl", "csv")):
        return None
    return FormatAndCompression(kind, compression)


def is_tsv(path: Path) -> bool:
    """Return whether the cells of a CSV file are separated by tabs, judging by its extension."""
    return ".tsv" in [suffix.lower() for suffix in path.suffixes]


def require_format(path: Path) -> FormatAndCompression:
    """Return the format of a file.

    Raises:
        CorpusError: the extension does not name a format of datasets.
    """
    file_format = format_of(path)
    if file_format is None:
        raise CorpusError(
            f"cannot tell the format of {path} from its extension; use .parquet, .jsonl, .csv, .tsv or .arrow "
            "(.jsonl and .csv also with .gz or .zst)"
        )
    return file_format


def import_pyarrow() -> Any:
    """Return the module pyarrow.

    Raises:
        MissingExtraError: it is not installed.
    """
    try:
        import pyarrow  # noqa: PLC0415 - an optional dependency
    except ImportError as error:
        raise MissingExtraError("deduplicating a dataset", "datasets") from error
    return pyarrow


@contextmanager
def open_to_read(path: Path, compression: Compression) -> Iterator[BinaryIO]:
    """Open a file, and decompress it if necessary."""
    with path.open("rb", buffering=_READ_BYTES) as file:
        if compression == "gzip":
            with gzip.open(file) as stream:
                yield cast("BinaryIO", stream)
        elif compression == "zstd":
            with import_pyarrow().CompressedInputStream(file, "zstd") as stream:
                yield stream
        else:
            yield file


@contextmanager
def compressed(file: IO[bytes], compression: Compression) -> Iterator[IO[bytes]]:
    """Return a stream that compresses what is written, and writes it to a file."""
    if compression == "gzip":
        with gzip.GzipFile("", "wb", 6, file, mtime=0) as stream:
            yield cast("IO[bytes]", stream)
    elif compression == "zstd":
        with import_pyarrow().CompressedOutputStream(_NonClosingStream(file), "zstd") as stream:
            yield stream
    else:
        yield file


class _NonClosingStream(io.RawIOBase):
    """Writes to a file, but does not close the file. pyarrow would close it."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        return self._file.write(data)
