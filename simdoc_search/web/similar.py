"""Which documents are alike, as a whole or in part?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from simdoc_search.as_json import similar_as_json
from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.search import SearchResult, SimilaritySearch
from simdoc_search.search.texts import read_records
from simdoc_search.showing import size_said
from simdoc_search.stores.record import Record
from simdoc_search.web.answer import Answer
from simdoc_search.web.asked import Asked
from simdoc_search.web.texts import GivenText, check_has_passages, check_name, given_text, has_text, place_of, query_at

__all__ = ["ECHOED", "Columns", "again_of", "columns_of", "columns_shown", "similar"]

_MOST_COLUMNS = 8
_SHORT = 100  # characters of a cell
ECHOED = 1_000_000
"""Characters of a text that a page of answers carries along, so that hits can be compared with it."""


@dataclass(frozen=True, slots=True)
class Columns:
    """What is shown beside each hit.

    Attributes:
        names: the columns that were chosen.
        known: those that can be.
        cells: by place, what stands in each.
    """

    names: Sequence[str]
    known: Sequence[str]
    cells: dict[Place, list[str]]


def similar(asked: Asked) -> Answer:
    """The documents that are alike: to a FINGERPRINT, to the document at a place, or to a text."""
    search = asked.collection.search()
    options: dict[str, Any] = {
        "overlap": asked.percent("overlap"),
        "probability": asked.percent("probability"),
        "size": asked.size,
        "offset": asked.offset,
        "filters": asked.filters(),
        "measure": asked.measure,
        "verify": asked.is_on("verify"),
    }
    if asked.measure != "jaccard":
        check_has_passages(search)
    given: GivenText | None = None
    source: Place | None = None
    if has_text(asked):
        given = given_text(asked)
        result = search.similar_to_text(given.text, **options)
    elif query := asked.one("q").strip():
        check_name(search, query)
        result = search.similar(query, **options)
        source = Place(result.query.id)
    elif asked.one("id"):
        source = place_of(asked, search)
        result = search.similar(query_at(source), **options)
    else:
        raise QuerySyntaxError("there is nothing to look for; name a document, paste a text or choose a file")
    columns = columns_of(asked, search, [hit.place for hit in result.hits])
    values = {
        "result": result,
        "source": source,
        "given": given,
        "echoed": given is not None and len(given.text) <= ECHOED,
        "columns": columns,
        "pages": asked.pages(len(result.hits)),
        "again": {} if given else again_of(asked),
    }
    return Answer("similar.html", values, _as_json(result, columns))


def _as_json(result: SearchResult, columns: Columns) -> dict[str, Any]:
    """As the command line says it; with what each hit has in the columns that were asked for."""
    said = similar_as_json(result)
    if columns.names:
        for hit, shown in zip(result.hits, said["hits"], strict=True):
            cells = columns.cells.get(hit.place, [])
            shown["fields"] = dict(zip(columns.names, cells, strict=False))
    return said


def columns_of(asked: Asked, search: SimilaritySearch, places: Sequence[Place]) -> Columns:
    """What the chosen columns have of some documents; what else can be chosen is what these have."""
    records = read_records(search.store, places, text=False)
    names = list(dict.fromkeys(asked.all("show")))[:_MOST_COLUMNS]
    fields = {key for record in records.values() for key in record.metadata}
    of_files = ["date", "size"] if any(record.origin for record in records.values()) else []
    cells = {place: [cell_of(record, name) for name in names] for place, record in records.items()}
    return Columns(names, [*of_files, *sorted(fields - {"date", "size"})][:50], cells)


def cell_of(record: Record, name: str) -> str:
    """What a document has in a column: metadata, or the date and size of its file."""
    value = record.metadata.get(name)
    if value is None and record.origin is not None:
        day = datetime.fromtimestamp(record.origin.mtime_ns / 1e9, timezone.utc)
        value = {"date": f"{day:%Y-%m-%d}", "size": size_said(record.origin.size)}.get(name)
    shown = ", ".join(value) if isinstance(value, list) else "" if value is None else str(value)
    return shown if len(shown) <= _SHORT else f"{shown[:_SHORT]} …"


def again_of(asked: Asked) -> dict[str, Any]:
    """What an address needs to ask the same again, but for what is changed in it."""
    kept = ("q", "id", "index", "routing", "overlap", "probability", "measure", "verify", "preset", "min_words", "size")
    values: dict[str, Any] = {name: asked.one(name) for name in kept if asked.one(name)}
    return values | {name: asked.all(name) for name in ("filter", "exclude", "show") if asked.all(name)}


def columns_shown(record: Record) -> list[tuple[str, str]]:
    """All that is known of a document beside its text: names and values."""
    names = [*(["date", "size"] if record.origin else []), *sorted(set(record.metadata) - {"date", "size"})]
    return [(name, cell_of(record, name)) for name in names]
