"""Collects the evidence of when documents were written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from simdoc_search.indexing.roots import absolute, file_of
from simdoc_search.search.options import VersionQuery
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.versions import DateSources
from simdoc_search.versions.evidence import DATE_FIELDS


def with_date_fields(store: Store, records: Sequence[Record]) -> list[Record]:
    """Return the records with their metadata, which records of an application's own index do not have."""
    if getattr(store, "own", True) or not records:
        return list(records)
    values = store.fields_at([record.place for record in records], DATE_FIELDS)
    return [replace(record, metadata=values.get(record.place, {})) for record in records]


def dates_of_record(record: Record, *, version_control: bool) -> DateSources:
    """Return the evidence of a stored document; with the path of its file only if git may be asked."""
    origin = record.origin
    return DateSources.of(record, Path(file_of(origin, record.id)) if origin and version_control else None)


def dates_of_text(query: VersionQuery) -> DateSources:
    """Return the evidence of a text that need not be stored."""
    metadata = query.metadata or {}
    if not query.file:
        return DateSources("", metadata)
    path = Path(absolute(query.file))
    name = "/".join(path.parts[-2:])  # the names of further folders do not say when the file was written
    try:
        mtime_ns = path.stat().st_mtime_ns
    except OSError:
        return DateSources(name, metadata)
    return DateSources(name, metadata, mtime_ns, path if query.version_control else None)
