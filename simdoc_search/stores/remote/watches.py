"""Stores watches. A watch is a query for copies of a document, which the engine's percolator runs on new documents.

    {"query": the query for documents that overlap the watched document, "simdoc": {"tokens": "...", "buckets": 512},
     "watched": {"id": "...", "index": "...", "alias": "...", "routing": "...", "overlap": 50, "since": "2026-11-30"}}

Watches are stored in a separate index. A watch contains the tokens that its document had when the watch was set. The
overlap is in percent.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.query.dsl import to_dsl
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.base import Store
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.access import IndexAccess, require_engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mappings import add_fields, mapped_fields, read_mappings
from simdoc_search.stores.remote.pipelines import NO_PIPELINE
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.queries import any_clause
from simdoc_search.stores.remote.records import read_token_ids
from simdoc_search.stores.remote.schema import field_mappings, without_kinds

DEFAULT_WATCHES_INDEX = "simdoc-watches"
"""Default name of the index of watches."""

QUERY_FIELD, WATCHED_FIELD = "query", "watched"
"""Fields of a watch. `query` is the query that new documents must match; `watched` describes the watched document."""

_KEYWORD_FIELDS = ("id", "index", "alias", "routing")


@dataclass(frozen=True, slots=True)
class Watch:
    """A watch for copies of a document."""

    key: DocumentKey  # index, id and routing of the document when the watch was set
    overlap: Fraction  # minimum overlap of a copy, greater than 0 and at most 1
    since: str  # the UTC time at which the watch was set, in ISO 8601
    token_ids: NDArray[np.uint32]  # tokens of the document at that time, as in `Record`; empty if not loaded
    is_outdated: bool = False  # whether the fingerprint settings have changed, so that the watch cannot find copies


def open_watches(store: Store, name: str = DEFAULT_WATCHES_INDEX) -> Watches:
    """Open the watches for the documents of a store.

    Raises:
        StoreError: the store is not an index of an engine. See also `Watches`.
    """
    return Watches(require_engine(store, "watched"), name)


class Watches:
    """The watches for documents of one index or alias.

    `name` is the name of the index of watches.

    Raises:
        StoreError: the index with this name is not an index of watches.
        FormatMismatchError: the engine's own `min_hash` filter fills the fingerprint field.
    """

    def __init__(self, access: IndexAccess, name: str) -> None:
        access.reject_min_hash_field()
        self.name = name
        self._access = access
        self._engine = access.engine
        self._field = access.field
        self._exists = False
        self._is_mapped = False  # whether the index maps the fingerprint field
        # the error to raise if the fingerprint settings of the watches and of the documents differ
        self._mismatch: FormatMismatchError | None = None
        self._inspect(read_mappings(access.engine, name))

    def set(self, record: Record, plan: Plan, overlap: Fraction) -> Watch:
        """Watch for copies of a document. The watch replaces an earlier watch for the same document.

        The plan finds the copies, which have this minimum overlap.

        Raises:
            FormatMismatchError: the existing watches have other fingerprint settings.
            StoreError: the engine has no percolator, or rejects the request.
        """
        self._create()
        since = datetime.now(timezone.utc).isoformat(timespec="seconds")
        watch = Watch(record.key, overlap, since, record.token_ids)
        path = [self.name, "_doc", _watch_id(watch.key)]
        self._engine.call("PUT", path, self._build_document(watch, plan), refresh=True)
        return watch

    def all(self) -> Iterator[Watch]:
        """Yield the watches for documents of this index."""
        if self._exists:
            source = [WATCHED_FIELD, f"{self._field}.buckets"]
            body = {"query": {"bool": {"filter": [self._index_clause()]}}, "sort": ["_doc"], "_source": source}
            yield from map(self._parse_watch, all_hits(self._engine, self.name, body))

    def remove(self, id: str) -> int:
        """Remove the watches for a document, and return their number."""
        if not self._exists:
            return 0
        query = {"bool": {"filter": [self._index_clause(), {"term": {f"{WATCHED_FIELD}.id": id}}]}}
        hits = list(all_hits(self._engine, self.name, {"query": query, "sort": ["_doc"], "_source": False}))
        for hit in hits:
            self._engine.call("DELETE", [self.name, "_doc", hit["_id"]], allowed_statuses=(404,), refresh=True)
        return len(hits)

    def find_matching_watches(self, key: DocumentKey) -> Iterator[Watch]:
        """Yield the watches that a stored document matches, except its own. Watched documents may be in any index.

        Raises:
            FormatMismatchError: the watches have other fingerprint settings.
            StoreError: the document no longer exists, or the engine rejects the request.
        """
        if self._mismatch:
            raise self._mismatch
        if not self._is_mapped:
            return
        document = {"index": key.index, "id": key.id, **({"routing": key.routing} if key.routing else {})}
        query = {
            "filter": [{"percolate": {"field": QUERY_FIELD, **document}}],
            "must_not": [{"ids": {"values": [_watch_id(key)]}}],
        }
        body = {"query": {"bool": query}, "sort": ["_doc"], "_source": [WATCHED_FIELD, self._field]}
        yield from map(self._parse_watch, all_hits(self._engine, self.name, body))

    def _inspect(self, mappings: Mapping[str, Mapping[str, Any]] | None) -> None:
        """Determine whether the index exists, and whether it maps the fingerprint field."""
        for name, mapping in (mappings or {}).items():
            if mapping.get("properties", {}).get(QUERY_FIELD, {}).get("type") != "percolator":
                raise StoreError(
                    f"{self._engine.name}/{name} is not an index of watches; choose another index with --watches"
                )
            meta = mapped_fields(mapping, self._field).get("tokens", {}).get("meta")
            self._exists, self._is_mapped = True, meta is not None
            if meta not in (None, self._build_mappings()["tokens"]["meta"]):
                reason = (
                    f"the documents watched in the index {name} have other fingerprint settings than "
                    f"{self._access.location}"
                )
                self._mismatch = FormatMismatchError(f"{reason}; choose another index with --watches", found=meta)

    def _create(self) -> None:
        """Create the index of watches if it does not exist, and map the fingerprint field if it is missing."""
        if not self._exists:
            self._create_index()
        if self._mismatch:
            raise self._mismatch
        if not self._is_mapped:
            if reason := add_fields(self._engine, self.name, self._field, self._build_mappings()):
                raise StoreError(f"the index {self.name} cannot store watches for the field {self._field}: {reason}")
            self._is_mapped = True

    def _create_index(self) -> None:
        keywords = {name: {"type": "keyword"} for name in _KEYWORD_FIELDS}
        properties = {
            QUERY_FIELD: {"type": "percolator"},
            self._field: {"properties": self._build_mappings()},
            WATCHED_FIELD: {"properties": {**keywords, "overlap": {"type": "float"}, "since": {"type": "date"}}},
        }
        # An index template of the application may match the name. Its pipeline would remove parts of a watch.
        settings = {"index.default_pipeline": NO_PIPELINE, "index.final_pipeline": NO_PIPELINE}
        body = {"settings": settings, "mappings": {"dynamic": False, "properties": properties}}
        try:
            self._engine.call("PUT", [self.name], body)
        except RequestError as error:
            if error.error_type == "resource_already_exists_exception":  # another process has created the index
                return self._inspect(read_mappings(self._engine, self.name))
            if "percolator" in str(error):
                raise StoreError(
                    f"{self._engine.name} has no percolator, so it cannot watch for similar documents; run "
                    "`simdoc-search similar` for each new document instead"
                ) from error
            raise
        self._exists = self._is_mapped = True
        return None

    def _build_mappings(self) -> dict[str, Any]:
        """Return the mappings of the subfields of a watch's fingerprint field."""
        settings = replace(without_kinds(self._access.settings), identifies_language=False)
        mappings = field_mappings(settings, self._field)
        return {name: mappings[name] for name in ("tokens", "buckets")}

    def _build_document(self, watch: Watch, plan: Plan) -> dict[str, Any]:
        key, field = watch.key, self._field
        watched = {
            "id": key.id,
            "index": key.index,
            "alias": self._access.name if self._access.name != key.index else None,
            "routing": key.routing,
            "overlap": float(100 * watch.overlap),
            "since": watch.since,
        }
        tokens = " ".join(encode(watch.token_ids))
        return {
            QUERY_FIELD: to_dsl(plan, f"{field}.tokens", fingerprint_size_field=f"{field}.buckets"),
            field: {"tokens": tokens, "buckets": len(watch.token_ids)},
            WATCHED_FIELD: {name: value for name, value in watched.items() if value is not None},
        }

    def _index_clause(self) -> dict[str, Any]:
        names = [{"term": {f"{WATCHED_FIELD}.{name}": self._access.name}} for name in ("index", "alias")]
        return any_clause(names)

    def _parse_watch(self, hit: RawHit) -> Watch:
        source = hit.get("_source") or {}
        watched: Any = source.get(WATCHED_FIELD)
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            key = DocumentKey(str(watched["id"]), str(watched["index"]), watched.get("routing"))
            token_ids = read_token_ids(source, field=self._field)
            return Watch(
                key,
                Fraction(str(watched["overlap"])) / 100,
                str(watched["since"]),
                np.zeros(0, np.uint32) if isinstance(token_ids, str) else token_ids,
                is_outdated=bool(self._mismatch) or self._field not in source,
            )
        raise StoreError(
            f"the document {hit['_id']!r} in the index {self.name} is not a stored query of `simdoc-search watch`; "
            "delete it from this index"
        )


def _watch_id(key: DocumentKey) -> str:
    """Return the id of a watch. It is a hash, because index, id and routing together may be too long for an id."""
    return hashlib.sha256(json.dumps([key.index, key.id, key.routing]).encode()).hexdigest()
