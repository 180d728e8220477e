"""What is shown of a document beside its id: its file, its size, its date, and any field of its metadata."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.indexing.roots import file_of
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.versions import date_written
from simdoc_search.versions.evidence import DATE_FIELDS

FALLING = frozenset({"date", "overlap", "size"})
"""What is sorted with the greatest first; all else with the least."""

OF_ALL = frozenset({"date", "id", "path", "size"})
"""What any document can have; all other columns are fields of its metadata."""

_NAME = re.compile(r"[^\s,=][^,=]*")

Values = Mapping[str, Any]


class Columns:
    """Reads some columns of documents.

    `path` is the file that a document was read from, absolute, else its metadata field `path`; `size` that of the file
    in bytes; `id` its id. `date` is when it was written, in UTC, as `versions` dates it: by its metadata, else by its
    name, else by the modification time of its file. Any other name is a field of its metadata, or in an index of an
    application's own a field of that, with dots into objects.

    Args:
        names: the columns.

    Raises:
        QuerySyntaxError: a name is empty.
    """

    def __init__(self, names: Sequence[str]) -> None:
        for name in names:
            if not is_column(name):
                raise QuerySyntaxError(f"{name!r} is no column; give names like date,size,path,title")
        self.names: tuple[str, ...] = tuple(dict.fromkeys(names))

    @property
    def fields(self) -> list[str]:
        """What must be read of an application's documents."""
        return [*dict.fromkeys([*(each for each in self.names if each != "id"), *DATE_FIELDS])] if self.names else []

    def of(self, record: Record) -> dict[str, Any]:
        """The columns of a document; None for what it lacks."""
        return {name: _value(record, name) for name in self.names}

    def at(self, store: Store, places: Sequence[Place]) -> dict[Place, dict[str, Any]]:
        """The columns of the documents at some places; what is gone is left out."""
        if not self.names or not places:
            return {}
        return {each.place: self.of(each) for each in self.read(store, places)}

    def read(self, store: Store, places: Sequence[Place], *, text: bool = False) -> list[Record]:
        """The records at some places, as `whole` gives them; what is gone is left out."""
        return self.whole(store, list(read_records(store, places, text=text).values()))

    def whole(self, store: Store, records: Sequence[Record]) -> list[Record]:
        """Some records with the metadata that the columns need; those of an application's own index come without."""
        if getattr(store, "own", True) or not self.names:
            return list(records)
        fields = store.fields_at([each.place for each in records], self.fields)
        return [replace(each, metadata=fields.get(each.place, {})) for each in records]


def is_column(name: str) -> bool:
    """Whether a name can be that of a column."""
    return _NAME.fullmatch(name) is not None


def said(name: str, value: Any) -> str:
    """What a document has in a column, as a text on one line."""
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
    """By what a value of a column is sorted: numbers before texts, what is missing last.

    Args:
        name: of the column; dates, sizes and overlaps fall, all else rises.
        value: JSON.
        reverse: the other way round.
    """
    if value is None or value == "":
        return (2,)
    falls = (name in FALLING) != reverse
    if isinstance(value, int | float):
        return (0, -value if falls else value)
    text = value if isinstance(value, str) else str(value)
    return (1, (*(-ord(each) for each in text), 1)) if falls else (1, tuple(map(ord, text)))


def file_at(record: Record) -> str | None:
    """The path of the file that a document was read from, if it was."""
    return None if record.origin is None else file_of(record.origin, record.id)


def _value(record: Record, name: str) -> Any:
    match name:
        case "id":
            return record.id
        case "path":
            return file_at(record) or record.metadata.get(name)
        case "size" if record.origin is not None:
            return record.origin.size
        case "date":
            return _date(record)
    return record.metadata.get(name)


def _date(record: Record) -> str | None:
    found = date_written(record)
    return None if found is None else found.iso
