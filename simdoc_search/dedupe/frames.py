"""Reads and selects the rows of tables, data frames and lists.

pandas, polars and Hugging Face `datasets` are not imported. The type of an object determines which methods are called.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from simdoc_search.dedupe.arrow_files import ArrowShard, append_fields, ipc_writer
from simdoc_search.dedupe.chunks import (
    MAX_CHUNK_ROWS,
    ArrowChunk,
    Chunk,
    ChunkValues,
    Columns,
    make_chunk_values,
    rows_with_strings,
)
from simdoc_search.dedupe.formats import FormatAndCompression, import_pyarrow
from simdoc_search.dedupe.grouping import KEPT
from simdoc_search.dedupe.output import Selection, select_batches
from simdoc_search.errors import CorpusError

_SAMPLE_ROWS = 1000


@dataclass(frozen=True, slots=True)
class ValuesChunk:
    """A chunk of rows whose values are Python objects."""

    texts: list[Any]
    ids: list[Any] = field(default_factory=list)
    keep_values: list[Any] = field(default_factory=list)

    def values(self) -> ChunkValues:
        """Return the values of the columns."""
        return make_chunk_values(self.texts, self.ids, self.keep_values)


class Frame(Protocol):
    """Reads the rows of an object, and makes an object of the same type."""

    path: Path
    name: str
    columns: list[str]

    def sample(self) -> list[dict[str, Any]]:
        """Return the first rows."""

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        """Yield all rows except the first `skip` rows."""

    def select(self, selection: Selection) -> Any:
        """Return the kept rows, or all rows with additional columns."""


def wrap_data(data: Any) -> Frame:
    """Return an object that reads the rows of data in memory.

    Raises:
        CorpusError: the type of the data is not supported.
    """
    pa = import_pyarrow()
    if isinstance(data, pa.Table | pa.RecordBatch):
        return _ArrowFrame(data)
    if isinstance(data, pa.RecordBatchReader):
        return _ReaderFrame(data)
    package = type(data).__module__.partition(".")[0]
    kind = type(data).__name__
    if (package, kind) in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("datasets", "Dataset")):
        return {"pandas": _PandasFrame, "polars": _PolarsFrame, "datasets": _HuggingFaceFrame}[package](data)
    if hasattr(data, "__arrow_c_stream__"):
        return _ArrowFrame(pa.table(data))
    if isinstance(data, str | bytes | dict) or not isinstance(data, Iterable):
        raise CorpusError(
            f"cannot deduplicate a {package}.{kind}; give a pyarrow Table, a DataFrame or a list of dictionaries"
        )
    return _DictFrame(list(data))


class _DataInMemory:
    """The base class of all frames. Messages show `path`, as they do for a dataset in files."""

    path, name = Path("the data"), ""


class _ArrowFrame(_DataInMemory):
    def __init__(self, table: Any) -> None:
        self._table = table
        self.columns = list(table.schema.names)

    def sample(self) -> list[dict[str, Any]]:
        return rows_with_strings(self._table.slice(0, _SAMPLE_ROWS))

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        pa = import_pyarrow()
        names = [name for name in (columns.text, columns.id, columns.keep) if name is not None]
        fields = [self._table.column(name) for name in names]
        table = pa.Table.from_arrays(fields, [str(number) for number in range(len(names))])
        for batch in table.slice(skip).to_batches(max_chunksize=MAX_CHUNK_ROWS):
            yield ArrowChunk(batch, columns)

    def select(self, selection: Selection) -> Any:
        pa = import_pyarrow()
        is_table = isinstance(self._table, pa.Table)
        batches = self._table.to_batches() if is_table else [self._table]
        fields = selection.arrow_fields(self._table.schema)
        selected = list(select_batches(iter(batches), fields, 0, selection))
        if not is_table and len(selected) == 1:
            return selected[0]
        return pa.Table.from_batches(selected, append_fields(self._table.schema, fields))


class _ReaderFrame(_DataInMemory):
    """A stream of record batches. It is stored in a temporary file, because it is read twice."""

    def __init__(self, reader: Any) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="simdoc-")
        path = Path(self._folder.name, "rows.arrow")
        with path.open("wb") as file, ipc_writer(file, reader.schema, is_file=False) as writer:
            for batch in reader:
                writer.write(batch)
        self._shard = ArrowShard(path, "", FormatAndCompression("arrow"))
        self.columns = self._shard.columns

    def sample(self) -> list[dict[str, Any]]:
        return self._shard.sample()

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        return self._shard.chunks(columns, skip)

    def select(self, selection: Selection) -> Any:
        pa = import_pyarrow()
        fields = selection.arrow_fields(self._shard.schema)
        schema = append_fields(self._shard.schema, fields)
        if selection.descriptions:  # the descriptions read files that are removed when `deduplicate` returns
            with self._folder:
                table = pa.Table.from_batches(select_batches(self._shard.batches(), fields, 0, selection), schema)
            return table.to_reader()

        def read(folder: Any) -> Iterator[Any]:
            with folder:
                yield from select_batches(self._shard.batches(), fields, 0, selection)

        return pa.RecordBatchReader.from_batches(schema, read(self._folder))


class _RowFrame(_DataInMemory):
    """An object whose columns are read as lists."""

    columns: list[str]

    def _values(self, name: str) -> list[Any]:
        raise NotImplementedError

    def select(self, selection: Selection) -> Any:
        raise NotImplementedError

    def sample(self) -> list[dict[str, Any]]:
        columns = [self._values(name)[:_SAMPLE_ROWS] for name in self.columns]
        return [dict(zip(self.columns, row, strict=True)) for row in zip(*columns, strict=True)]

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        texts, ids, keep_values = (
            self._values(name) if name else [] for name in (columns.text, columns.id, columns.keep)
        )
        for begin in range(skip, len(texts), MAX_CHUNK_ROWS):
            part = slice(begin, begin + MAX_CHUNK_ROWS)
            yield ValuesChunk(texts[part], ids[part], list(map(_to_orderable, keep_values[part])))


class _PandasFrame(_RowFrame):
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.columns = [str(name) for name in frame.columns]

    def _values(self, name: str) -> list[Any]:
        column = self._frame[name]
        values: list[Any] = column.astype(object).where(column.notna(), None).tolist()
        return values

    def select(self, selection: Selection) -> Any:
        if columns := selection.added_values():
            return self._frame.assign(**columns)
        return self._frame[selection.groups.kinds == KEPT]


class _PolarsFrame(_RowFrame):
    def __init__(self, frame: Any) -> None:
        self._frame = frame
        self.columns = list(frame.columns)

    def _values(self, name: str) -> list[Any]:
        values: list[Any] = self._frame[name].to_list()
        return values

    def select(self, selection: Selection) -> Any:
        if columns := selection.added_values():
            added = type(self._frame)(columns, strict=False)
            return self._frame.hstack(added)
        return self._frame.filter((selection.groups.kinds == KEPT).tolist())


class _HuggingFaceFrame(_RowFrame):
    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self.columns = list(dataset.column_names)

    def _values(self, name: str) -> list[Any]:
        return list(self._dataset[name])

    def select(self, selection: Selection) -> Any:
        if columns := selection.added_values():
            dataset = self._dataset
            for name, values in columns.items():
                dataset = dataset.add_column(name, values)
            return dataset
        return self._dataset.select(np.flatnonzero(selection.groups.kinds == KEPT).tolist())


class _DictFrame(_RowFrame):
    def __init__(self, rows: Sequence[dict[str, Any]]) -> None:
        self._rows = rows
        self.columns = list(dict.fromkeys(name for row in islice(rows, _SAMPLE_ROWS) for name in row))

    def _values(self, name: str) -> list[Any]:
        return [row.get(name) for row in self._rows]

    def sample(self) -> list[dict[str, Any]]:
        return list(self._rows[:_SAMPLE_ROWS])

    def select(self, selection: Selection) -> Any:
        if columns := selection.added_values():
            added = zip(*columns.values(), strict=True)
            return [
                {**row, **dict(zip(columns, values, strict=True))}
                for row, values in zip(self._rows, added, strict=True)
            ]
        is_kept = (selection.groups.kinds == KEPT).tolist()
        return [row for row, kept in zip(self._rows, is_kept, strict=True) if kept]


def _to_orderable(value: Any) -> Any:
    """Return dates and times as strings, which have the same order."""
    return value.isoformat() if hasattr(value, "isoformat") else value
