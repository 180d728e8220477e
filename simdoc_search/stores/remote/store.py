"""A store in an index of OpenSearch or Elasticsearch."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from typing import Any

from simdoc_search.documents import is_in_several
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.sketch.key import HashKey
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import StoreInfo
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Digest, Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.frozen_index import Scans
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.lookups import SAMPLE, Lookups, find_by_id
from simdoc_search.stores.remote.mappings import mapping_at, mappings_of
from simdoc_search.stores.remote.marks import Markable
from simdoc_search.stores.remote.phrases import PhraseLookups
from simdoc_search.stores.remote.plans import PlanLookups
from simdoc_search.stores.remote.queries import Ids, of_root
from simdoc_search.stores.remote.records import to_record, to_source
from simdoc_search.stores.remote.removal import Removing
from simdoc_search.stores.remote.schema import DEFAULT_FIELD, index_body
from simdoc_search.stores.remote.shared_settings import check_unchanged
from simdoc_search.stores.remote.shared_tokens import TokenLookups
from simdoc_search.stores.remote.texts import check_text_fields, recorded_text_fields, text_field_names
from simdoc_search.stores.remote.watches import Watchable
from simdoc_search.stores.remote.writer import RemoteWriter

IDS_AT_ONCE, TEXTS_AT_ONCE = 500, 50


class RemoteStore(Lookups, PlanLookups, TokenLookups, PhraseLookups, Removing, Scans, Markable, Watchable):
    """Records in an index of an engine, or in those behind an alias.

    Attributes:
        location: the address of the engine and the name of the index, without secrets.
        index: the name of the index or alias.
        field: the name of the object field that has the fingerprints.
        own: whether `simdoc-search index` made the index; another one is read, and written only by its owner.
    """

    def __init__(
        self,
        engine: Engine,
        indices: Indices,
        ids: Ids,
        *,
        text_field: str | Sequence[str] | None = None,
        key: HashKey | None = None,
    ) -> None:
        self.location: str = f"{engine.name}/{indices.name}"
        self.index: str = indices.name
        self.field: str = indices.field
        self.own: bool = indices.own
        self._ids = ids
        self._engine = engine.without_closed_indices()
        self._working = self._engine.in_background()
        self._indices = indices
        self._settings = indices.settings.unlocked(key, self.location)
        noted = recorded_text_fields(indices.mappings.values(), self.field)
        self._text_fields = None if self.own else text_field_names(text_field or noted)
        check_text_fields(text_field_names(text_field or ()), indices.mappings, self.field, own=self.own)
        kept = (mapping_at(each, "body") is not None for each in indices.asked.values())
        self.store_texts: bool = all(kept) if self._text_fields is None else bool(self._text_fields)

    @classmethod
    def in_index(
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
        """The store in an index; `open_store` says what the arguments mean and what it raises."""
        location = f"{engine.name}/{index}"
        mappings = mappings_of(engine, index)
        if mappings is None:
            if not create:
                raise StoreNotFoundError(f"there is no index {location}; make it with simdoc-search index")
            asked = settings or Settings().with_key(key)
            body = index_body(asked, field=field or DEFAULT_FIELD, store_texts=store_texts is not False)
            try:
                engine.call("PUT", [index], body)
            except RequestError as error:
                if error.kind != "resource_already_exists_exception":  # another process was faster
                    raise
            mappings = mappings_of(engine, index) or {}
        indices = Indices(engine, index, mappings, field)
        ids = Ids.by(id_field, indices.mappings.values())
        store = cls(engine, indices, ids, text_field=text_field, key=key)
        if settings is not None and not store.settings.satisfies(settings):
            raise FormatMismatchError(
                f"{location} has {store.settings}, not {settings}; use its settings, or another index",
                found=store.settings.to_dict(),
                expected=settings.to_dict(),
            )
        if store.own and store_texts not in (None, store.store_texts):
            kept = "with" if store.store_texts else "without"
            raise StoreError(f"{location} was made {kept} texts; index into another one to change that")
        return store

    @property
    def settings(self) -> Settings:
        """How the fingerprints of this store are made."""
        return self._settings

    @contextmanager
    def writer(self) -> Iterator[RemoteWriter]:
        """A writer; several may write at once, the last one counts. What was sent before an error stays."""
        if not self.own:
            raise StoreError(
                f"{self.location} was not made by simdoc-search index; give its documents fingerprints with "
                "simdoc-search backfill, or with fingerprint_actions in the application that fills it"
            )
        check_unchanged(mappings_of(self._engine, self.index), self.field, self._settings, self.location)
        # A run that broke off may have written what no search shows yet, and would be taken for not written.
        self._working.refresh(self.index, allow=(403,))
        writer = RemoteWriter(self._engine, self.index, self._document, several=len(self._indices.mappings) > 1)
        with closing(writer):
            yield writer
            writer.commit()

    def get(self, id: str, *, text: bool = False, passages: bool = False, sketches: bool = False) -> Record | None:
        """The record of a document, or None.

        Raises:
            StoreError: several documents have this id.
        """
        found = list(self.records([id], text=text, passages=passages, sketches=sketches))
        if len(found) > 1:
            raise StoreError(is_in_several(each.place for each in found))
        return found[0] if found else None

    def records(
        self,
        ids: Iterable[str],
        *,
        text: bool = False,
        passages: bool = False,
        sketches: bool = False,
        filters: Filters | None = None,
    ) -> Iterator[Record]:
        """The records of the documents with these ids that filters keep, all of each id; others are left out."""
        how: dict[str, Any] = {"at_once": TEXTS_AT_ONCE if text else IDS_AT_ONCE, "beside": self._beside(filters)}
        parts = self._parts(text=text, passages=passages, sketches=sketches)
        return map(self._record, find_by_id(self._engine, self.index, self._ids, ids, parts=parts, **how))

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out. Waits for a busy engine."""
        parts = [f"{self.field}.digest", f"{self.field}.origin"]
        found = find_by_id(self._working, self.index, self._ids, ids, parts=parts, at_once=IDS_AT_ONCE)
        records = list(map(self._record, found))
        times = Counter(each.id for each in records)
        for each in records:  # of several with one id none is meant; the writer refuses it and names them
            known = not each.fault and times[each.id] == 1
            yield Digest(each.id, each.digest if known else "", each.origin if times[each.id] == 1 else None)

    def count(self, root: str, *, below: bool = False) -> int:
        """How many documents have this root, or one of the roots below it. Waits for a busy engine."""
        return self._working.count(self.index, of_root(root, below, field=self.field))

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""
        self._indices.look(self._engine)
        documents = self._engine.count(self.index)
        stats = self._engine.call("GET", [self.index, "_stats", "store"], allow=(403,))
        size = (stats or {}).get("_all", {}).get("primaries", {}).get("store", {}).get("size_in_bytes")
        return StoreInfo(
            self.location, documents, size, self._text_bytes(documents), self._settings, text_compressed=False
        )

    def close(self) -> None:
        """Close the connections; what waits for the engine ends."""
        self._engine.close()

    def _text_bytes(self, documents: int) -> int | None:
        """The size of the texts as JSON, projected from some of them; the engine compresses them."""
        if not self.own or not self.store_texts:
            return None
        hits = self._engine.search(self.index, {"size": SAMPLE, "_source": ["body"]})["hits"]["hits"]
        sizes = [len((self._record(hit).text or "").encode("utf-8", "replace")) for hit in hits]
        return round(sum(sizes) / len(sizes) * documents) if sizes else 0

    def _parts(self, *, text: bool = False, passages: bool = False, sketches: bool = False) -> dict[str, Any]:
        left_out = [f"{self.field}.{name}" for name in KINDS if not (passages if name == "passages" else sketches)]
        if self._text_fields is not None:
            included = [self.field, *self._ids.parts, *(self._text_fields if text else ())]
            return {"includes": included, "excludes": left_out}
        left_out += [f"{self.field}.{name}" for name in ("names", "path", "facts", "format")]
        return {"excludes": left_out if text else [*left_out, "body"]}

    def _document(self, record: Record) -> dict[str, Any]:
        return to_source(record, self.settings, field=self.field, store_text=self.store_texts)

    def _record(self, hit: Mapping[str, Any]) -> Record:
        place, source = self._ids.place_of(hit), hit.get("_source") or {}
        length, fault = self.settings.token_length, self._indices.fault_in(place.index)
        return to_record(place, source, length, field=self.field, text_fields=self._text_fields, fault=fault)
