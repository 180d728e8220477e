"""Chunks of rows that are sent to worker processes, and the values that are read from them."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from simdoc_search.corpus.csv_rows import set_cell_limit
from simdoc_search.corpus.parquet import column_values

MAX_CHUNK_ROWS, MAX_CHUNK_BYTES = 1 << 10, 1 << 20
MAX_TEXT_CHARACTERS = 20_000_000

COMPARED, NO_TEXT, NO_WORDS, NOT_A_STRING, TOO_LONG, NOT_PARSED, NOT_UNICODE = range(7)
PROBLEMS = (
    "",
    "without a text",
    "without words",
    "whose text is not a string",
    f"with a text of more than {MAX_TEXT_CHARACTERS:,} characters",
    "that cannot be parsed",
    "with an unpaired surrogate, which is not a character",
)
"""Why a row is not compared. `NO_TEXT` and the other constants are positions in this tuple. Such a row is kept."""

_NANOSECONDS = {"day": 86_400 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}


@dataclass(frozen=True, slots=True)
class Columns:
    """The names of the columns that a run reads.

    `id` is None to use row numbers. `keep` decides which row is kept. It is None if the rule does not use a column.
    """

    text: str
    id: str | None = None
    keep: str | None = None


@dataclass(slots=True)
class ChunkValues:
    """The values of a chunk. Each list has one value per row.

    A text is None if its row has a problem. `problems` are positions in `PROBLEMS`. `ids` and `keep_values` are empty
    without such a column.
    """

    texts: list[str | None]
    problems: list[int]
    ids: list[Any] = field(default_factory=list)
    keep_values: list[Any] = field(default_factory=list)


class Chunk(Protocol):
    """Some rows of a shard. Chunks can be pickled."""

    def values(self) -> ChunkValues:
        """Return the values of the columns that a run reads."""


@dataclass(frozen=True, slots=True)
class ArrowChunk:
    """Rows of a Parquet or Arrow file: a record batch with the used columns, in the order text, id, keep."""

    batch: Any
    columns: Columns

    def values(self) -> ChunkValues:
        """Return the values of the columns."""
        texts = self.batch.column(0).to_pylist()
        ids = column_values(self.batch.column(1)) if self.columns.id else []
        keep_values = _to_orderable_values(self.batch.column(2 if self.columns.id else 1)) if self.columns.keep else []
        return make_chunk_values(texts, ids, keep_values)


@dataclass(frozen=True, slots=True)
class JsonChunk:
    """Lines of a JSONL file."""

    records: Sequence[bytes]
    columns: Columns

    def values(self) -> ChunkValues:
        """Return the values of the columns."""
        rows = [parse_json(record) for record in self.records]
        return _pick_values(rows, self.columns)


@dataclass(frozen=True, slots=True)
class CsvChunk:
    """Records of a CSV file."""

    records: Sequence[bytes]
    columns: Columns
    header: Sequence[str]
    delimiter: str
    codec: str

    def values(self) -> ChunkValues:
        """Return the values of the columns."""
        rows = parse_csv(self.records, self.header, self.delimiter, self.codec)
        return _pick_values(rows, self.columns)


def rows_with_strings(batch: Any) -> list[dict[str, Any]]:
    """Return the rows of an Arrow batch or table, with only the columns that may contain strings.

    pyarrow cannot convert all dates and times to Python.
    """
    types = [str(field.type) for field in batch.schema]
    has_strings = [number for number, name in enumerate(types) if "string" in name or "extension" in name]
    rows: list[dict[str, Any]] = batch.select(has_strings).to_pylist()
    return rows


def parse_csv(
    records: Sequence[bytes], header: Sequence[str], delimiter: str, codec: str
) -> list[dict[str, str | None] | None]:
    """Parse records. An empty cell is None, and so is a record that cannot be parsed."""
    rows: list[dict[str, str | None] | None] = []
    with set_cell_limit(max(map(len, records), default=0) + 1):
        for record in records:
            try:
                cells, *more = csv.reader([record.decode(codec)], delimiter=delimiter, strict=True)
            except (csv.Error, UnicodeDecodeError, ValueError):
                rows.append(None)
                continue
            is_bad = more or any(cells[len(header) :])
            cells += [""] * (len(header) - len(cells))
            rows.append(None if is_bad else {name: cell or None for name, cell in zip(header, cells, strict=False)})
    return rows


def make_chunk_values(texts: list[Any], ids: list[Any], keep_values: list[Any]) -> ChunkValues:
    """Return the values of a chunk, with the problem of each text."""
    problems = list(map(_find_problem, texts))
    return ChunkValues(
        [None if problem else text for text, problem in zip(texts, problems, strict=True)], problems, ids, keep_values
    )


def _find_problem(text: Any) -> int:
    if text is None:
        return NO_TEXT
    if not isinstance(text, str):
        return NOT_A_STRING
    return TOO_LONG if len(text) > MAX_TEXT_CHARACTERS else COMPARED


def parse_json(record: bytes) -> Any:
    """Return the value of a JSON record; None if it is not JSON."""
    try:
        return json.loads(record)
    except (ValueError, RecursionError):
        return None


def _pick_values(rows: list[Any], columns: Columns) -> ChunkValues:
    is_row = [isinstance(row, dict) for row in rows]
    rows = [row if fits else {} for row, fits in zip(rows, is_row, strict=True)]
    ids = [row.get(columns.id) for row in rows] if columns.id else []
    keep_values = [row.get(columns.keep) for row in rows] if columns.keep else []
    values = make_chunk_values([row.get(columns.text) for row in rows], ids, keep_values)
    for number, text in enumerate(values.texts):
        if not is_row[number]:
            values.problems[number] = NOT_PARSED
        elif text is not None and not text.isascii() and _has_surrogate(text):
            values.texts[number], values.problems[number] = None, NOT_UNICODE
    return values


def _has_surrogate(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


def _to_orderable_values(column: Any) -> list[Any]:
    """Return the values of an Arrow column as numbers or strings. Dates and times become nanoseconds.

    The shards of a dataset may have different units.
    """
    import pyarrow as pa  # noqa: PLC0415 - an optional dependency

    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if pa.types.is_decimal(column.type):
        column = column.cast(pa.float64())
    values: list[Any]
    if pa.types.is_temporal(column.type):
        unit = _NANOSECONDS["day" if pa.types.is_date32(column.type) else getattr(column.type, "unit", "ms")]
        is_short = pa.types.is_date32(column.type) or pa.types.is_time32(column.type)
        values = column.cast(pa.int32() if is_short else pa.int64()).to_pylist()
        return [None if value is None else value * unit for value in values]
    values = column.to_pylist()
    return values
