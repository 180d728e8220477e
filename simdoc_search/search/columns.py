"""Columns of documents: file, size, date and metadata, shown beside the id."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.versions import date_written
from simdoc_search.versions.evidence import DATE_FIELDS

DESCENDING = frozenset({"date", "overlap", "size"})
"""Columns that are sorted with the greatest value first."""

BUILT_IN = frozenset({"date", "id", "path", "size"})
"""Columns that any document can have. All other columns are metadata fields."""

_NAME = re.compile(r"[^\s,=][^,=]*")

Values = Mapping[str, Any]


class Columns:
    """Reads columns of documents.

    `path` is the absolute path of the file that a document was read from, else its metadata field `path`. `size` is the
    size of that file in bytes. `date` is when the document was written, in UTC: by its metadata, else its name, else
    the modification time of its file. Any other name is a metadata field, or a field of an application's own index,
    with dots into objects.

    Args:
        names: names of the columns.

    Raises:
        QuerySyntaxError: a name is malformed.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            if not is_column(name):
                raise QuerySyntaxError(f"{name!r} is not a column; give names like date,size,path,title")
        self.names: tuple[str, ...] = tuple(dict.fromkeys(names))

    @property
    def fields(self) -> list[str]:
        """The fields of an application's own index that the columns need."""
        if not self.names:
            return []
        return [*dict.fromkeys([*(name for name in self.names if name != "id"), *DATE_FIELDS])]

    def of(self, record: Record) -> dict[str, Any]:
        """Return the columns of a document; None for a missing value."""
        return {name: _value(record, name) for name in self.names}

    def at(self, store: Store, places: Sequence[Place]) -> dict[Place, dict[str, Any]]:
        """Return the columns of the documents at some places. Deleted ones are omitted."""
        if not self.names or not places:
            return {}
        return {record.place: self.of(record) for record in self.read(store, places)}

    def read(self, store: Store, places: Sequence[Place], *, text: bool = False) -> list[Record]:
        """Return the records at some places with the metadata that the columns need. Deleted ones are omitted."""
        return self.with_metadata(store, list(read_records(store, places, text=text).values()))

    def with_metadata(self, store: Store, records: Sequence[Record]) -> list[Record]:
        """Return the records with the metadata that the columns need, which those of an application's index lack."""
        if getattr(store, "own", True) or not self.names:
            return list(records)
        values = store.fields_at([record.place for record in records], self.fields)
        return [replace(record, metadata=values.get(record.place, {})) for record in records]


def is_column(name: str) -> bool:
    """Whether a name can be that of a column."""
    return _NAME.fullmatch(name) is not None


def column_text(name: str, value: Any) -> str:
    """Return a value of a column as a text on one line."""
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


def sort_key(name: str, value: Any, *, reverse: bool = False) -> tuple[Any, ...]:
    """Return the sort key of a value: numbers before texts, missing values last.

    Args:
        name: name of the column. Dates, sizes and overlaps are sorted in descending order, other columns in ascending
            order.
        value: value in JSON.
        reverse: whether to reverse the order.
    """
    if value is None or value == "":
        return (2,)
    is_descending = (name in DESCENDING) != reverse
    if isinstance(value, int | float):
        return (0, -value if is_descending else value)
    letters = map(ord, value if isinstance(value, str) else str(value))
    return (1, (*(-letter for letter in letters), 1)) if is_descending else (1, tuple(letters))


def file_at(record: Record) -> str | None:
    """Return the path of the file that a document was read from."""
    return None if record.origin is None else record.origin.file(record.id)


def _value(record: Record, name: str) -> Any:
    match name:
        case "id":
            return record.id
        case "path":
            return file_at(record) or record.metadata.get(name)
        case "size" if record.origin is not None:
            return record.origin.size
        case "date":
            dated = date_written(record)
            return None if dated is None else dated.iso
    return record.metadata.get(name)
