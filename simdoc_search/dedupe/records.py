"""Raw records of JSONL and CSV files. Kept records are copied byte for byte."""

from __future__ import annotations

import codecs
import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from simdoc_search.corpus.csv_rows import choose_delimiter, set_cell_limit
from simdoc_search.corpus.encoding import detect_codec
from simdoc_search.dedupe.chunks import (
    MAX_CHUNK_BYTES,
    MAX_CHUNK_ROWS,
    Chunk,
    Columns,
    CsvChunk,
    JsonChunk,
    parse_csv,
    parse_json,
)
from simdoc_search.dedupe.formats import FormatAndCompression, is_tsv, open_to_read
from simdoc_search.dedupe.text_writer import format_csv_rows
from simdoc_search.errors import CorpusError

_BLOCK_BYTES = 1 << 20
_MAX_RECORD_BYTES = 1 << 30
_NEWLINE, _QUOTE = 10, 34
_SAMPLE_ROWS = 1000


@dataclass(frozen=True)
class JsonlShard:
    """A JSONL file. A record is a line that is not blank."""

    path: Path
    name: str
    file_format: FormatAndCompression

    @cached_property
    def columns(self) -> list[str]:
        """The names of the fields of the first rows."""
        return list(dict.fromkeys(name for row in self.sample() for name in row))

    def sample(self) -> list[dict[str, Any]]:
        """Return the first rows that can be parsed."""
        rows: list[dict[str, Any]] = []
        for records in self.record_lists():
            for record in records[:_SAMPLE_ROWS]:
                if not rows and record.lstrip()[:1] == b"[":
                    raise CorpusError(f"{self.path} contains a JSON array; write one JSON object per line")
                row = parse_json(record)
                rows += [row] if isinstance(row, dict) else []
            break
        return rows

    def record_lists(self) -> Iterator[list[bytes]]:
        """Yield all records, in lists. A record does not include its newline."""
        with open_to_read(self.path, self.file_format.compression) as stream:
            for block in _read_blocks(stream, self.path, quotes=False):
                yield from _split_record_list([line for line in block.split(b"\n") if line and not line.isspace()])

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        """Yield all rows except the first `skip` rows."""
        for records in _skip_records(self.record_lists(), skip):
            yield JsonChunk(records, columns)

    def parse(self, records: Sequence[bytes]) -> list[Any]:
        """Return the JSON value of each record; None for a record that is not JSON."""
        return list(map(parse_json, records))

    def append_values(self, record: bytes, values: dict[str, Any]) -> bytes:
        """Return a record with additional fields."""
        body = record.rstrip()
        if not values or not (body.startswith(b"{") and body.endswith(b"}")):
            return record
        more = json.dumps(values, ensure_ascii=False)[1:]
        return body[:-1].rstrip() + (b"" if body[1:-1].isspace() or body == b"{}" else b", ") + more.encode()

    def header_with(self, names: Sequence[str]) -> bytes:  # noqa: ARG002 - only CSV files have a header
        """Return an empty header, because JSONL has no header."""
        return b""


@dataclass(frozen=True)
class CsvShard:
    """A CSV or TSV file with a header. A record may have several lines if its cells are quoted."""

    path: Path
    name: str
    file_format: FormatAndCompression

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._header[1]

    @cached_property
    def _header(self) -> tuple[bytes, list[str], str, str]:
        """The bytes of the header, the names of the columns, the delimiter, and the codec."""
        codec = self._find_codec()
        records = next(self._all_record_lists(), [])
        if not records:
            raise CorpusError(f"{self.path} is empty; its first line must contain the column names")
        text = records[0].decode(codec, "replace").removeprefix("\ufeff")
        delimiter = "\t" if is_tsv(self.path) else choose_delimiter(text)
        names = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [])
        return records[0], names, delimiter, codec

    def parse(self, records: Sequence[bytes]) -> list[Any]:
        """Return the row of each record; None for a record that cannot be parsed."""
        return [*parse_csv(records, *self._header[1:])]

    def _find_codec(self) -> str:
        with open_to_read(self.path, self.file_format.compression) as stream:
            head = stream.read(_BLOCK_BYTES)
            if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
                raise CorpusError(f"{self.path} is in UTF-16; convert it to UTF-8 first")
            try:
                codecs.getincrementaldecoder("utf-8")().decode(head)
            except UnicodeDecodeError:
                if self.file_format.compression:
                    return "utf-8"
                stream.seek(0)
                return detect_codec(stream) or "utf-8"
        return "utf-8"

    def sample(self) -> list[dict[str, Any]]:
        """Return the first rows that can be parsed."""
        records = next(self.record_lists(), [])[:_SAMPLE_ROWS]
        return [row for row in self.parse(records) if row is not None]

    def _all_record_lists(self) -> Iterator[list[bytes]]:
        with open_to_read(self.path, self.file_format.compression) as stream:
            for block in _read_blocks(stream, self.path, quotes=True):
                yield from _split_record_list([record for record in _split_csv(block) if record.strip(b"\r\n")])

    def record_lists(self) -> Iterator[list[bytes]]:
        """Yield all records except the header, in lists. A record includes its line ending."""
        is_first = True
        for records in self._all_record_lists():
            if records[is_first:]:
                yield records[is_first:]
            is_first = False

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        """Yield all rows except the first `skip` rows."""
        _, names, delimiter, codec = self._header
        for records in _skip_records(self.record_lists(), skip):
            yield CsvChunk(records, columns, names, delimiter, codec)

    def append_values(self, record: bytes, values: dict[str, Any]) -> bytes:
        """Return a record with additional cells. If the record has too few cells, empty ones are added first."""
        if not values:
            return record.rstrip(b"\r\n") + self._line_end
        _, names, delimiter, codec = self._header
        body = record.rstrip(b"\r\n")
        with set_cell_limit(len(record) + 1):
            try:
                cells = len(next(csv.reader([body.decode(codec, "replace")], delimiter=delimiter)))
            except csv.Error:
                cells = len(names)
        body += (delimiter * max(0, len(names) - cells)).encode()
        return body + self._format_cells(list(values.values())) + self._line_end

    def header_with(self, names: Sequence[str]) -> bytes:
        """Return the header of the output, with additional columns."""
        header = self._header[0].rstrip(b"\r\n")
        return header + (self._format_cells(list(names)) if names else b"") + self._line_end

    def _format_cells(self, cells: list[Any]) -> bytes:
        _, _, delimiter, codec = self._header
        [line] = format_csv_rows([["", *cells]], delimiter)
        return line.encode(codec, "replace")

    @property
    def _line_end(self) -> bytes:
        return b"\r\n" if self._header[0].endswith(b"\r\n") else b"\n"


