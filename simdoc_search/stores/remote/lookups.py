"""What a store in an engine says of its ids, fields and folders beside the documents themselves."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.documents import MAX_ID_BYTES, Place, spellings
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.closing import Closing
from simdoc_search.stores.excluded_indices import LeftOutIndex
from simdoc_search.stores.fields import beginning_of_facts, indexable, most_alike, names_of, sampled_names
from simdoc_search.stores.filters import Condition, Filters
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import TooLargeError
from simdoc_search.stores.remote.indices import Indices
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits, total_hits
from simdoc_search.stores.remote.queries import Ids, any_path, filter_clauses
from simdoc_search.stores.remote.texts import select_fields, source_paths
from simdoc_search.stores.remote.writer import can_exist

SAMPLE = 200
SUGGESTIONS_LOOKED_AT = 20
FIELDS_AT_ONCE = 50


class Lookups(Closing):
    """The part of such a store that looks up names."""

    index: str
    field: str
    own: bool
    _engine: Engine
    _ids: Ids
    _indices: Indices

    @property
    def engine(self) -> Engine:
        """The engine that it is in."""
        return self._engine

    @abstractmethod
    def _record(self, hit: Mapping[str, Any]) -> Record: ...

    @property
    def ids_said(self) -> str:
        """What an id is in an index of an application, for a message; empty: this is none."""
        if self.own:
            return ""
        return "an id is a document's _id" if self._ids.field is None else f"an id is what {self._ids.field} holds"

    def left_out_indices(self) -> Sequence[LeftOutIndex]:
        """The indices behind the name that cannot be asked; see `HasIndices`."""
        return self._indices.left_out(self._engine)

    def fields_at(self, places: Sequence[Place], fields: Sequence[str]) -> dict[Place, Mapping[str, Any]]:
        """What the documents at some places have in some fields."""
        parts = [*self._ids.parts, *source_paths(fields, own=self.own)]
        ids = dict.fromkeys(each.id for each in places)
        hits = find_by_id(self._engine, self.index, self._ids, ids, parts=parts, at_once=FIELDS_AT_ONCE)
        return {self._ids.place_of(hit): select_fields(hit.get("_source") or {}, fields, own=self.own) for hit in hits}

    def places_of(self, id: str, index: str) -> Collection[Place]:
        """The places of the documents with an id behind a name: an index, an alias or a data stream."""
        parts = self._ids.parts or {"excludes": ["*"]}
        try:
            return {*map(self._ids.place_of, find_by_id(self._engine, index, self._ids, [id], parts=parts, at_once=1))}
        except StoreNotFoundError:
            return ()

    def field_hashes(self, places: Sequence[Place]) -> dict[Place, str]:
        """A hash of all fields of the documents at some places but ours, and but their ids; see `HasFields`."""
        if self.own:
            return {}
        ids = dict.fromkeys(each.id for each in places)
        parts = {"excludes": [self.field]}
        hits = find_by_id(self._engine, self.index, self._ids, ids, parts=parts, at_once=FIELDS_AT_ONCE)
        return {self._ids.place_of(hit): self._hash_of(hit.get("_source") or {}) for hit in hits}

    def _hash_of(self, source: Mapping[str, Any]) -> str:
        values = {name: value for name, value in source.items() if name not in self._ids.parts}
        return text_hash(json.dumps(values, sort_keys=True))

    def named(self, name: str, *, filters: Filters | None = None) -> list[str]:
        """The ids whose last path component, with or without its ending, is `name`; sorted. Those that filters keep."""
        if not self.own:
            return []
        having = [{"term": {f"{self.field}.names": indexable(name)}}, *self._beside(filters)]
        query = {"query": {"bool": {"filter": having}}, "_source": False, "sort": ["_doc"]}
        return sorted({hit["_id"] for hit in all_hits(self._engine, self.index, query)})

    def suggest(self, id: str, *, filters: Filters | None = None) -> list[str]:
        """Up to three stored ids that look like this one, best first, of those that filters keep."""
        if not self.own or len(id) > MAX_ID_BYTES:
            return []
        typed = {name for each in spellings(id) for name in (each, *names_of(each))}
        names, field = [indexable(each) for each in typed], f"{self.field}.names"
        fuzzy = [{"fuzzy": {field: {"value": name, "fuzziness": distance}}} for name in names for distance in (1, 2)]
        begun = [{"prefix": {field: name[: len(name) * 2 // 3]}} for name in names]
        found: set[str] = set()
        for either in (fuzzy, begun):
            query = {"bool": {"should": either, "minimum_should_match": 1, "filter": self._beside(filters)}}
            body = {"query": query, "size": SUGGESTIONS_LOOKED_AT, "_source": False}
            found.update(hit["_id"] for hit in self._engine.search(self.index, body)["hits"]["hits"])
        return most_alike(id, found)

    def beginning(self, begin: str, limit: int) -> list[str]:
        """Some ids that begin so, at most `limit`; sorted. None where ids are not indexed as terms."""
        asked = [self._ids.field] if self._ids.field else [f"{self.field}.{name}" for name in ("path", "names")]
        if not self.own and self._ids.field is None:
            return []
        either = [{"prefix": {field: begin}} for field in asked]
        body = {"query": {"bool": {"should": either}}, "size": limit, "_source": self._ids.parts}
        found = map(self._ids.of, self._engine.search(self.index, body)["hits"]["hits"])
        return sorted(id for id in found if id.startswith(begin))

    def alternatives(self, condition: Condition) -> list[str] | None:
        """What documents have in place of a field, or a path, that none has; see `Store`."""
        query = {"query": self._existence(condition)}
        if self._engine.call("POST", [self.index, "_count"], query, terminate_after=1)["count"]:
            return None
        if not self.own:
            names = {name for mapping in self._indices.mappings.values() for name in _leaves(mapping)}
            return sorted(name for name in names if not name.startswith(f"{self.field}."))
        some = self._engine.search(self.index, {"size": SAMPLE, "_source": ["metadata"]})["hits"]["hits"]
        return sampled_names(map(self._record, some), condition)

    def _beside(self, filters: Filters | None) -> list[dict[str, Any]]:
        """The clauses of filters."""
        return filter_clauses(filters or {}, self._indices.mappings.values(), field=self.field, own=self.own)

    def _existence(self, condition: Condition) -> dict[str, Any]:
        """The query of the documents that have a field at all, or a path that begins so."""
        if not self.own:
            return {"exists": {"field": condition.field}}
        if condition.field == "path":
            return any_path(condition.values, self.field)
        return {"prefix": {f"{self.field}.facts": beginning_of_facts(condition.field)}}


def _leaves(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[str]:
    for name, each in mapping.get("properties", {}).items():
        if "properties" in each:
            yield from _leaves(each, f"{prefix}{name}.")
        else:
            yield prefix + name


MOST_OF_ONE_ID = 100


def find_by_id(
    engine: Engine,
    index: str,
    ids: Ids,
    wanted: Iterable[str],
    *,
    parts: dict[str, Any] | list[str],
    at_once: int,
    beside: Sequence[dict[str, Any]] = (),
) -> Iterator[RawHit]:
    """All documents with these ids, where several have one id all of them.

    Args:
        engine: where they are.
        index: the name of the index, or of an alias.
        ids: how documents are named.
        wanted: the ids; one that no document can have is left out.
        parts: what of them to load.
        at_once: how many to ask for by one request.
        beside: clauses that must hold, too.

    Raises:
        StoreError: as `Engine.call`.
    """
    asked = [each for each in wanted if can_exist(each)]

    def query(some: list[str]) -> dict[str, Any]:
        return {"bool": {"filter": [ids.query(some), *beside]}} if beside else ids.query(some)

    for start in range(0, len(asked), at_once):
        yield from _found(engine, index, query, asked[start : start + at_once], parts)


def _found(
    engine: Engine,
    index: str,
    query: Callable[[list[str]], dict[str, Any]],
    some: list[str],
    parts: dict[str, Any] | list[str],
) -> list[RawHit]:
    size = 2 * len(some) if len(some) > 1 else MOST_OF_ONE_ID
    body: dict[str, Any] = {"query": query(some), "size": size, "track_total_hits": True, "_source": parts}
    body["seq_no_primary_term"] = True  # for those that change what they found
    try:
        answer = engine.search(index, body)
        hits: list[RawHit] = answer["hits"]["hits"]
        if total_hits(engine, answer) <= size or len(some) == 1:
            return hits
    except TooLargeError:
        if len(some) == 1:
            raise
    middle = len(some) // 2
    return [hit for half in (some[:middle], some[middle:]) for hit in _found(engine, index, query, half, parts)]
