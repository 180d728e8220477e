"""Reads the columns of documents: path, size, date and metadata. Lists and results show them next to the ids."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.search.stored_texts import add_metadata, read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record, RecordPart

DESCENDING_COLUMNS = frozenset({"date", "overlap", "size"})
"""Columns whose sort order is descending."""

BUILT_IN_COLUMNS = frozenset({"date", "id", "path", "size"})
"""The built-in columns. All other columns are metadata fields."""

_COLUMN_NAME_PATTERN = re.compile(r"[^\s,=][^,=]*")


class Columns:
    """Reads columns of documents.

    `path` is the absolute path of the file that a document was read from. If a document was not read from a file,
    `path` is its metadata field `path`. `size` is the size of the file in bytes. `date` is the UTC time when the
    document was written. It comes from the metadata, otherwise from the name, otherwise from the modification time of
    the file. Any other column is a metadata field, or a field of an index that simdoc-search did not create. Write a
    nested field with dots, such as `author.name`.

    Args:
        names: the names of the columns.

    Raises:
        QuerySyntaxError: a name is malformed.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            if not is_column_name(name):
                raise QuerySyntaxError(
                    f"{name!r} is not a valid column name; use names such as date, size, path or title"
                )
        self.names: tuple[str, ...] = tuple(dict.fromkeys(names))

    def get_values(self, record: Record) -> dict[str, Any]:
        """Return the value of each column for a document. A missing value is None."""
        return {name: _get_value(record, name) for name in self.names}

    def read_values(self, store: Store, keys: Sequence[DocumentKey]) -> dict[DocumentKey, dict[str, Any]]:
        """Return the column values of the documents with these keys. Deleted documents are omitted."""
        if not self.names or not keys:
            return {}
        return {record.key: self.get_values(record) for record in self.read_records(store, keys)}

    def read_records(
        self, store: Store, keys: Sequence[DocumentKey], *, load: Collection[RecordPart] = ()
    ) -> list[Record]:
        """Return the records with these keys and the metadata fields that the columns need. Omit deleted documents."""
        return self.add_metadata(store, list(read_records(store, keys, load=load).values()))

    def add_metadata(self, store: Store, records: Sequence[Record]) -> list[Record]:
        """Return the records with the metadata fields that the columns need."""
        if not self.names:
            return list(records)
        from simdoc_search.versions.metadata_dates import DATE_FIELDS  # noqa: PLC0415 - most results have no columns

        fields = [name for name in self.names if name != "id"]
        return add_metadata(store, records, list(dict.fromkeys([*fields, *DATE_FIELDS])))


def is_column_name(name: str) -> bool:
    """Return whether a string is a valid column name."""
    return _COLUMN_NAME_PATTERN.fullmatch(name) is not None


def format_column_value(name: str, value: Any) -> str:
    """Return the value of a column as a single line for display."""
    match value:
        case None:
            return ""
        case int() if name == "size" and not isinstance(value, bool):
            return f"{value:,}"
        case str() if name == "date":
            return value[:16].replace("T", " ")
        case list():
            return ", ".join(map(str, value))
    return str(value)


def make_sort_key(name: str, value: Any) -> tuple[Any, ...]:
    """Return the sort key of a value. Numbers come before strings, and missing values come last.

    Args:
        name: the name of the column. The order is descending for dates, sizes and overlaps, and ascending for other
            columns.
        value: the value of the column, as returned by `Columns.get_values`.
    """
    if value is None or value == "":
        return (2,)
    is_descending = name in DESCENDING_COLUMNS
    if isinstance(value, int | float):
        return (0, -value if is_descending else value)
    code_points = map(ord, value if isinstance(value, str) else str(value))
    return (1, (*(-code_point for code_point in code_points), 1)) if is_descending else (1, tuple(code_points))


def _get_value(record: Record, name: str) -> Any:
    match name:
        case "id":
            return record.id
        case "path":
            return record.metadata.get(name) if record.origin is None else record.origin.path_of(record.id)
        case "size" if record.origin is not None:
            return record.origin.size
        case "date":
            from simdoc_search.versions import date_written  # noqa: PLC0415 - most results have no columns

            dated = date_written(record)
            return None if dated is None else dated.iso
    return record.metadata.get(name)