def write_records(shard: JsonlShard | CsvShard, file: IO[bytes], records: Sequence[bytes]) -> None:
    """Write records. JSONL records get a newline. CSV records already have one."""
    if isinstance(shard, JsonlShard):
        file.writelines(record + b"\n" for record in records)
    else:
        file.writelines(records)


def _read_blocks(stream: BinaryIO, path: Path, *, quotes: bool) -> Iterator[bytes]:
    """Yield blocks that end at the end of a record. With `quotes`, a newline inside quotes does not end a record."""
    pending: list[bytes] = []
    size, is_quoted = 0, False
    try:
        while block := stream.read(_BLOCK_BYTES):
            end = _last_record_end(block, is_quoted) if quotes else block.rfind(b"\n") + 1
            if quotes:
                is_quoted ^= bool(block.count(b'"') & 1)
            if end:
                yield b"".join((*pending, block[:end]))
                pending, size = [], 0
            pending.append(block[end:])
            size += len(block) - end
            if size > _MAX_RECORD_BYTES:
                advice = "check that each quote is closed" if quotes else "check that each line is one JSON object"
                raise CorpusError(f"{path} has a record of more than {_MAX_RECORD_BYTES:,} bytes; {advice}")
    except (OSError, EOFError, ValueError) as error:
        raise CorpusError(f"{path} cannot be read to the end ({error}); check the file") from error
    if rest := b"".join(pending):
        yield rest


def _last_record_end(block: bytes, is_quoted: bool) -> int:
    """Return the position after the last newline of a block that is outside quotes; 0 if there is none."""
    ends = _record_ends(block, is_quoted)
    return int(ends[-1]) + 1 if len(ends) else 0


def _record_ends(block: bytes, is_quoted: bool) -> Any:
    """Return the positions of the newlines outside quotes. A doubled quote inside quotes changes nothing."""
    units = np.frombuffer(block, np.uint8)
    newlines = np.flatnonzero(units == _NEWLINE)
    quotes_before = np.searchsorted(np.flatnonzero(units == _QUOTE), newlines)
    return newlines[(quotes_before + is_quoted) % 2 == 0]


def _split_csv(block: bytes) -> Iterator[bytes]:
    """Yield the records of a block that begins outside quotes. The last one may have no newline."""
    begin = 0
    for end in (_record_ends(block, False) + 1).tolist():
        yield block[begin:end]
        begin = end
    if begin < len(block):
        yield block[begin:] + (b"" if block.endswith(b"\n") else b"\n")


def _split_record_list(records: list[bytes]) -> Iterator[list[bytes]]:
    """Cut a list of records into lists that are limited by number and size."""
    begin = size = 0
    for number, record in enumerate(records):
        size += len(record)
        if size >= MAX_CHUNK_BYTES or number + 1 - begin >= MAX_CHUNK_ROWS:
            yield records[begin : number + 1]
            begin, size = number + 1, 0
    if begin < len(records):
        yield records[begin:]


def _skip_records(lists: Iterator[list[bytes]], skip: int) -> Iterator[list[bytes]]:
    for records in lists:
        if skip < len(records):
            yield records[skip:]
        skip = max(0, skip - len(records))
