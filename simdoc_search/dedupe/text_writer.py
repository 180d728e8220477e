"""Writes Arrow record batches as JSONL or CSV."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterable, Sequence
from typing import IO, Any

from simdoc_search.dedupe.formats import import_pyarrow


class TextBatchWriter:
    """Writes record batches as JSONL or CSV.

    Dates, times and decimals become strings. In JSONL, NaN and infinite numbers become null. In CSV, null becomes an
    empty cell, and a list becomes JSON. The rows are written as JSONL if `delimiter` is None.
    """

    def __init__(self, file: IO[bytes], schema: Any, delimiter: str | None) -> None:
        self._file = file
        self._names = list(schema.names)
        self._types = [_text_type(field.type) for field in schema]
        self._delimiter = delimiter
        if delimiter is not None:
            self._file.write(csv_lines([self._names], delimiter))

    def write(self, batch: Any) -> None:
        """Write some rows."""
        columns = [
            _cast(column, text_type).to_pylist() for column, text_type in zip(batch.columns, self._types, strict=True)
        ]
        rows = zip(*columns, strict=True)
        if self._delimiter is not None:
            self._file.write(csv_lines(([_to_cell(value) for value in row] for row in rows), self._delimiter))
        else:
            lines = (_to_json(dict(zip(self._names, row, strict=True))) for row in rows)
            self._file.write("".join(f"{line}\n" for line in lines).encode())


def csv_lines(rows: Iterable[Sequence[Any]], delimiter: str) -> bytes:
    """Return rows as lines of CSV."""
    return "".join(f"{line}\n" for line in format_csv_rows(rows, delimiter)).encode()


def format_csv_rows(rows: Iterable[Sequence[Any]], delimiter: str) -> list[str]:
    """Return the rows of CSV without their line ends."""
    lines = _Lines()
    # The writer quotes a cell with a line end only if the line end is in `lineterminator`.
    csv.writer(lines, delimiter=delimiter, lineterminator="\r\n").writerows(rows)
    return [line.removesuffix("\r\n") for line in lines]


class _Lines(list[str]):
    def write(self, line: str) -> None:
        self.append(line)


def check_text_type(arrow_type: Any) -> None:
    """Raise a TypeError or an ArrowException if values of a type cannot be written as text."""
    _cast(import_pyarrow().nulls(1, arrow_type), _text_type(arrow_type)).to_pylist()


def is_json_type(arrow_type: Any) -> bool:
    """Return whether JSON has a type for the values of an Arrow type. It has none for dates, times and decimals."""
    types, arrow_type = import_pyarrow().types, _unwrap(arrow_type)
    if types.is_nested(arrow_type):
        return all(is_json_type(arrow_type.field(place).type) for place in range(arrow_type.num_fields))
    return not (types.is_temporal(arrow_type) or types.is_decimal(arrow_type))


def _text_type(arrow_type: Any) -> Any:
    """Return the type to which values are converted before they are written as text."""
    pa, arrow_type = import_pyarrow(), _unwrap(arrow_type)
    types = pa.types
    if types.is_nested(arrow_type):
        return _nested_text_type(arrow_type)
    if types.is_temporal(arrow_type) or types.is_decimal(arrow_type):
        return pa.string()
    if types.is_float16(arrow_type):
        return pa.float32()
    held = (types.is_string, types.is_large_string, types.is_string_view, types.is_primitive, types.is_null)
    if any(is_held(arrow_type) for is_held in held):
        return arrow_type
    raise TypeError(f"{arrow_type} has no text form")


def _nested_text_type(arrow_type: Any) -> Any:
    pa = import_pyarrow()
    if pa.types.is_struct(arrow_type):
        return pa.struct([pa.field(field.name, _text_type(field.type)) for field in arrow_type])
    if pa.types.is_map(arrow_type):
        return pa.map_(_text_type(arrow_type.key_type), _text_type(arrow_type.item_type))
    if pa.types.is_union(arrow_type):
        raise TypeError(f"{arrow_type} has no text form")
    make = pa.large_list if pa.types.is_large_list(arrow_type) else pa.list_
    return make(_text_type(arrow_type.value_type))


def _unwrap(arrow_type: Any) -> Any:
    """Return the type of the values of an extension type or a dictionary type."""
    pa = import_pyarrow()
    while isinstance(arrow_type, pa.BaseExtensionType) or pa.types.is_dictionary(arrow_type):
        is_dictionary = pa.types.is_dictionary(arrow_type)
        arrow_type = arrow_type.value_type if is_dictionary else arrow_type.storage_type
    return arrow_type


def _cast(column: Any, arrow_type: Any) -> Any:
    return column if column.type == arrow_type else column.cast(arrow_type)


def _to_cell(value: Any) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _to_json(row: dict[str, Any]) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, allow_nan=False)
    except ValueError:
        return json.dumps(_replace_nan(row), ensure_ascii=False)


def _replace_nan(value: Any) -> Any:
    """Return the value with null instead of NaN and infinite numbers, which JSON does not have."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _replace_nan(item) for name, item in value.items()}
    return list(map(_replace_nan, value)) if isinstance(value, list | tuple) else value
