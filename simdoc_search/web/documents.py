"""The list of all documents, with filters for name, folder and date."""

from __future__ import annotations

import heapq
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from itertools import islice
from typing import Any
from unicodedata import normalize

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.search.columns import Columns, format_column_value, make_sort_key
from simdoc_search.search.document_list import BATCH_SIZE
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.web.request import PageRequest
from simdoc_search.web.request_limits import MAX_HITS, MAX_SORTED_DOCUMENTS
from simdoc_search.web.response import Page

_DEFAULT_ROWS = 50
_MAX_FOLDERS = 100
_SORT_COLUMNS = ("id", "date", "size")
_DAY_PATTERN = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class DocumentRow:
    """A row of the list."""

    key: DocumentKey
    date: str | None  # when the document was written, in ISO 8601; None if unknown
    size: int | None  # of the file in bytes; None without a file
    can_open_file: bool  # whether it was read from a file that is not in an archive

    @property
    def date_label(self) -> str:
        """The date for display."""
        return format_column_value("date", self.date)

    def sort_key(self, column: str) -> tuple[Any, ...]:
        """Return the sort key for a column. Equal values are ordered by id."""
        value = {"id": self.key.id, "date": self.date, "size": self.size}[column]
        return (*make_sort_key(column, value), self.key.id, self.key.index or "")


class _Selection:
    """Selects documents by name, folder and date, and counts them.

    Attributes:
        total: The number of selected documents so far.
        undated_count: The number of documents that were excluded only because they have no date.
        folder_counts: The number of selected documents in each folder directly below the selected folder.
    """

    def __init__(self, request: PageRequest) -> None:
        self.name = request.value("name").strip()
        self.folder = request.value("folder").strip()
        self.days = _read_day(request, "from"), _read_day(request, "to")
        self.total, self.undated_count = 0, 0
        self.folder_counts: Counter[str] = Counter()
        self._name = _normalise_case(self.name)

    def rows(self, store: Store) -> Iterator[DocumentRow]:
        """Yield the selected documents in the order of the store."""
        columns = Columns(["date", "size"])
        records = store.scan(filters=[{"path": self.folder}] if self.folder else None)
        for batch in iter(lambda: list(islice(records, BATCH_SIZE)), []):
            named = [record for record in batch if self._name in _normalise_case(record.id)]
            for record in columns.add_metadata(store, named):
                values = columns.get_values(record)
                if self._matches_days(values["date"]):
                    self._count(record)
                    can_open_file = record.origin is not None and not record.origin.content_hash
                    yield DocumentRow(record.key, values["date"], values["size"], can_open_file)

    def _matches_days(self, document_date: str | None) -> bool:
        first, last = self.days
        if not first and not last:
            return True
        if document_date is None:
            self.undated_count += 1
            return False
        known = document_date[:10]  # compare as many characters as the date has: 2021-03 means the whole month
        return (not first or known >= first[: len(known)]) and (not last or known <= last[: len(known)])

    def _count(self, record: Record) -> None:
        self.total += 1
        below = record.path.removeprefix(self.folder) if record.path.startswith(self.folder) else ""
        name, slash, _ = below.partition("/")
        if slash:
            self.folder_counts[f"{self.folder}{name}/"] += 1


def documents(request: PageRequest) -> Page:
    """Return a part of the list of all documents that match the filters.

    In a large store, the documents are in the order of the store, because sorting would take too long.
    """
    store = request.served_store.search().store
    selection, sort = _Selection(request), request.choice("sort", _SORT_COLUMNS)
    size, offset = request.integer("size", _DEFAULT_ROWS, 1, MAX_HITS), request.offset
    is_sorted = request.served_store.info().document_count <= MAX_SORTED_DOCUMENTS
    if selection.folder and not store.is_simdoc_index:
        raise QuerySyntaxError(
            "this index does not record the folder of each document, because simdoc-search did not create it; omit the "
            "folder filter"
        )
    rows: list[DocumentRow]
    if is_sorted:
        rows = heapq.nsmallest(offset + size, selection.rows(store), key=lambda row: row.sort_key(sort))
        has_more = selection.total > offset + size
    else:
        rows = list(islice(selection.rows(store), offset + size + 1))
        has_more = len(rows) > offset + size
    rows = rows[offset : offset + size]
    next_offset = offset + size if has_more else None
    values = {
        "rows": rows,
        "selection": selection,
        "sort": sort,
        "is_sorted": is_sorted,
        "has_folders": store.is_simdoc_index,
        "folders": sorted(selection.folder_counts.items())[:_MAX_FOLDERS] if is_sorted else [],
        "more_folders": max(len(selection.folder_counts) - _MAX_FOLDERS, 0),
        "offset": offset,
        "previous_offset": max(offset - size, 0) if offset else None,
        "next_offset": next_offset,
        "same": {name: request.value(name) for name in ("name", "folder", "from", "to", "sort", "size")},
    }
    as_json = {
        "total": selection.total if is_sorted else None,
        "documents": [
            {
                "id": row.key.id,
                **({"index": row.key.index} if row.key.index else {}),
                "date": row.date,
                "size": row.size,
            }
            for row in rows
        ],
        "next": next_offset,
    }
    return Page("documents.html", values, as_json)


def _read_day(request: PageRequest, name: str) -> str:
    text = request.value(name).strip()
    try:
        if text and _DAY_PATTERN.fullmatch(text) and text.isascii():
            return date.fromisoformat(text).isoformat()
    except ValueError:
        pass
    if text:
        raise QuerySyntaxError(f"{name} must be a date such as 2024-02-29, not {text[:40]!r}")
    return ""


def _normalise_case(text: str) -> str:
    return normalize("NFC", text).casefold()
