"""Watches: standing queries for copies of a document, kept by the engine (percolator), and asked for each new one.

    {"query": the query for documents that overlap it, "simdoc": {"tokens": "...", "buckets": 512},
     "watched": {"id": "...", "index": "...", "alias": "...", "routing": "...", "overlap": 50, "since": "2026-11-30"}}

They lie in an index of their own, each with the tokens that its document had when it was set.
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

from simdoc_search.documents import Place
from simdoc_search.errors import FormatMismatchError, StoreError
from simdoc_search.query.dsl import to_dsl
from simdoc_search.query.plans import Plan
from simdoc_search.sketch.kinds import KINDS
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import encode
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.mappings import add_fields, fields_of, mappings_of
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.records import codes_of
from simdoc_search.stores.remote.schema import component_template

WATCHES = "simdoc-watches"
"""The index of watches, unless another one is named."""

QUERY, WATCHED = "query", "watched"
"""Fields of a watch: what is asked of a new document, and whose copies are watched for."""

_KEYWORDS = ("id", "index", "alias", "routing")


@dataclass(frozen=True, slots=True)
class Watch:
    """A document whose copies are watched for.

    Attributes:
        place: where it was.
        overlap: of its copies at least, over 0, up to 1.
        since: the time at which the watch was set, ISO 8601, UTC.
        codes: its tokens then, as in `Record`; empty if they were not asked for.
        outdated: whether it is of fingerprints of other settings than documents have now, and finds none of these.
    """

    place: Place
    overlap: Fraction
    since: str
    codes: NDArray[np.uint32]
    outdated: bool = False


class Watches:
    """The watches in an engine for documents of one index or alias.

    Args:
        engine: where they are.
        watches: the name of their index.
        index: the name of the documents' index, or of their alias.
        field: the object field of the fingerprints.
        settings: those of the fingerprints.

    Raises:
        StoreError: the index of watches is another one.
    """

    def __init__(self, engine: Engine, watches: str, index: str, field: str, settings: Settings) -> None:
        self.name = watches
        self._engine = engine
        self._index = index
        self._field = field
        self._settings = settings
        self._is_there = False
        self._is_mapped = False  # that index has our field
        self._of_others: FormatMismatchError | None = None  # it has it for fingerprints of other settings
        self._look(mappings_of(engine, watches))

    def set(self, record: Record, made: Plan, overlap: Fraction) -> Watch:
        """Watch for copies of a document; an older watch of it is replaced.

        Args:
            record: the document.
            made: the plan that finds its copies.
            overlap: what the plan asks for.

        Raises:
            FormatMismatchError: its index has watches with this field, of fingerprints of other settings.
            StoreError: the engine has no percolator, or refuses.
        """
        self._make()
        since = datetime.now(timezone.utc).isoformat(timespec="seconds")
        watch = Watch(record.place, overlap, since, record.codes)
        self._engine.call("PUT", [self.name, "_doc", _id_of(watch.place)], self._document(watch, made), refresh=True)
        return watch

    def all(self) -> Iterator[Watch]:
        """The watches for documents of this index."""
        if self._is_there:
            source = [WATCHED, f"{self._field}.buckets"]
            body = {"query": {"bool": {"filter": [self._of_index()]}}, "sort": ["_doc"], "_source": source}
            yield from map(self._watch, all_hits(self._engine, self.name, body))

    def remove(self, id: str) -> int:
        """End the watches for a document; how many there were."""
        if not self._is_there:
            return 0
        query = {"bool": {"filter": [self._of_index(), {"term": {f"{WATCHED}.id": id}}]}}
        hits = list(all_hits(self._engine, self.name, {"query": query, "sort": ["_doc"], "_source": False}))
        for hit in hits:
            self._engine.call("DELETE", [self.name, "_doc", hit["_id"]], allow=(404,), refresh=True)
        return len(hits)

    def copied_by(self, place: Place) -> Iterator[Watch]:
        """The watches that a stored document meets, of any index; not that of the document itself.

        Raises:
            FormatMismatchError: the watches are of fingerprints of other settings.
            StoreError: the document is gone, or the engine refuses.
        """
        if self._of_others:
            raise self._of_others
        if not self._is_mapped:
            return
        where = {"index": place.index, "id": place.id, **({"routing": place.routing} if place.routing else {})}
        query = {
            "filter": [{"percolate": {"field": QUERY, **where}}],
            "must_not": [{"ids": {"values": [_id_of(place)]}}],
        }
        body = {"query": {"bool": query}, "sort": ["_doc"], "_source": [WATCHED, self._field]}
        yield from map(self._watch, all_hits(self._engine, self.name, body))

    def _look(self, there: Mapping[str, Mapping[str, Any]] | None) -> None:
        """See whether the index of watches is there, and what it has of our field."""
        for name, mapping in (there or {}).items():
            if mapping.get("properties", {}).get(QUERY, {}).get("type") != "percolator":
                raise StoreError(f"the index {name} of {self._engine.name} is not one of watches; name another one")
            found = fields_of(mapping, self._field).get("tokens", {}).get("meta")
            self._is_there, self._is_mapped = True, found is not None
            if found not in (None, self._fields()["tokens"]["meta"]):
                why = f"the watches in {name} are of fingerprints of other settings"
                how = "name another index for these, with --watches"
                self._of_others = FormatMismatchError(f"{why}; {how}", found=found)

    def _make(self) -> None:
        """Make the index of watches, or its mapping of our field, where there is none."""
        if not self._is_there:
            self._make_index()
        if self._of_others:
            raise self._of_others
        if not self._is_mapped:
            if reason := add_fields(self._engine, self.name, self._field, self._fields()):
                raise StoreError(f"the index {self.name} cannot have watches of {self._field}: {reason}")
            self._is_mapped = True

    def _make_index(self) -> None:
        keywords = {name: {"type": "keyword"} for name in _KEYWORDS}
        watched = {**keywords, "overlap": {"type": "float"}, "since": {"type": "date"}}
        properties = {
            QUERY: {"type": "percolator"},
            self._field: {"properties": self._fields()},
            WATCHED: {"properties": watched},
        }
        # An index template of the application may fit the name, and its pipeline would remove what a watch has.
        settings = {"index.default_pipeline": "_none", "index.final_pipeline": "_none"}
        body = {"settings": settings, "mappings": {"dynamic": False, "properties": properties}}
        try:
            self._engine.call("PUT", [self.name], body)
        except RequestError as error:
            if error.kind == "resource_already_exists_exception":  # another process was faster
                return self._look(mappings_of(self._engine, self.name))
            if "percolator" in str(error):
                how = "ask simdoc-search similar for each new document instead"
                raise StoreError(f"{self._engine.name} cannot watch, as it has no percolator; {how}") from error
            raise
        self._is_there = self._is_mapped = True
        return None

    def _fields(self) -> dict[str, Any]:
        """The mapping of what a watch has of our field."""
        none: dict[str, Any] = dict.fromkeys(KINDS)
        template = component_template(replace(self._settings, **none, language=False), self._field)
        ours = template["template"]["mappings"]["properties"][self._field]["properties"]
        return {name: ours[name] for name in ("tokens", "buckets")}

    def _document(self, watch: Watch, made: Plan) -> dict[str, Any]:
        place = watch.place
        watched = {
            "id": place.id,
            "index": place.index,
            "alias": self._index if self._index != place.index else None,
            "routing": place.routing,
            "overlap": float(100 * watch.overlap),
            "since": watch.since,
        }
        return {
            QUERY: to_dsl(made, f"{self._field}.tokens", buckets_field=f"{self._field}.buckets"),
            self._field: {
                "tokens": " ".join(encode(watch.codes, self._settings.token_length)),
                "buckets": len(watch.codes),
            },
            WATCHED: {name: value for name, value in watched.items() if value is not None},
        }

    def _of_index(self) -> dict[str, Any]:
        names = [{"term": {f"{WATCHED}.{name}": self._index}} for name in ("index", "alias")]
        return {"bool": {"should": names, "minimum_should_match": 1}}

    def _watch(self, hit: RawHit) -> Watch:
        source = hit.get("_source") or {}
        watched: Any = source.get(WATCHED)
        with suppress(KeyError, TypeError, ValueError, AttributeError):
            place = Place(str(watched["id"]), str(watched["index"]), watched.get("routing"))
            codes = codes_of(source, self._settings.token_length, field=self._field)
            return Watch(
                place,
                Fraction(str(watched["overlap"])) / 100,
                str(watched["since"]),
                np.zeros(0, np.uint32) if isinstance(codes, str) else codes,
                outdated=bool(self._of_others) or self._field not in source,
            )
        raise StoreError(f"the document {hit['_id']!r} in {self.name} is not a watch; remove it")


class Watchable:
    """The part of a store whose documents can be watched."""

    index: str
    field: str
    _settings: Settings
    _engine: Engine

    def watches(self, name: str = WATCHES) -> Watches:
        """The watches for its documents. Raises as `Watches`."""
        return Watches(self._engine, name, self.index, self.field, self._settings)


def _id_of(place: Place) -> str:
    """One watch for each document: what tells it from all others, in as many characters as an id may have."""
    return hashlib.sha256(json.dumps([place.index, place.id, place.routing]).encode()).hexdigest()
