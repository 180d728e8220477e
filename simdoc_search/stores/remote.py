"""A store in an index of OpenSearch or Elasticsearch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from functools import cached_property
from typing import Any

from simdoc_search.corpus.document import MAX_ID_BYTES
from simdoc_search.errors import FormatMismatchError, StoreError, StoreNotFoundError
from simdoc_search.query.dsl import MAX_CLAUSES, can_count_tokens, clause_count
from simdoc_search.query.planner import Bands, Plan
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Digest, Filters, Record, StoreInfo
from simdoc_search.stores.fields import indexable, most_alike, names_of
from simdoc_search.stores.patience import patiently
from simdoc_search.stores.remote_candidates import FIRST_PAGE, RemoteCandidates, scroll
from simdoc_search.stores.remote_mappings import common_settings, fields_of, mapping_at, mappings_of
from simdoc_search.stores.remote_query import Ids, filter_clauses, plan_query
from simdoc_search.stores.remote_schema import to_record, to_source
from simdoc_search.stores.remote_writer import RemoteWriter, can_exist
from simdoc_search.stores.rest import Engine, RequestError, max_clauses
from simdoc_search.stores.templates import FIELD, store_index

__all__ = ["RemoteStore"]

IDS_AT_ONCE = 500
SUGGESTIONS_LOOKED_AT = 20
SAMPLE = 200

BANDS_PAGE = 200
"""Candidates of bands that are counted here, before the engine is asked to count."""


class RemoteStore:
    """Records in an index of an engine, or in those behind an alias.

    Attributes:
        location: the address of the engine and the name of the index, without secrets.
        index: the name of the index or alias.
        field: the name of the object field that has the fingerprints.
        own: whether `simdoc-search index` made the index; another one is read, and written only by its owner.
    """

    def __init__(
        self, engine: Engine, index: str, mappings: Mapping[str, Mapping[str, Any]], field: str, ids: Ids
    ) -> None:
        self.location = f"{engine.name}/{index}"
        self.index = index
        self.field = field
        self._ids = ids
        self._engine = engine
        self._mappings = mappings
        self._settings = common_settings(mappings, field, self.location)
        self.own = all("facts" in fields_of(each, field) for each in mappings.values())
        self.store_texts = all(mapping_at(each, "body") is not None for each in mappings.values())

    @classmethod
    def in_index(
        cls,
        engine: Engine,
        index: str,
        settings: Settings | None,
        *,
        create: bool,
        store_texts: bool | None,
        field: str = FIELD,
        id_field: str | None = None,
    ) -> RemoteStore:
        """The store in an index; `open_store` says what the arguments mean and what it raises."""
        location = f"{engine.name}/{index}"
        mappings = mappings_of(engine, index)
        if mappings is None:
            if not create:
                raise StoreNotFoundError(f"there is no index {location}; make it with simdoc-search index")
            body = store_index(settings or Settings(), field=field, store_texts=store_texts is not False)
            try:
                engine.call("PUT", [index], body)
            except RequestError as error:
                if error.kind != "resource_already_exists_exception":  # another process was faster
                    raise
            mappings = mappings_of(engine, index) or {}
        store = cls(engine, index, mappings, field, Ids(id_field))
        if settings is not None and settings != store.settings:
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
        if mappings_of(self._engine, self.index) is None:  # it would be made, without our mapping
            raise StoreNotFoundError(f"the index {self.location} is gone; open the store again to make it")
        writer = RemoteWriter(self._engine, self.index, self._document, self._places)
        with closing(writer):
            yield writer
            writer.commit()

    def get(self, id: str, *, text: bool = False) -> Record | None:
        """The record of a document, or None."""
        return next(self._found_by_id([id], self._parts(text)), None)

    def records(self, ids: Iterable[str]) -> Iterator[Record]:
        """The records of the documents with these ids, without texts; unknown ids are left out."""
        return self._found_by_id(ids, self._parts(text=False))

    def digests(self, ids: Iterable[str]) -> Iterator[Digest]:
        """What is known of the documents with these ids; unknown ids are left out. Waits for a busy engine."""
        parts = [f"{self.field}.text_hash", f"{self.field}.origin"]
        wanted = list(ids)
        for record in patiently(lambda: list(self._found_by_id(wanted, parts))):
            yield Digest(record.id, record.digest, record.origin)

    def named(self, name: str) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted."""
        if not self.own:
            return []
        query = {"query": {"term": {f"{self.field}.names": indexable(name)}}, "_source": False, "sort": ["_doc"]}
        return sorted(hit["_id"] for hit in scroll(self._engine, self.index, query))

    def suggest(self, id: str) -> list[str]:
        """Up to three stored ids that look like this one, best first."""
        if not self.own or len(id) > MAX_ID_BYTES:
            return []
        names, field = [indexable(each) for each in {id, *names_of(id)}], f"{self.field}.names"
        fuzzy = [{"fuzzy": {field: {"value": name, "fuzziness": distance}}} for name in names for distance in (1, 2)]
        begun = [{"prefix": {field: name[: len(name) * 2 // 3]}} for name in names]
        found: set[str] = set()
        for either in (fuzzy, begun):
            body = {"query": {"bool": {"should": either}}, "size": SUGGESTIONS_LOOKED_AT, "_source": False}
            found.update(hit["_id"] for hit in self._search(body)["hits"]["hits"])
        return most_alike(id, found)

    def candidates(self, plan: Plan, *, filters: Filters | None = None, exclude: str | None = None) -> RemoteCandidates:
        """The documents that a plan finds, without the one whose id is `exclude`."""
        return self.candidates_of_many([(plan, exclude)], filters=filters)[0]

    def candidates_of_many(
        self, plans: Sequence[tuple[Plan, str | None]], *, filters: Filters | None = None
    ) -> list[RemoteCandidates]:
        """The same for many plans, each with the id to leave out, in one request or two."""
        beside = filter_clauses(filters or {}, self._mappings.values(), field=self.field, own=self.own)
        # Bands only choose at first: mostly few documents, whose equal tokens are counted here for less.
        asked = [self._query(*each, beside, scored=not isinstance(each[0], Bands)) for each in plans]
        answers = self._search_many(asked)
        for number, (plan, exclude) in enumerate(plans):
            if isinstance(plan, Bands) and answers[number]["hits"]["total"]["value"] > BANDS_PAGE:
                limit = self._max_clauses
                if can_count_tokens(plan, clause_count(beside) + 1, limit):
                    asked[number] = self._query(plan, exclude, beside, scored=True)
                    answers[number] = self._search(asked[number])
        return [
            RemoteCandidates(
                self._engine,
                self.index,
                plan,
                body["query"],
                scored=body["track_scores"],
                first=answer,
                token_length=self.settings.token_length,
                field=self.field,
                ids=self._ids,
            )
            for (plan, _), body, answer in zip(plans, asked, answers, strict=True)
        ]

    def scan(self, *, text: bool = False) -> Iterator[Record]:
        """All records, in no particular order, as they are when the iteration begins."""
        body = {"query": {"match_all": {}}, "sort": ["_doc"], "_source": self._parts(text)}
        for hit in scroll(self._engine, self.index, body):
            yield self._record(hit)

    def info(self) -> StoreInfo:
        """Number of documents, size, settings."""
        documents = self._engine.call("GET", [self.index, "_count"])["count"]
        stats = self._engine.call("GET", [self.index, "_stats", "store"], allow=(403,))
        size = stats["_all"]["primaries"]["store"]["size_in_bytes"] if stats else None
        return StoreInfo(
            self.location, documents, size, self._text_bytes(documents), self._settings, text_compressed=False
        )

    def close(self) -> None:
        """Close the connections."""
        self._engine.close()

    def _text_bytes(self, documents: int) -> int | None:
        """The size of the texts as JSON, projected from some of them; the engine compresses them."""
        if not self.own or not self.store_texts:
            return None
        hits = self._search({"size": SAMPLE, "_source": ["body"]})["hits"]["hits"]
        sizes = [len((hit["_source"].get("body") or "").encode()) for hit in hits]
        return round(sum(sizes) / len(sizes) * documents) if sizes else 0

    def _query(self, plan: Plan, exclude: str | None, filters: list[dict[str, Any]], *, scored: bool) -> dict[str, Any]:
        used = plan.clauses if isinstance(plan, Bands) else len(plan.tokens)
        limit = self._max_clauses if used + clause_count(filters) + 1 > MAX_CLAUSES else MAX_CLAUSES
        query = plan_query(plan, filters, exclude, self._ids, field=self.field, scored=scored, max_clauses=limit)
        return {
            "query": query,
            "size": FIRST_PAGE if scored else BANDS_PAGE,
            "track_total_hits": True,
            "track_scores": scored,
            "sort": ["_score"] if scored else ["_doc"],
            "_source": [f"{self.field}.tokens", *self._ids.parts],
        }

    @cached_property
    def _max_clauses(self) -> int:
        return max_clauses(self._engine)

    def _search(self, body: dict[str, Any]) -> Any:
        return self._engine.search(self.index, body)

    def _search_many(self, bodies: list[dict[str, Any]]) -> list[Any]:
        if len(bodies) > 1:
            return self._engine.search_many(self.index, bodies)
        return [self._search(body) for body in bodies]

    def _found_by_id(self, ids: Iterable[str], parts: dict[str, Any] | list[str]) -> Iterator[Record]:
        """By a search, as it finds documents behind an alias and with any routing."""
        asked = [each for each in ids if can_exist(each)]
        for start in range(0, len(asked), IDS_AT_ONCE):
            some = asked[start : start + IDS_AT_ONCE]
            body = {"query": self._ids.query(some), "size": 2 * len(some), "_source": parts}
            hits = self._search(body)["hits"]["hits"]
            self._check_single(hits)
            yield from map(self._record, hits)

    def _check_single(self, hits: list[Any]) -> None:
        places: dict[str, str] = {}
        for hit in hits:
            id, index = self._ids.of(hit), hit["_index"]
            if (other := places.setdefault(id, index)) != index:
                raise StoreError(f"the document {id!r} is in both {other} and {index}; name one of the two indices")

    def _places(self, ids: list[str]) -> dict[str, str]:
        """The index of each stored document, where there are several."""
        if len(self._mappings) == 1:
            return {}
        query = {"query": {"ids": {"values": ids}}, "size": 2 * len(ids), "_source": False}
        hits = patiently(lambda: self._search(query))["hits"]["hits"]
        self._check_single(hits)
        return {hit["_id"]: hit["_index"] for hit in hits}

    def _parts(self, text: bool) -> dict[str, Any]:
        if not self.own:
            return {"includes": [self.field, *self._ids.parts]}
        left_out = [f"{self.field}.{name}" for name in ("names", "path", "facts", "format")]
        return {"excludes": left_out if text else [*left_out, "body"]}

    def _document(self, record: Record) -> dict[str, Any]:
        return to_source(record, self.settings, field=self.field, store_text=self.store_texts)

    def _record(self, hit: Mapping[str, Any]) -> Record:
        return to_record(self._ids.of(hit), hit["_source"], self.settings.token_length, field=self.field)
