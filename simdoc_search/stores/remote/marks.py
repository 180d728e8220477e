"""Marks duplicates in an index. A mark consists of two additional fields in the fingerprint field.

Only duplicates have `duplicate_of`, which contains the id of the kept document. All documents of a group, including the
kept document, have the same `cluster`. So a filter can hide duplicates, and `collapse` can show one document per group.

If an application replaces a document, the mark is lost. A partial update preserves the mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import StoreError
from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import METADATA_FIELD
from simdoc_search.stores.remote.access import IndexAccess, require_engine
from simdoc_search.stores.remote.bulk import ActionOutcome
from simdoc_search.stores.remote.fingerprint_value import read_fingerprint_value
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.mapping_check import field_limit_message, find_faults
from simdoc_search.stores.remote.mappings import add_fields, count_remaining_fields, mapped_fields
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.queries import any_clause, exists_clause
from simdoc_search.stores.remote.records import read_text_hash
from simdoc_search.stores.remote.schema import MARK_FIELDS, field_mappings
from simdoc_search.stores.remote.updates import ConditionalUpdater

MALFORMED_STATUS = 400
"""Status for a document whose fingerprint is not an object. An update would destroy the fingerprint."""

_EXCLUDED_PARTS = ("tokens", "passages", "names", "path", METADATA_FIELD, "origin")


@dataclass(frozen=True, slots=True)
class Mark:
    """The two fields that mark a document. Both are None if the document is not in a group."""

    duplicate_of: str | None = None
    cluster: str | None = None

    def __bool__(self) -> bool:
        return self != Mark()


def open_marks(store: Store) -> Marks:
    """Open the marks in a store. Raises StoreError if the store is not in an engine. See also `Marks`."""
    return Marks(require_engine(store, "marked"))


class Marks:
    """The marks of all documents in an index, or behind an alias. Missing fields are added to the mappings.

    Raises:
        StoreError: an index cannot have marks. In that case no index has been changed.
        FormatMismatchError: the engine's own `min_hash` filter fills the fingerprint field.
    """

    def __init__(self, access: IndexAccess) -> None:
        access.reject_min_hash_field()
        self._access = access
        self._engine = access.background_engine.in_background()
        excluded = [f"{access.field}.{name}" for name in _EXCLUDED_PARTS]
        self._source = {"includes": [access.field, *access.id_field.source_fields], "excludes": excluded}
        self._updaters = self._prepare_indices(self._engine.call("GET", [access.name]))
        self.refresh()  # an interrupted run may have written marks that searches do not show yet

    def find_marked_documents(self) -> Iterator[RawHit]:
        """Yield the documents that have a mark."""
        query = any_clause(exists_clause(f"{self._access.field}.{name}") for name in MARK_FIELDS)
        body = {"query": query, "sort": ["_doc"], "_source": self._source, "seq_no_primary_term": True}
        return all_hits(self._engine, self._access.name, body)

    def read_documents(self, keys: Iterable[DocumentKey]) -> list[RawHit]:
        """Return the documents with these keys. Missing documents are omitted."""
        unique = set(keys)
        ids = dict.fromkeys(key.id for key in unique)
        hits = find_by_id(self._access, ids, source=self._source, engine=self._engine, ids_per_request=len(ids) or 1)
        return [hit for hit in hits if self.key_of(hit) in unique]

    def key_of(self, hit: RawHit) -> DocumentKey:
        """Return the key of a document."""
        return self._access.id_field.key_of(hit)

    def read_text_hash(self, hit: RawHit) -> str:
        """Return the `text_hash` in a document's fingerprint. It is empty if there is none."""
        return read_text_hash(hit.get("_source") or {}, field=self._access.field)

    def read_mark(self, hit: RawHit) -> Mark:
        """Return the mark of a document."""
        value = read_fingerprint_value(hit.get("_source") or {}, self._access.field)
        return Mark(*(value.get(name) for name in MARK_FIELDS)) if isinstance(value, Mapping) else Mark()

    def make_cluster_value(self, kept: DocumentKey) -> str:
        """Return the `cluster` of a group: the id of the kept document, with its index and routing if needed."""
        index = kept.index if len(self._updaters) > 1 else None
        if index is None and kept.routing is None:
            return kept.id
        return "/".join(quote(part or "", safe="") for part in (index, kept.routing, kept.id))

    def write(
        self, hits: list[RawHit], choose_mark: Callable[[RawHit], Mark | None], *, write_unchanged: bool = False
    ) -> Iterator[tuple[RawHit, ActionOutcome]]:
        """Write marks to documents. If a document has changed since it was read, it is read again first.

        `choose_mark` returns the mark for a document, or None to leave it unchanged. With `write_unchanged`, marks that
        equal the stored marks are written too.

        Raises:
            StoreError: an index was added to the alias during the run. See also `ConditionalUpdater.apply`.
        """
        malformed: list[RawHit] = []

        def make_updates(documents: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            for hit in documents:
                mark = choose_mark(hit)
                if mark is None:
                    continue
                if self._is_object(hit):
                    yield hit, {"doc": self._update_body(hit, mark), "detect_noop": not write_unchanged}
                else:
                    malformed.append(hit)

        by_index: dict[str, list[RawHit]] = {}
        for hit in hits:
            by_index.setdefault(hit["_index"], []).append(hit)
        for index, documents in by_index.items():
            if index not in self._updaters:
                raise StoreError(
                    f"the index {index} was added to {self._access.name} during the run; run the command again"
                )
            yield from self._updaters[index].apply(documents, make_updates)
        command = f"simdoc-search backfill {self._access.location} --stale"
        reason = f"the field {self._access.field} is malformed; repair the field with `{command}`"
        yield from (
            (hit, ActionOutcome(hit["_index"], MALFORMED_STATUS, error="malformed", reason=reason)) for hit in malformed
        )

    def stop(self) -> None:
        """End all requests, including those of other threads. Further requests raise StoppedError."""
        self._engine.stop_event.set()

    def refresh(self) -> None:
        """Make all writes visible to searches, if the engine allows it."""
        self._engine.refresh(self._access.name, allowed_statuses=(403,))

    def _update_body(self, hit: RawHit, mark: Mark) -> dict[str, Any]:
        """Return the partial document of an update. It sets keys with dots to null, so that no field has two values."""
        field, source = self._access.field, hit.get("_source") or {}
        dotted = {key: None for name in MARK_FIELDS if (key := f"{field}.{name}") in source}
        return {**dotted, field: {"duplicate_of": mark.duplicate_of, "cluster": mark.cluster}}

    def _is_object(self, hit: RawHit) -> bool:
        """Return whether the fingerprint is an object. If it is a list, a partial update would replace the list."""
        source, field = hit.get("_source") or {}, self._access.field
        if field in source:
            return isinstance(source[field], Mapping)
        return any(key.startswith(f"{field}.") for key in source)

    def _prepare_indices(self, indices: Mapping[str, Any]) -> dict[str, ConditionalUpdater]:
        """Add missing fields to the mappings of all indices, and create a `ConditionalUpdater` for each index."""
        missing = {name: self._find_missing_fields(name, index) for name, index in indices.items()}
        for name, fields in missing.items():
            if reason := add_fields(self._engine, name, self._access.field, fields):
                raise _cannot_mark_error(name, reason)
        return {
            name: ConditionalUpdater(self._engine, name, index["settings"]["index"]["uuid"], self._source)
            for name, index in indices.items()
        }

    def _find_missing_fields(self, name: str, index: Mapping[str, Any]) -> dict[str, Any]:
        """Return the mappings of the fields that an index lacks. Raises StoreError if they cannot be added."""
        mapping, settings, field = index["mappings"], index["settings"]["index"], self._access.field
        if fault := next((fault for fault in find_faults(mapping, settings, field) if fault.blocks_writes), None):
            raise _cannot_mark_error(name, fault.problem)
        existing, expected = mapped_fields(mapping, field), field_mappings(self._access.settings, field)
        missing = {part: expected[part] for part in MARK_FIELDS if part not in existing}
        left, limit = count_remaining_fields(mapping, settings)
        if left < len(missing):
            raise _cannot_mark_error(name, field_limit_message(left, limit))
        return missing


def _cannot_mark_error(index: str, reason: str) -> StoreError:
    return StoreError(f"the documents of the index {index} cannot be marked: {reason}")
