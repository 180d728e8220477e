"""Reads the columns of hits, like the option `--show`. File paths are never shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.display import format_bytes
from simdoc_search.documents import DocumentKey
from simdoc_search.search.columns import Columns, format_column_value, is_column_name
from simdoc_search.search.similarity_search import SimilaritySearch
from simdoc_search.stores.record import Record
from simdoc_search.web.request import PageRequest

_MAX_COLUMNS, _MAX_SUGGESTED_COLUMNS, _MAX_CELL_CHARACTERS = 8, 50, 100
_FILE_COLUMNS = ("date", "size")


@dataclass(frozen=True, slots=True)
class PageColumns:
    """The columns of the hits on a page."""

    names: Sequence[str]  # the chosen columns
    suggested_names: Sequence[str]  # the columns for which at least one hit has a value
    values: dict[DocumentKey, dict[str, Any]]  # the values of the chosen columns, by name

    def cells(self, key: DocumentKey) -> list[tuple[str, str]]:
        """Return the names and values of a document's columns, formatted for display."""
        values = self.values.get(key, {})
        return [(name, _format_cell(name, values.get(name))) for name in self.names]

    def add_to_json(self, response: dict[str, Any], keys: Sequence[DocumentKey]) -> dict[str, Any]:
        """Add the key `show` with the columns to each hit of a JSON response. `keys` has one document per hit."""
        if self.names:
            for hit, key in zip(response["hits"], keys, strict=True):
                hit["show"] = {name: self.values.get(key, {}).get(name) for name in self.names}
        return response


def read_page_columns(request: PageRequest, search: SimilaritySearch, keys: Sequence[DocumentKey]) -> PageColumns:
    """Read the columns that a request selects. `keys` identifies the document of each hit."""
    names = request.all_values("show") if "show" in request.values else request.served_store.columns
    columns = Columns(names[:_MAX_COLUMNS])
    records = columns.read_records(search.store, keys)
    fields = {key for record in records for key in record.metadata}
    file_columns = _FILE_COLUMNS if any(record.origin for record in records) else ()
    suggested = [*file_columns, *sorted(filter(is_column_name, fields.difference(_FILE_COLUMNS)))][
        :_MAX_SUGGESTED_COLUMNS
    ]
    return PageColumns(
        columns.names, suggested, {record.key: _read_column_values(columns, record) for record in records}
    )


def read_document_fields(request: PageRequest, search: SimilaritySearch, record: Record) -> list[tuple[str, str]]:
    """Return the names and values of a document's metadata, and the date and size of its file, for display."""
    [record] = Columns(request.served_store.columns).add_metadata(search.store, [record])
    file_values = _read_column_values(Columns(_FILE_COLUMNS), record) if record.origin else {}
    values = file_values | {name: record.metadata[name] for name in sorted(record.metadata) if name not in file_values}
    return [(name, _format_cell(name, value)) for name, value in values.items()]


def _read_column_values(columns: Columns, record: Record) -> dict[str, Any]:
    """Return the values of a document. The column `path` is the metadata field `path`, never the path of the file."""
    values = columns.get_values(record)
    return values | {"path": record.metadata.get("path")} if "path" in values else values


def _format_cell(name: str, value: Any) -> str:
    is_size = name == "size" and isinstance(value, int) and not isinstance(value, bool)
    text = format_bytes(value) if is_size else format_column_value(name, value)
    return text if len(text) <= _MAX_CELL_CHARACTERS else f"{text[:_MAX_CELL_CHARACTERS]} …"
