"""Reads and writes Parquet and Arrow IPC files, a few rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

from simdoc_search.dedupe.chunks import MAX_CHUNK_BYTES, MAX_CHUNK_ROWS, ArrowChunk, Chunk, Columns, rows_with_strings
from simdoc_search.dedupe.formats import FormatAndCompression, import_pyarrow
from simdoc_search.errors import CorpusError

_SAMPLE_ROWS = 1000
_BATCH_BYTES = 16_000_000
_MAX_BATCH_ROWS = 1 << 14
_MAX_ROW_GROUP_BYTES = 64_000_000
_BUFFER_BYTES = 1 << 20
_ARROW_MAGIC = b"ARROW1"


@dataclass(frozen=True)
class ArrowShard:
    """A Parquet file, an Arrow IPC file or an Arrow IPC stream."""

    path: Path
    name: str
    file_format: FormatAndCompression

    @cached_property
    def schema(self) -> Any:
        """The Arrow schema, with its metadata."""
        with self._convert_read_errors():
            if self.file_format.format == "parquet":
                with self._parquet() as file:
                    return file.schema_arrow
            with self._ipc() as reader:
                return reader.schema

    @cached_property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema.names)

    @cached_property
    def row_count(self) -> int | None:
        """The number of rows; None if it is unknown until the file is read."""
        if self.file_format.format != "parquet":
            return None
        with self._convert_read_errors(), self._parquet() as file:
            return int(file.metadata.num_rows)

    def sample(self) -> list[dict[str, Any]]:
        """Return the first rows."""
        for batch in self.batches():
            return rows_with_strings(batch.slice(0, _SAMPLE_ROWS))
        return []

    def chunks(self, columns: Columns, skip: int) -> Iterator[Chunk]:
        """Yield all rows except the first `skip` rows."""
        names = [name for name in (columns.text, columns.id, columns.keep) if name is not None]
        for batch in self.batches(names, skip):
            step = MAX_CHUNK_ROWS
            while step > 1 and batch.nbytes * step > MAX_CHUNK_BYTES * 2 * len(batch):
                step //= 2
            for begin in range(0, len(batch), step):
                yield ArrowChunk(batch.slice(begin, step), columns)

    def batches(self, names: Sequence[str] | None = None, skip: int = 0) -> Iterator[Any]:
        """Yield all rows except the first `skip` rows, as record batches with some columns or all columns."""
        with self._convert_read_errors():
            all_batches = self._parquet_batches(names, skip) if self._is_parquet else self._ipc_batches(names)
            if not self._is_parquet:
                all_batches = _skip_rows(all_batches, skip)
            for batch in all_batches:
                if len(batch):
                    yield batch

    @property
    def _is_parquet(self) -> bool:
        return self.file_format.format == "parquet"

    def _parquet_batches(self, names: Sequence[str] | None, skip: int) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency

        with self._parquet() as file:
            for group in range(file.num_row_groups):
                metadata = file.metadata.row_group(group)
                if skip >= metadata.num_rows:
                    skip -= metadata.num_rows
                    continue
                row_bytes = metadata.total_byte_size // max(1, metadata.num_rows) + 1
                rows = max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // row_bytes))
                for batch in _skip_rows(file.iter_batches(rows, row_groups=[group], columns=names), skip):
                    yield batch if names is None else _select(pa, batch, names)
                skip = 0

    def _ipc_batches(self, names: Sequence[str] | None) -> Iterator[Any]:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency

        with self._ipc() as reader:
            is_file = hasattr(reader, "num_record_batches")
            batches = map(reader.get_batch, range(reader.num_record_batches)) if is_file else iter(reader)
            for batch in batches:
                rows = max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES // (batch.nbytes // max(1, len(batch)) + 1)))
                for begin in range(0, len(batch), rows):
                    part = batch.slice(begin, rows)
                    yield part if names is None else _select(pa, part, names)

    @contextmanager
    def _parquet(self) -> Iterator[Any]:
        import_pyarrow()
        from pyarrow import parquet  # noqa: PLC0415 - an optional dependency

        with parquet.ParquetFile(self.path, buffer_size=_BUFFER_BYTES) as file:
            yield file

    @contextmanager
    def _ipc(self) -> Iterator[Any]:
        pa = import_pyarrow()
        with pa.memory_map(str(self.path)) as source:
            reader = pa.ipc.open_file(source) if self.is_ipc_file else pa.ipc.open_stream(source)
            with reader:
                yield reader

    @cached_property
    def is_ipc_file(self) -> bool:
        """Whether the file is an IPC file, not an IPC stream."""
        with self.path.open("rb") as file:
            return file.read(len(_ARROW_MAGIC)) == _ARROW_MAGIC

    @contextmanager
    def _convert_read_errors(self) -> Iterator[None]:
        from pyarrow import ArrowException  # noqa: PLC0415 - an optional dependency

        try:
            yield
        except (ArrowException, OSError, KeyError) as error:
            reason = " ".join(str(error).split())[:200]
            raise CorpusError(f"{self.path} cannot be read ({reason}); check the file") from error

    @contextmanager
    def writer(self, file: IO[bytes], added_fields: Sequence[Any]) -> Iterator[Any]:
        """Yield a writer of the format of this shard. Its method `write` takes record batches.

        `added_fields` are the Arrow fields of the columns that follow the columns of this shard in each record batch.
        """
        schema = append_fields(self.schema, added_fields)
        if self._is_parquet:
            with self._parquet() as source:
                metadata = source.metadata
                groups = metadata.num_row_groups
                has_columns = groups and metadata.num_columns
                compression = metadata.row_group(0).column(0).compression if has_columns else "SNAPPY"
                row_group_size = max(1, -(-metadata.num_rows // max(1, groups)))
            with closing(ParquetBatchWriter(file, schema, compression, row_group_size)) as writer:
                yield writer
        else:
            with ipc_writer(file, schema, is_file=self.is_ipc_file) as writer:
                yield writer


def append_fields(schema: Any, fields: Sequence[Any]) -> Any:
    """Return an Arrow schema with more fields at its end."""
    for field in fields:
        schema = schema.append(field)
    return schema


class ParquetBatchWriter:
    """Writes record batches to a Parquet file, in row groups of about a given number of rows."""

    def __init__(self, file: IO[bytes], schema: Any, compression: str, row_group_size: int) -> None:
        from pyarrow import parquet  # noqa: PLC0415 - an optional dependency

        codec = "NONE" if compression == "UNCOMPRESSED" else compression
        self._writer = parquet.ParquetWriter(file, schema, compression=codec)
        self._schema = schema
        self._row_group_size = row_group_size
        self._pending: list[Any] = []
        self._rows = self._bytes = 0

    def write(self, batch: Any) -> None:
        """Write some rows."""
        self._pending.append(batch)
        self._rows += len(batch)
        self._bytes += batch.nbytes
        if self._rows >= self._row_group_size or self._bytes >= _MAX_ROW_GROUP_BYTES:
            self._flush()

    def close(self) -> None:
        """Write the remaining rows, and the end of the file."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        import pyarrow as pa  # noqa: PLC0415 - an optional dependency

        if self._rows:
            table = pa.Table.from_batches(self._pending, self._schema)
            self._writer.write_table(table, row_group_size=self._rows)
        self._pending, self._rows, self._bytes = [], 0, 0


@contextmanager
def ipc_writer(file: IO[bytes], schema: Any, *, is_file: bool) -> Iterator[Any]:
    """Yield a writer of an Arrow IPC file or stream."""
    pa = import_pyarrow()
    make = pa.ipc.new_file if is_file else pa.ipc.new_stream
    with make(file, schema, options=pa.ipc.IpcWriteOptions(unify_dictionaries=is_file)) as writer:
        yield writer


def _select(pa: Any, batch: Any, names: Sequence[str]) -> Any:
    """Return a batch with the columns `names`, in the order of `names`. A name may occur twice."""
    return pa.RecordBatch.from_arrays([batch.column(name) for name in names], [f"{n}" for n in range(len(names))])


def _skip_rows(batches: Iterator[Any], skip: int) -> Iterator[Any]:
    for batch in batches:
        if skip < len(batch):
            yield batch.slice(skip)
        skip = max(0, skip - len(batch))
