"""Marks duplicates in an index, with two extra fields in the fingerprint field.

Only duplicates have `duplicate_of`: the id of the kept document. All documents of a group, including the kept one, have
the same `cluster`. So a filter can hide duplicates, and `collapse` can show one document of each group.

An application that replaces a document removes its mark; a partial update keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simdoc_search.documents import Place
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.bulk import Outcome
from simdoc_search.stores.remote.fingerprint_value import fingerprint_in
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import add_fields, fields_left, fields_of
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.schema import MARK_FIELDS, field_mappings
from simdoc_search.stores.remote.updates import GuardedUpdates

MALFORMED = 400
"""Status of a document whose fingerprint an update would destroy, as another program changed its form."""

_UNREAD = ("tokens", "passages", "names", "path", "facts", "origin")


@dataclass(frozen=True, slots=True)
class Mark:
    """The two fields of a document. Both are None if the document is not in a group."""

    duplicate_of: str | None = None
    cluster: str | None = None

    def __bool__(self) -> bool:
        return self != Mark()


def marks_of(store: Store) -> Marks:
    """Return the marks in a store. Raises StoreError if the store is not an index of an engine, or as `Marks`."""
    access = getattr(store, "access", None)
    if not isinstance(access, IndexAccess):
        raise StoreError(
            f"{store.info().location} is not an index of an engine; only documents in such an index can be marked"
        )
    return Marks(access)


class Marks:
    """The marks of all documents in an index, or behind an alias. Missing fields of marks are mapped first.

    Args:
        access: the store's index.

    Raises:
        StoreError: an index cannot have marks. In that case no index has been changed.
        FormatMismatchError: the engine's own `min_hash` filter fills the fingerprint field.
    """

    def __init__(self, access: IndexAccess) -> None:
        access.require_tokens()
        self._access = access
        self._engine = access.background
        unread = [f"{access.field}.{name}" for name in _UNREAD]
        self._source = {"includes": [access.field, *access.ids.parts], "excludes": unread}
        self._updates = self._prepare(self._engine.call("GET", [access.name]))
        self.refresh()  # an interrupted run may have written marks that searches do not show yet

    def marked_documents(self) -> Iterator[RawHit]:
        """Yield the documents that have a mark."""
        exists = [{"exists": {"field": f"{self._access.field}.{name}"}} for name in MARK_FIELDS]
        query = {"bool": {"should": exists, "minimum_should_match": 1}}
        body = {"query": query, "sort": ["_doc"], "_source": self._source, "seq_no_primary_term": True}
        return all_hits(self._engine, self._access.name, body)

    def documents_at(self, places: Iterable[Place]) -> list[RawHit]:
        """Return the documents at these places. Missing ones are omitted."""
        unique = set(places)
        ids = dict.fromkeys(place.id for place in unique)
        hits = find_by_id(self._access, ids, source=self._source, engine=self._engine, at_once=len(ids) or 1)
        return [hit for hit in hits if self.place_of(hit) in unique]

    def place_of(self, hit: RawHit) -> Place:
        """Return the place of a document."""
        return self._access.ids.place_of(hit)

    def text_hash_of(self, hit: RawHit) -> str:
        """Return the `text_hash` in a document's fingerprint; empty if it has none."""
        source, field = hit.get("_source") or {}, self._access.field
        return to_record(self.place_of(hit), source, field=field).text_hash

    def mark_of(self, hit: RawHit) -> Mark:
        """Return the mark of a document."""
        value = fingerprint_in(hit.get("_source") or {}, self._access.field)
        return Mark(*(value.get(name) for name in MARK_FIELDS)) if isinstance(value, Mapping) else Mark()

    def cluster_of(self, kept: Place) -> str:
        """Return the `cluster` of a group: the id of the kept document, with its index and routing if needed."""
        index = kept.index if len(self._updates) > 1 else None
        if index is None and kept.routing is None:
            return kept.id
        return "/".join(quote(part or "", safe="") for part in (index, kept.routing, kept.id))

    def write(
        self, hits: list[RawHit], new_mark: Callable[[RawHit], Mark | None], *, unchanged_too: bool = False
    ) -> Iterator[tuple[RawHit, Outcome]]:
        """Write marks, on condition that the documents have not changed. A changed document is read again.

        Args:
            hits: the documents.
            new_mark: returns the mark for a document, or None to leave the document unchanged.
            unchanged_too: also write marks that equal the stored ones, so that searches find them.

        Raises:
            StoreError: as `GuardedUpdates.apply`.
        """
        malformed: list[RawHit] = []

        def changes(documents: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            for hit in documents:
                mark = new_mark(hit)
                if mark is None:
                    continue
                if self._is_object(hit):
                    yield hit, {"doc": self._update(hit, mark), "detect_noop": not unchanged_too}
                else:
                    malformed.append(hit)

        by_index: dict[str, list[RawHit]] = {}
        for hit in hits:
            by_index.setdefault(hit["_index"], []).append(hit)
        for index, documents in by_index.items():
            if index not in self._updates:
                raise StoreError(
                    f"the index {index} was added to {self._access.name} during the run; run the command again"
                )
            yield from self._updates[index].apply(documents, changes)
        reason = f"its {self._access.field} is malformed; repair it with simdoc-search backfill --stale"
        yield from ((hit, Outcome(hit["_index"], MALFORMED, error="malformed", reason=reason)) for hit in malformed)

    def refresh(self) -> None:
        """Make all writes visible to searches, if we are allowed to."""
        self._engine.refresh(self._access.name, allow=(403,))

    def _update(self, hit: RawHit, mark: Mark) -> dict[str, Any]:
        """Return the partial document. Keys with dots, which would add second values, are set to null."""
        field, source = self._access.field, hit.get("_source") or {}
        dotted = {key: None for name in MARK_FIELDS if (key := f"{field}.{name}") in source}
        return {**dotted, field: {"duplicate_of": mark.duplicate_of, "cluster": mark.cluster}}

    def _is_object(self, hit: RawHit) -> bool:
        """Return whether the fingerprint is an object, with which an update merges; it would replace a list."""
        source, field = hit.get("_source") or {}, self._access.field
        if field in source:
            return isinstance(source[field], Mapping)
        return any(key.startswith(f"{field}.") for key in source)

    def _prepare(self, indices: Mapping[str, Any]) -> dict[str, GuardedUpdates]:
        """Map the fields in all indices, and return the `GuardedUpdates` of each."""
        missing = {name: self._missing_fields(name, index) for name, index in indices.items()}
        for name, fields in missing.items():
            if reason := add_fields(self._engine, name, self._access.field, fields):
                raise _unfit(name, reason)
        return {
            name: GuardedUpdates(self._engine, name, index["settings"]["index"]["uuid"], self._source)
            for name, index in indices.items()
        }

    def _missing_fields(self, name: str, index: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mappings of the fields that an index lacks. Raises StoreError if the index cannot have them."""
        mapping, settings, field = index["mappings"], index["settings"]["index"], self._access.field
        if fault := next((fault for fault in find_faults(mapping, settings, field) if fault.blocks_writes), None):
            raise _unfit(name, fault.problem)
        existing, ours = fields_of(mapping, field), field_mappings(self._access.settings, field)
        missing = {part: ours[part] for part in MARK_FIELDS if part not in existing}
        left, limit = fields_left(mapping, settings)
        if left < len(missing):
            raise _unfit(name, f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit")
        return missing


def _unfit(index: str, reason: str) -> StoreError:
    return StoreError(f"the documents of the index {index} cannot be marked: {reason}")
