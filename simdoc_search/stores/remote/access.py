"""The engine, the indices and the settings that every query of a store needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from simdoc_search.cancellation import StopEvent
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.query.dsl import ScoreKind, count_clauses, count_plan_clauses, to_dsl
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TOKEN_KINDS
from simdoc_search.stores.base import Store
from simdoc_search.stores.fields import METADATA_FIELD
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record, RecordPart
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.filter_clauses import filter_clauses
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.min_hash import MinHashFieldIndices
from simdoc_search.stores.remote.queries import IdField
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.texts import select_fields, without_path


def require_engine(store: Store, action: str) -> IndexAccess:
    """Return the index of a store. Raises StoreError unless it is in an engine. `action` is for the message."""
    access = getattr(store, "access", None)
    if not isinstance(access, IndexAccess):
        raise StoreError(
            f"{store.info().location} is a local index; only documents in an index of OpenSearch or Elasticsearch can "
            f"be {action}"
        )
    return access


@dataclass(frozen=True, slots=True)
class IndexAccess:
    """The index of a store, or all indices behind its alias."""

    engine: Engine  # the engine, for interactive queries
    background_engine: Engine  # the same engine with longer retries, for background work
    indices: Indices | MinHashFieldIndices  # the indices behind the name of the store
    id_field: IdField  # the part of a document that contains its id
    settings: Settings  # settings of the fingerprints, with the hash key
    # the fields that contain the text, in an index that simdoc-search did not create. It is None in an index that
    # simdoc-search created, because the text is in `body`.
    text_fields: Sequence[str] | None

    @property
    def name(self) -> str:
        """Name of the index or alias."""
        return self.indices.name

    @property
    def field(self) -> str:
        """Name of the object field that contains the fingerprints."""
        return self.indices.field

    @property
    def is_simdoc_index(self) -> bool:
        """Whether `simdoc-search index` created the index."""
        return self.indices.is_simdoc_index

    @property
    def location(self) -> str:
        """URL of the engine and name of the index, without secrets."""
        return f"{self.engine.name}/{self.name}"

    def cancellable_by(self, stop: StopEvent) -> IndexAccess:
        """Return a copy of this object whose requests end as soon as `stop` is set."""
        engine = self.engine.cancellable_by(stop)
        return replace(self, engine=engine, background_engine=engine.in_background())

    @property
    def is_min_hash_field(self) -> bool:
        """Whether the engine's own `min_hash` filter fills the field."""
        return isinstance(self.indices, MinHashFieldIndices)

    def reject_min_hash_field(self) -> None:
        """Raise FormatMismatchError if the engine's own `min_hash` filter fills the field."""
        if self.is_min_hash_field:
            text_field = self.text_fields[0] if self.text_fields else "FIELD"
            raise FormatMismatchError(
                f"the field {self.field} of {self.location} contains terms of the engine's min_hash filter. A field "
                "with these terms supports only the commands `versions`, `compare`, `show`, `explain`, and `similar` "
                "(without --measure); for "
                f"other commands, run `simdoc-search backfill {self.location} --text-field {text_field}`, then omit "
                "--field"
            )

    def filter_clauses(self, filters: Filters | None) -> list[dict[str, Any]]:
        """Convert filters to clauses in the engine's query language."""
        return filter_clauses(
            filters or {},
            self.indices.mappings.values(),
            fingerprint_field=self.field,
            is_simdoc_index=self.is_simdoc_index,
        )

    def query_clauses(self, filters: Filters | None) -> list[dict[str, Any]]:
        """Convert filters to clauses, and add a clause that excludes the indices that cannot be queried."""
        return [*self.filter_clauses(filters), *self.indices.exclusion_clauses(self.engine)]

    def token_query(
        self,
        plan: Plan,
        clauses: Sequence[dict[str, Any]] = (),
        must_not: Sequence[dict[str, Any]] = (),
        *,
        score: ScoreKind,
    ) -> dict[str, Any]:
        """Convert a plan to a query. All `clauses` must also match. No clause in `must_not` may match."""
        needed = count_plan_clauses(plan, score) + count_clauses([*clauses, *must_not])
        terms, tokens = {"kind": "terms"}, {"fingerprint_size_field": f"{self.field}.buckets"}
        options: dict[str, Any] = terms if self.is_min_hash_field else tokens
        return to_dsl(
            plan,
            self.field if self.is_min_hash_field else f"{self.field}.tokens",
            filters=clauses,
            must_not=must_not,
            score=score,
            max_clauses=self.engine.max_clauses(needed),
            **options,
        )

    def source_filter(self, load: Collection[RecordPart], fields: Sequence[str] = ()) -> dict[str, Any]:
        """Return the `_source` filter for a search whose hits are passed to `to_record`."""
        unused = [f"{self.field}.{name}" for name in TOKEN_KINDS if name not in load]
        if self.text_fields is not None:
            texts = self.text_fields if "text" in load else ()
            return {"includes": [self.field, *self.id_field.source_fields, *texts, *fields], "excludes": unused}
        unused += [f"{self.field}.{name}" for name in ("names", "path", METADATA_FIELD, "format")]
        return {"excludes": unused if "text" in load else [*unused, "body"]}

    def fields_of(self, hit: Mapping[str, Any]) -> dict[str, Any]:
        """Return all fields of a hit's document, except its id and its fingerprint."""
        fields = dict(hit.get("_source") or {})
        for path in (self.field, *self.id_field.source_fields):
            fields = without_path(fields, path)
        return fields

    def to_record(self, hit: Mapping[str, Any], fields: Sequence[str] = ()) -> Record:
        """Convert a hit to a record. In an index that simdoc-search did not create, `fields` become its metadata."""
        key, source = self.id_field.key_of(hit), hit.get("_source") or {}
        fault = self.indices.describe_fault(key.index)
        record = to_record(key, source, field=self.field, text_fields=self.text_fields, known_fault=fault)
        if fields and not self.is_simdoc_index:
            return replace(record, metadata=select_fields(source, fields, is_simdoc_index=False))
        return record
