"""What is shown beside each document: the columns of `--show`, without the paths of the machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from simdoc_search.display import size_said
from simdoc_search.documents import Place
from simdoc_search.search import SimilaritySearch
from simdoc_search.search.columns import Columns, column_text, is_column
from simdoc_search.search.stored_texts import read_records
from simdoc_search.stores.record import Record
from simdoc_search.web.request import Asked

_MOST_COLUMNS, _MOST_KNOWN = 8, 50
_SHORT = 100  # characters of a cell
_OF_FILES = ("date", "size")


@dataclass(frozen=True, slots=True)
class Shown:
    """What is shown beside each document.

    Attributes:
        names: the columns that were chosen.
        known: those that can be.
        values: by place, what a document has in each.
    """

    names: Sequence[str]
    known: Sequence[str]
    values: dict[Place, dict[str, Any]]

    def cells(self, place: Place) -> list[tuple[str, str]]:
        """The columns of a document, for a person."""
        values = self.values.get(place, {})
        return [(name, _cell(name, values.get(name))) for name in self.names]

    def completed(self, found: dict[str, Any], places: Sequence[Place]) -> dict[str, Any]:
        """An answer for programs with the columns of its hits, which are at these places."""
        if self.names:
            for hit, place in zip(found["hits"], places, strict=True):
                hit["show"] = {name: self.values.get(place, {}).get(name) for name in self.names}
        return found


def columns_of(asked: Asked, search: SimilaritySearch, places: Sequence[Place]) -> Shown:
    """What the chosen columns have of some documents; what else can be chosen is what these have.

    Raises:
        QuerySyntaxError: a name is none of a column.
    """
    columns = Columns((asked.all("show") if "show" in asked.values else asked.collection.columns)[:_MOST_COLUMNS])
    records = columns.with_metadata(search.store, list(read_records(search.store, places, text=False).values()))
    fields = {key for record in records for key in record.metadata}
    of_files = _OF_FILES if any(record.origin for record in records) else ()
    known = [*of_files, *sorted(filter(is_column, fields.difference(_OF_FILES)))]
    return Shown(columns.names, known[:_MOST_KNOWN], {each.place: _values(columns, each) for each in records})


def facts_of(asked: Asked, search: SimilaritySearch, record: Record) -> list[tuple[str, str]]:
    """All that is known of a document beside its text: names and values."""
    [record] = Columns(asked.collection.columns).with_metadata(search.store, [record])
    names = dict.fromkeys([*(_OF_FILES if record.origin else ()), *sorted(record.metadata)])
    values = _values(Columns(_OF_FILES), record) if record.origin else {}
    return [(name, _cell(name, values.get(name, record.metadata.get(name)))) for name in names]


def _values(columns: Columns, record: Record) -> dict[str, Any]:
    """What a document has in some columns; where its file lies is nobody's business."""
    values = columns.of(record)
    return values | {"path": record.metadata.get("path")} if "path" in values else values


def _cell(name: str, value: Any) -> str:
    is_size = name == "size" and isinstance(value, int) and not isinstance(value, bool)
    shown = size_said(value) if is_size else column_text(name, value)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]} …"
