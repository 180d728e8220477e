"""Writes a table of the duplicates, each with the row that is kept instead."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from simdoc_search.dedupe.arrow_files import ParquetBatchWriter
from simdoc_search.dedupe.descriptions import DuplicateDescriptions
from simdoc_search.dedupe.formats import compressed, import_pyarrow, is_tsv, require_format
from simdoc_search.dedupe.grouping import KINDS
from simdoc_search.dedupe.output import convert_write_errors
from simdoc_search.dedupe.text_writer import csv_lines
from simdoc_search.durable import atomic_file, check_output_folder
from simdoc_search.errors import CorpusError

_PAIRS_AT_ONCE = 1 << 14


def check_pair_file(path: Path) -> None:
    """Raise a CorpusError if pairs cannot be written to a file, because of its format or its folder."""
    if require_format(path).format == "arrow":
        raise CorpusError(f"cannot write pairs to {path}; use .parquet, .jsonl or .csv")
    check_output_folder(path)


def write_pairs(path: Path, descriptions: DuplicateDescriptions) -> int:
    """Write all duplicates as Parquet, JSONL or CSV, by the extension of the file. Returns their number.

    The columns are `row`, `duplicate_of`, `overlap` and `kind`. If the rows were also compared with an older dataset,
    the column `kept_row_is_old` says whether the kept row belongs to it. Rows are named by id, or by number.
    """
    duplicates = descriptions.groups.duplicates
    file_format, delimiter = require_format(path), "\t" if is_tsv(path) else ","
    names = ["row", "duplicate_of", "overlap", "kind", *(["kept_row_is_old"] if descriptions.old_row_count else [])]
    with convert_write_errors(path), atomic_file(path) as file, compressed(file, file_format.compression) as stream:
        if file_format.format == "parquet":
            pa = import_pyarrow()
            parts = [pa.table(_columns(part, names)) for part in _pair_lists(duplicates, descriptions)]
            empty: dict[str, list[Any]] = {name: [] for name in names}
            table = pa.concat_tables(parts, promote_options="default") if parts else pa.table(empty)
            writer = ParquetBatchWriter(stream, table.schema, "SNAPPY", _PAIRS_AT_ONCE)
            for batch in table.to_batches():
                writer.write(batch)
            writer.close()
            return len(duplicates)
        if file_format.format == "csv":
            stream.write(csv_lines([names], delimiter))
        for part in _pair_lists(duplicates, descriptions):
            if file_format.format == "csv":
                stream.write(csv_lines(part, delimiter))
            else:
                lines = (json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) for row in part)
                stream.write("".join(f"{line}\n" for line in lines).encode())
    return len(duplicates)


def _pair_lists(duplicates: Any, descriptions: DuplicateDescriptions) -> Iterator[list[list[Any]]]:
    groups = descriptions.groups
    for begin in range(0, len(duplicates), _PAIRS_AT_ONCE):
        rows = []
        for row in duplicates[begin : begin + _PAIRS_AT_ONCE].tolist():
            kept = int(groups.kept_rows[row])
            values = [descriptions.name_of(row), descriptions.name_of(kept), descriptions.overlap_of(row)]
            old = [kept < descriptions.old_row_count] if descriptions.old_row_count else []
            rows.append([*values, KINDS[int(groups.kinds[row])], *old])
        yield rows


def _columns(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> dict[str, list[Any]]:
    return {name: list(values) for name, values in zip(names, zip(*rows, strict=True), strict=True)}
