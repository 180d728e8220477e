"""Converts rows to the format of the output, which its file extension decides.

Rows are converted as Arrow record batches. All rows are checked before they are compared, so that a value that the
output cannot hold is reported immediately.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from simdoc_search.dedupe.arrow_files import ArrowShard, ParquetBatchWriter, append_fields, ipc_writer
from simdoc_search.dedupe.formats import (
    FileFormat,
    FormatAndCompression,
    compressed,
    import_pyarrow,
    is_tsv,
    require_format,
)
from simdoc_search.dedupe.records import CsvShard, JsonlShard
from simdoc_search.dedupe.shards import Shard
from simdoc_search.dedupe.text_writer import TextBatchWriter, check_text_type, is_json_type
from simdoc_search.errors import CorpusError

_FORMAT_NAMES: dict[FileFormat, str] = {"parquet": "Parquet", "jsonl": "JSONL", "csv": "CSV", "arrow": "Arrow"}
_ROW_GROUP_SIZE = 1 << 17
_MAX_NAMED_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Conversion:
    """How the rows of a shard become rows of another format.

    `schema` is that of the rows that are read. `note` says what the output cannot hold. It is empty if the output holds
    everything.
    """

    shard: Shard
    file_format: FormatAndCompression
    delimiter: str
    schema: Any
    note: str

    def batches(self) -> Iterator[Any]:
        """Yield all rows as record batches of the schema."""
        pa = import_pyarrow()
        if isinstance(self.shard, ArrowShard):
            yield from self.shard.batches()
            return
        for rows in _row_lists(self.shard):
            yield pa.RecordBatch.from_pylist(rows, self.schema)

    @contextmanager
    def writer(self, file: IO[bytes], added_fields: Sequence[Any]) -> Iterator[Any]:
        """Yield a writer of the output's format. Its method `write` takes record batches.

        `added_fields` are the Arrow fields of the columns that follow the columns of `schema` in each record batch.
        """
        schema = append_fields(self.schema, added_fields)
        if self.file_format.format == "parquet":
            with closing(ParquetBatchWriter(file, schema, "SNAPPY", _ROW_GROUP_SIZE)) as writer:
                yield writer
        elif self.file_format.format == "arrow":
            with ipc_writer(file, schema, is_file=True) as writer:
                yield writer
        else:
            with compressed(file, self.file_format.compression) as stream:
                yield TextBatchWriter(stream, schema, self.delimiter if self.file_format.format == "csv" else None)


def plan_conversion(shard: Shard, target: Path, progress: Callable[[int], None] = lambda _: None) -> Conversion | None:
    """Return how to convert the rows of a shard; None if the output has the same format.

    All rows of a JSONL or CSV file are read to find their types. The extension of `target` decides the format of the
    output.

    Raises:
        CorpusError: the extension is not known, or the format of the output cannot hold the rows.
    """
    file_format, delimiter = require_format(target), "\t" if is_tsv(target) else ","
    source = shard.file_format
    if source.format == file_format.format and (source.format != "csv" or is_tsv(shard.path) == is_tsv(target)):
        return None
    is_text = file_format.format in ("jsonl", "csv")
    if is_text or isinstance(shard, CsvShard):
        _check_names(shard)
    schema = shard.schema if isinstance(shard, ArrowShard) else _read_schema(shard, file_format, progress)
    for field in schema:
        _check_type(field, file_format, shard.path, check_text_type if is_text else _check_parquet_type)
    return Conversion(shard, file_format, delimiter, schema, _describe_losses(shard, schema, file_format))


def _check_names(shard: Shard) -> None:
    repeated = [name for name in shard.columns if shard.columns.count(name) > 1]
    if repeated:
        raise CorpusError(f"{shard.path} has several columns named {repeated[0]!r}; rename all but one")


def _read_schema(
    shard: JsonlShard | CsvShard, file_format: FormatAndCompression, progress: Callable[[int], None]
) -> Any:
    """Return the Arrow schema of all rows. The columns of a CSV file are strings, because CSV has no types."""
    pa = import_pyarrow()
    if isinstance(shard, CsvShard):
        for _ in _row_lists(shard, progress):
            pass
        return pa.schema([(name, pa.string()) for name in shard.columns])
    schema, has_changed_type = pa.schema([]), False
    for rows in _row_lists(shard, progress):
        for name in dict.fromkeys(name for row in rows for name in row):
            field = pa.schema([(name, _infer_type([row.get(name) for row in rows], name, shard, file_format))])
            old_type = schema.field(name).type if name in schema.names else pa.null()
            try:
                schema = pa.unify_schemas([schema, field], promote_options="permissive")
            except pa.ArrowException:
                raise _mixed_types_error(name, shard, file_format) from None
            has_changed_type |= old_type not in (pa.null(), schema.field(name).type)
    if has_changed_type:  # check all values again: an integer may be too large for a column of floats
        for rows in _row_lists(shard, progress):
            for name in schema.names:
                _infer_type([row.get(name) for row in rows], name, shard, file_format, schema.field(name).type)
    return schema


def _infer_type(
    values: list[Any], name: str, shard: JsonlShard, file_format: FormatAndCompression, known_type: Any | None = None
) -> Any:
    """Return the type of values. Check that they fit into the known type, if there is one."""
    pa = import_pyarrow()
    try:
        return pa.array(values, known_type).type
    except OverflowError:
        reason = f"has an integer of more than 64 bits in the field {name!r}"
    except UnicodeEncodeError:
        reason = f"has an unpaired surrogate, which is not a character, in the field {name!r}"
    except pa.ArrowException:
        raise _mixed_types_error(name, shard, file_format) from None
    raise CorpusError(
        f"{shard.path} {reason}, which {_FORMAT_NAMES[file_format.format]} cannot hold; write a .jsonl file"
    )


def _mixed_types_error(name: str, shard: JsonlShard, file_format: FormatAndCompression) -> CorpusError:
    format_name = _FORMAT_NAMES[file_format.format]
    return CorpusError(
        f"the field {name!r} of {shard.path} has values of different types, which a column of {format_name} cannot "
        "hold; write a .jsonl file"
    )


def _row_lists(
    shard: JsonlShard | CsvShard, progress: Callable[[int], None] = lambda _: None
) -> Iterator[list[dict[str, Any]]]:
    begin = 0
    for records in shard.record_lists():
        rows = shard.parse(records)
        for number, row in enumerate(rows, begin):
            if not isinstance(row, dict):
                raise CorpusError(
                    f"row {number:,} of {shard.path} cannot be parsed, so it cannot be converted; correct the row, or "
                    "write a file in the format of the input"
                )
        yield rows
        begin += len(rows)
        progress(begin)


def _check_type(field: Any, file_format: FormatAndCompression, path: Path, check: Callable[[Any], None]) -> None:
    pa = import_pyarrow()
    try:
        check(field.type)
    except (pa.ArrowException, TypeError):
        format_name = _FORMAT_NAMES[file_format.format]
        raise CorpusError(
            f"{format_name} cannot hold the column {field.name!r} of {path}, which has the type {field.type}; remove "
            "the column, or write a file in the format of the input"
        ) from None


def _check_parquet_type(arrow_type: Any) -> None:
    pa = import_pyarrow()
    schema = pa.schema([("column", arrow_type)])
    writer = ParquetBatchWriter(io.BytesIO(), schema, "NONE", 1)
    writer.write(pa.RecordBatch.from_arrays([pa.nulls(1, arrow_type)], schema=schema))
    writer.close()


def _describe_losses(shard: Shard, schema: Any, file_format: FormatAndCompression) -> str:
    if file_format.format == "csv" and not isinstance(shard, CsvShard):
        return "CSV has no types: numbers, dates and lists become text, and null becomes an empty cell"
    if file_format.format == "jsonl":
        changed = [field for field in schema if not is_json_type(field.type)]
        if changed:
            listed = ", ".join(f"{field.name} ({field.type})" for field in changed[:_MAX_NAMED_COLUMNS])
            more = f" and {len(changed) - _MAX_NAMED_COLUMNS:,} more" if len(changed) > _MAX_NAMED_COLUMNS else ""
            return f"JSONL has no dates, times and decimals, so these columns become text: {listed}{more}"
    return ""
