"""The store in an index of OpenSearch or Elasticsearch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from copy import copy
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from simdoc_search.cancellation import StopEvent
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import StoreError, StoreNotFoundError
from simdoc_search.query.dsl import ScoreKind
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TokenKindName
from simdoc_search.stores.base import Encoder, Store, StoreInfo
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import (
    Digest,
    DocumentHashes,
    LeftOutIndex,
    Phrase,
    PhraseMatches,
    Record,
    RecordPart,
    RemovalCondition,
)
from simdoc_search.stores.remote import lookups, shared_tokens
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.candidates import RemoteCandidates, find_candidates
from simdoc_search.stores.remote.current_documents import read_hashes
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.filter_clauses import root_clause
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.lookups import SAMPLE_SIZE, find_by_id
from simdoc_search.stores.remote.mappings import mapping_at, max_indexed_length, read_mappings
from simdoc_search.stores.remote.min_hash_field import compute_records, find_candidates_by_terms, open_min_hash_field
from simdoc_search.stores.remote.phrases import can_find_phrases, find_phrases
from simdoc_search.stores.remote.point_in_time import all_hits
from simdoc_search.stores.remote.queries import IdField
from simdoc_search.stores.remote.records import encode_records
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, build_index_body
from simdoc_search.stores.remote.shared_settings import check_unchanged
from simdoc_search.stores.remote.texts import check_text_fields, recorded_text_fields, text_field_names
from simdoc_search.stores.remote.updates import remove_documents
from simdoc_search.stores.remote.writer import RemoteWriter
from simdoc_search.stores.settings_check import check_settings
from simdoc_search.stores.shared_tokens import TokenMatches

Self = TypeVar("Self", bound="RemoteStore")

IDS_AT_ONCE, TEXTS_AT_ONCE = 500, 50
"""Maximum number of ids in a request, for records without texts and for records with texts."""


class RemoteStore(Store):
    """The records in an index of an engine, or in the indices behind an alias. `Store` documents the methods.

    If the engine's own `min_hash` filter fills the fingerprint field, the store supports only queries by fingerprint.
    Other methods raise FormatMismatchError. Only an index that `simdoc-search index` created allows writers.
    """

    def __init__(self, access: IndexAccess) -> None:
        self.access = access
        self.location: str = access.location
        self.index: str = access.name
        self.field: str = access.field
        self.is_simdoc_index: bool = access.is_simdoc_index
        self.settings: Settings = access.settings
        has_body = (mapping_at(mapping, "body") is not None for mapping in access.indices.queryable_mappings.values())
        self.has_texts: bool = all(has_body) if access.text_fields is None else bool(access.text_fields)

    @classmethod
    def open_index(
        cls,
        engine: Engine,
        index: str,
        settings: Settings | None,
        *,
        create: bool,
        store_texts: bool | None,
        field: str | None = None,
        id_field: str | None = None,
        text_field: str | Sequence[str] | None = None,
        key: HashKey | None = None,
    ) -> RemoteStore:
        """Open the store in an index. The arguments and errors are the same as for `open_store`."""
        if field and settings is None and not create:
            access = open_min_hash_field(engine, index, field, id_field=id_field, text_field=text_field)
            if access is not None:
                return cls(access)
        location = f"{engine.name}/{index}"
        mappings = read_mappings(engine, index)
        if mappings is None:
            if not create:
                raise StoreNotFoundError(
                    f"there is no index {location}; check its name, or create it from files with `simdoc-search index`"
                )
            new_settings = settings or Settings().with_key(key)
            body = build_index_body(new_settings, field=field or DEFAULT_FIELD, store_texts=store_texts is not False)
            try:
                engine.call("PUT", [index], body)
            except RequestError as error:
                if (
                    error.error_type != "resource_already_exists_exception"
                ):  # another process may have created the index meanwhile
                    raise
            mappings = read_mappings(engine, index) or {}
        indices = Indices(engine, index, mappings, field)
        open_mappings, given_fields = indices.mappings, text_field_names(text_field or ())
        check_text_fields(given_fields, open_mappings, indices.field, location, is_simdoc_index=indices.is_simdoc_index)
        text_fields = (
            None
            if indices.is_simdoc_index
            else given_fields or recorded_text_fields(open_mappings.values(), indices.field)
        )
        engine = engine.without_closed_indices()
        verified_settings = indices.settings.with_verified_key(key, location)
        id_source = IdField.for_field(id_field, open_mappings.values())
        store = cls(IndexAccess(engine, engine.in_background(), indices, id_source, verified_settings, text_fields))
        check_settings(store.settings, settings, location)
        if store.is_simdoc_index and store_texts not in (None, store.has_texts):
            preposition = "with" if store.has_texts else "without"
            raise StoreError(
                f"{location} was created {preposition} texts, and this cannot be changed; choose another index"
            )
        return store

    @property
    def engine(self) -> Engine:
        """The engine."""
        return self.access.engine

    @property
    def id_hint(self) -> str:
        """Advice for messages: which id to give. Empty if simdoc-search created the index."""
        if self.is_simdoc_index:
            return ""
        name = self.access.id_field.field
        if name is None:
            return "give the _id of a document"
        limit = max_indexed_length(name, self.access.indices.mappings.values())
        indexed = "" if limit is None else f", which indexes only ids of at most {limit} characters (ignore_above)"
        return f"give the id of a document, from its field {name}{indexed}"

    def cancellable_by(self: Self, stop: StopEvent) -> Self:
        other = copy(self)
        other.access = self.access.cancellable_by(stop)
        return other

    def close(self) -> None:
        """Close the connections. A request that another thread has sent still waits for its response."""
        self.engine.close()

    # --- writing ---

    @property
    def encoder(self) -> Encoder:
        return partial(encode_records, settings=self.settings, field=self.field, store_text=self.has_texts)

    @contextmanager
    def writer(self) -> Iterator[RemoteWriter]:
        """Open a writer. Several can be open, and the last write wins. If a writer fails, its writes are kept."""
        self.access.reject_min_hash_field()
        if not self.is_simdoc_index:
            raise StoreError(
                f"{self.location} was not created with `simdoc-search index`, so only your application can add and "
                f"delete its documents; to add fingerprints, run `simdoc-search backfill {self.location}`, or call "
                "`fingerprint_actions` in the application"
            )
        check_unchanged(read_mappings(self.engine, self.index), self.field, self.settings, self.location)
        # An interrupted run may have written documents that searches do not show yet.
        self.access.background_engine.refresh(self.index, allowed_statuses=(403,))
        with closing(
            RemoteWriter(
                self.engine, self.index, self.encoder, has_several_indices=len(self.access.indices.mappings) > 1
            )
        ) as writer:
            yield writer
            writer.commit()

    def remove(self, removals: Mapping[DocumentKey, RemovalCondition]) -> dict[DocumentKey, str]:
        self.access.reject_min_hash_field()
        return remove_documents(self.access, removals)

    # --- documents by id ---

    def records(
        self, ids: Iterable[str], *, load: Collection[RecordPart] = (), filters: Filters | None = None
    ) -> Iterator[Record]:
        access = self.access
        if access.is_min_hash_field:
            return compute_records(access, ids, filters)
        source, clauses = access.source_filter(load), access.filter_clauses(filters)
        ids_per_request = TEXTS_AT_ONCE if "text" in load else IDS_AT_ONCE
        hits = find_by_id(access, ids, source=source, ids_per_request=ids_per_request, clauses=clauses)
        return map(access.to_record, hits)

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """Yield the digests of the documents with these ids. A digest is empty if several documents have the id."""
        self.access.reject_min_hash_field()
        source = [f"{self.field}.digest", f"{self.field}.origin"]
        hits = find_by_id(
            self.access, ids, source=source, engine=self.access.background_engine, ids_per_request=IDS_AT_ONCE
        )
        records = list(map(self.access.to_record, hits))
        counts = Counter(record.id for record in records)
        for record in records:
            is_unique = counts[record.id] == 1
            digest = record.digest if is_unique and not record.fault else ""
            yield Digest(record.id, digest, record.origin if is_unique else None)

    def read_fields(
        self, keys: Sequence[DocumentKey], fields: Sequence[str]
    ) -> dict[DocumentKey, Mapping[str, object]]:
        return lookups.read_fields(self.access, keys, fields)

    def find_keys(self, id: str, index: str) -> set[DocumentKey]:
        return lookups.find_keys(self.access, id, index)

    def current_hashes(self, keys: Collection[DocumentKey]) -> dict[DocumentKey, DocumentHashes]:
        self.access.reject_min_hash_field()
        return read_hashes(self.access, keys)

    def application_fields(self, keys: Sequence[DocumentKey]) -> dict[DocumentKey, dict[str, Any]]:
        return lookups.application_fields(self.access, keys)

    # --- ids and fields by name ---

    def ids_with_name(self, name: str, *, filters: Filters | None = None) -> list[str]:
        return lookups.find_ids_by_name(self.access, name, filters)

    def suggest_ids(self, id: str, *, filters: Filters | None = None) -> list[str]:
        return lookups.suggest_ids(self.access, id, filters)

    def ids_with_prefix(self, prefix: str, limit: int) -> list[str]:
        return lookups.find_ids_by_prefix(self.access, prefix, limit)

    def suggest_filter_names(self, condition: Condition) -> list[str] | None:
        return lookups.suggest_filter_names(self.access, condition)

    # --- queries ---

    def candidates(
        self,
        plan: Plan,
        *,
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        fields: Sequence[str] = (),
    ) -> RemoteCandidates:
        return self.candidates_of_many([(plan, exclude)], filters=filters, fields=fields)[0]

    def candidates_of_many(
        self,
        plans: Sequence[tuple[Plan, DocumentKey | None]],
        *,
        filters: Filters | None = None,
        fields: Sequence[str] = (),
    ) -> list[RemoteCandidates]:
        find = find_candidates_by_terms if self.access.is_min_hash_field else find_candidates
        return find(self.access, plans, filters, fields)

    def clause(self, plan: Plan, exclude: DocumentKey | None = None) -> dict[str, object]:
        """Convert a plan to a clause for an application's own search."""
        score: ScoreKind = "bands" if self.access.is_min_hash_field else "tokens"
        return self.access.token_query(plan, must_not=self.access.id_field.key_clauses(exclude), score=score)

    def documents_sharing_tokens(
        self,
        token_ids: NDArray[np.uint32],
        *,
        kind: TokenKindName = "passages",
        filters: Filters | None = None,
        exclude: DocumentKey | None = None,
        size: int,
    ) -> TokenMatches:
        self.access.reject_min_hash_field()
        return shared_tokens.find_token_matches(
            self.access, token_ids, kind, filters=filters, exclude=exclude, size=size
        )

    def concept_frequencies(self, token_ids: NDArray[np.uint32]) -> NDArray[np.int64]:
        self.access.reject_min_hash_field()
        return shared_tokens.document_frequencies(self.access, token_ids)

    @property
    def can_find_phrases(self) -> bool:
        return not self.access.is_min_hash_field and can_find_phrases(self.access)

    def documents_with_phrases(
        self, phrases: Sequence[Phrase], *, filters: Filters | None = None, exclude: DocumentKey | None = None
    ) -> PhraseMatches:
        self.access.reject_min_hash_field()
        return find_phrases(self.access, phrases, filters, exclude)

    # --- all documents ---

    def scan(
        self,
        *,
        load: Collection[RecordPart] = (),
        root_folder: str | None = None,
        only_roots_inside_folder: bool = False,
        filters: Filters | None = None,
        fields: Sequence[str] = (),
    ) -> Iterator[Record]:
        access = self.access
        access.reject_min_hash_field()
        clauses = [
            root_clause(root_folder, only_roots_inside_folder, fingerprint_field=self.field),
            *access.filter_clauses(filters),
        ]
        source = access.source_filter(load, fields)
        body = {"query": {"bool": {"filter": clauses}}, "sort": ["_doc"], "_source": source}
        for hit in all_hits(access.background_engine, self.index, body):
            yield access.to_record(hit, fields)

    def count(self, root_folder: str, *, only_roots_inside_folder: bool = False) -> int:
        self.access.reject_min_hash_field()
        return self.access.background_engine.count(
            self.index, root_clause(root_folder, only_roots_inside_folder, fingerprint_field=self.field)
        )

    def info(self) -> StoreInfo:
        self.access.indices.reload_if_old(self.engine)
        document_count = self.engine.count(self.index)
        stats = self.engine.get_if_allowed(self.index, "_stats", "store")
        size = stats.get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
        text_bytes = self._estimate_text_bytes(document_count)
        return StoreInfo(
            self.location,
            document_count,
            size,
            text_bytes,
            self.settings,
            is_text_compressed=False,
            text_fields=tuple(self.access.text_fields or ()),
        )

    def left_out_indices(self) -> tuple[LeftOutIndex, ...]:
        return self.access.indices.find_left_out_indices(self.engine)

    def _estimate_text_bytes(self, document_count: int) -> int | None:
        """Estimate the uncompressed size of all texts in bytes from a sample. Return None if there are no texts."""
        if not self.is_simdoc_index or not self.has_texts:
            return None
        hits = self.engine.search(self.index, {"size": SAMPLE_SIZE, "_source": ["body"]})["hits"]["hits"]
        sizes = [len((self.access.to_record(hit).text or "").encode("utf-8", "replace")) for hit in hits]
        return round(sum(sizes) / len(sizes) * document_count) if sizes else 0
