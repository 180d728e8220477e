"""Writes the kept rows of a dataset, or all rows with the columns that describe duplicates."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np

from simdoc_search.dedupe.arrow_files import ArrowShard
from simdoc_search.dedupe.conversion import Conversion
from simdoc_search.dedupe.descriptions import DuplicateDescriptions
from simdoc_search.dedupe.formats import Compression, compressed
from simdoc_search.dedupe.grouping import KEPT, RowGroups
from simdoc_search.dedupe.records import CsvShard, JsonlShard, write_records
from simdoc_search.dedupe.shards import Shard
from simdoc_search.durable import DISK_FULL_ADVICE, atomic_file, is_disk_full
from simdoc_search.errors import CorpusError


@dataclass(frozen=True, slots=True)
class Selection:
    """Which rows to write.

    `groups` has the row that is kept instead of each row. Without `descriptions`, only the kept rows are written.
    """

    groups: RowGroups
    descriptions: DuplicateDescriptions | None
    id_column: str | None

    def has_duplicates(self) -> np.ndarray[Any, Any]:
        """For each row, return whether it is a kept row with duplicates."""
        flags = np.zeros(len(self.groups.kinds), bool)
        flags[self.groups.kept_rows[self.groups.duplicates]] = True
        return flags

    def added_values(self) -> dict[str, list[Any]]:
        """Return the values of the columns to add; empty if only the kept rows are written."""
        if self.descriptions is None:
            return {}
        return self.descriptions.columns(0, len(self.groups.kinds), self.has_duplicates())

    def arrow_fields(self, schema: Any) -> list[Any]:
        """Return the Arrow fields of the columns to add."""
        return self.descriptions.arrow_fields(schema, self.id_column) if self.descriptions else []


def write_shard(
    shard: Shard,
    path: Path,
    begin: int,
    selection: Selection,
    *,
    compression: Compression,
    conversion: Conversion | None = None,
    progress: Callable[[int], None] = lambda _: None,
) -> None:
    """Write a shard. The file is written completely or not at all.

    `begin` is the row number of the shard's first row. `compression` is that of JSONL or CSV output. Without
    `conversion`, the output has the format of the shard.
    """
    with convert_write_errors(path), atomic_file(path) as file:
        source = conversion or shard
        if isinstance(source, Conversion | ArrowShard):
            _write_batches(source, file, begin, selection, progress)
        else:
            with compressed(file, compression) as stream:
                _write_records(source, stream, begin, selection, progress)


@contextmanager
def convert_write_errors(path: Path) -> Iterator[None]:
    """Convert an error of writing a file to a CorpusError."""
    try:
        yield
    except OSError as error:
        advice = DISK_FULL_ADVICE if is_disk_full(error) else "check that the folder exists and is writable"
        raise CorpusError(f"cannot write {path}: {error.strerror or error}; {advice}") from error


def _write_batches(
    source: ArrowShard | Conversion,
    file: IO[bytes],
    begin: int,
    selection: Selection,
    progress: Callable[[int], None],
) -> None:
    fields = selection.arrow_fields(source.schema)
    with source.writer(file, fields) as writer:
        for batch in select_batches(source.batches(), fields, begin, selection, progress):
            writer.write(batch)


def select_batches(
    batches: Iterator[Any],
    fields: Sequence[Any],
    begin: int,
    selection: Selection,
    progress: Callable[[int], None] = lambda _: None,
) -> Iterator[Any]:
    """Yield the kept rows of record batches, or all rows with additional columns.

    `fields` are the Arrow fields of the columns to add. `begin` is the row number of the first row.
    """
    import pyarrow as pa  # noqa: PLC0415 - an optional dependency

    descriptions = selection.descriptions
    flags = selection.has_duplicates() if descriptions else None
    for batch in batches:
        end = begin + len(batch)
        if descriptions and flags is not None:
            values = descriptions.columns(begin, end, flags)
            selected = batch
            for field in fields:
                cells = values[field.name]
                if pa.types.is_string(field.type):
                    cells = [cell if cell is None else str(cell) for cell in cells]
                selected = selected.append_column(field, pa.array(cells, field.type))
        else:
            selected = batch.filter(pa.array(selection.groups.kinds[begin:end] == KEPT))
        if len(selected):
            yield selected
        progress(end - begin)
        begin = end


def _write_records(
    shard: JsonlShard | CsvShard, file: IO[bytes], begin: int, selection: Selection, progress: Callable[[int], None]
) -> None:
    descriptions = selection.descriptions
    if header := shard.header_with(descriptions.column_names if descriptions else []):
        file.write(header)
    flags = selection.has_duplicates() if descriptions else None
    for records in shard.record_lists():
        end = begin + len(records)
        if descriptions and flags is not None:
            values = descriptions.columns(begin, end, flags)
            rows = [dict(zip(values, cells, strict=True)) for cells in zip(*values.values(), strict=True)]
            records = list(map(shard.append_values, records, rows))  # noqa: PLW2901
        else:
            is_kept = selection.groups.kinds[begin:end] == KEPT
            records = [records[place] for place in np.flatnonzero(is_kept).tolist()]  # noqa: PLW2901
        write_records(shard, file, records)
        progress(end - begin)
        begin = end


def copy_other_file(source: Path, target: Path, fingerprint: str) -> None:
    """Copy a file of the folder that is not a shard.

    A file in which Hugging Face `datasets` describes a saved dataset is changed: the dataset gets a new fingerprint,
    which a cache uses to identify the content. Its sizes are removed, because they are no longer correct.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    changes: dict[str, Any] = {}
    if source.name == "state.json":
        changes = {"_fingerprint": fingerprint}
    elif source.name == "dataset_info.json":
        changes = dict.fromkeys(("splits", "dataset_size", "size_in_bytes"))
    try:
        content = json.loads(source.read_bytes()) if changes else None
    except ValueError:
        content = None
    if isinstance(content, dict):
        for name in changes.keys() & content.keys():
            content[name] = changes[name]
        target.write_text(json.dumps(content, indent=2), "utf-8")
    else:
        shutil.copyfile(source, target)
