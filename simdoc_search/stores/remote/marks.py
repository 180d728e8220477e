"""Marks: which document each one duplicates, written into the documents themselves.

    simdoc.duplicate_of   the id of the document that is kept for it
    simdoc.cluster        the same in all documents of a group, the kept one too, and in no others

They are written by guarded updates that touch these two fields alone. An application that replaces a document takes its
mark away; one that updates some fields of it leaves the mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from simdoc_search.documents import Place
from simdoc_search.errors import StoreError
from simdoc_search.stores.remote.bulk import Outcome
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.fingerprint_value import fingerprint_in
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.mapping_check import find_faults
from simdoc_search.stores.remote.mappings import add_fields, fields_left, fields_of
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.queries import Ids
from simdoc_search.stores.remote.records import to_record
from simdoc_search.stores.remote.schema import MARK_FIELDS, component_template
from simdoc_search.stores.remote.updates import GuardedUpdates

MALFORMED = 400
"""The status of a document whose fingerprint is in a form that an update would destroy."""

_NOT_READ = ("tokens", "passages", "names", "path", "facts", "origin")
_ANY_LENGTH = 4  # of tokens, which are not read


@dataclass(frozen=True, slots=True)
class Mark:
    """What a document has in the two fields; nothing in either, if it is in no group."""

    duplicate_of: str | None = None
    cluster: str | None = None

    def __bool__(self) -> bool:
        return self != Mark()


class Marks:
    """The marks of all documents behind the name of an index or an alias. Their fields are mapped first.

    Args:
        engine: where the indices are.
        index: the name.
        field: the object field that has the fingerprints.
        ids: how documents are named.

    Raises:
        StoreError: one of the indices cannot have them; then nothing was changed in any.
    """

    def __init__(self, engine: Engine, index: str, field: str, ids: Ids) -> None:
        self._engine = engine
        self._index = index
        self._field = field
        self._ids = ids
        self._parts = {"includes": [field, *ids.parts], "excludes": [f"{field}.{name}" for name in _NOT_READ]}
        self._updates = self._prepared(engine.call("GET", [index]))
        self.refresh()  # marks of a run that was killed may be there, and shown by no search yet

    def marked(self) -> Iterator[RawHit]:
        """The documents that have a mark."""
        either = [{"exists": {"field": f"{self._field}.{name}"}} for name in MARK_FIELDS]
        query = {"bool": {"should": either, "minimum_should_match": 1}}
        body = {"query": query, "sort": ["_doc"], "_source": self._parts, "seq_no_primary_term": True}
        return all_hits(self._engine, self._index, body)

    def at(self, places: Iterable[Place]) -> list[RawHit]:
        """The documents at these places, as far as they are there."""
        wanted = set(places)
        ids = dict.fromkeys(each.id for each in wanted)
        found = find_by_id(self._engine, self._index, self._ids, ids, parts=self._parts, at_once=len(ids) or 1)
        return [hit for hit in found if self.place_of(hit) in wanted]

    def place_of(self, hit: RawHit) -> Place:
        """Where a document is."""
        return self._ids.place_of(hit)

    def text_hash_of(self, hit: RawHit) -> str:
        """The hash of the text of which a document has the fingerprint; empty if it has none."""
        return to_record(self.place_of(hit), hit.get("_source") or {}, _ANY_LENGTH, field=self._field).text_hash

    def mark_of(self, hit: RawHit) -> Mark:
        """The mark that a document has."""
        ours = fingerprint_in(hit.get("_source") or {}, self._field)
        return Mark(*(ours.get(name) for name in MARK_FIELDS)) if isinstance(ours, Mapping) else Mark()

    def cluster(self, kept: Place) -> str:
        """What the members of a group share: the id of the kept one, and what tells it from another one of that id."""
        index = kept.index if len(self._updates) > 1 else None
        if index is None and kept.routing is None:
            return kept.id
        return "/".join(quote(each or "", safe="") for each in (index, kept.routing, kept.id))

    def write(
        self, hits: list[RawHit], wanted: Callable[[RawHit], Mark | None], *, anew: bool = False
    ) -> Iterator[tuple[RawHit, Outcome]]:
        """Give documents their marks, each on condition that nobody else changed it meanwhile; else it is read again.

        Args:
            hits: the documents.
            wanted: the mark that one shall have; None: it is left as it is.
            anew: documents are indexed anew even if they have that mark, as no search found it.

        Raises:
            StoreError: as `GuardedUpdates.apply`.
        """
        malformed: list[RawHit] = []

        def changes(some: list[RawHit]) -> Iterator[tuple[RawHit, dict[str, Any]]]:
            for hit in some:
                mark = wanted(hit)
                if mark is None:
                    continue
                if self._can_be_merged(hit):
                    yield hit, {"doc": self._doc(hit, mark), "detect_noop": not anew}
                else:
                    malformed.append(hit)

        by_index: dict[str, list[RawHit]] = {}
        for hit in hits:
            by_index.setdefault(hit["_index"], []).append(hit)
        for index, some in by_index.items():
            yield from self._updates_of(index).apply(some, changes)
        how = f"its {self._field} is not as simdoc-search writes it; simdoc-search backfill --stale mends that"
        yield from ((hit, Outcome(hit["_index"], MALFORMED, error="malformed", reason=how)) for hit in malformed)

    def refresh(self) -> None:
        """Let searches see what was written, if we may."""
        self._engine.refresh(self._index, allow=(403,))

    def _doc(self, hit: RawHit, mark: Mark) -> dict[str, Any]:
        """What is merged; a key with dots would be a second value, and is emptied."""
        dotted = {f"{self._field}.{name}": None for name in MARK_FIELDS}
        emptied = {key: None for key in dotted if key in (hit.get("_source") or {})}
        return {**emptied, self._field: {"duplicate_of": mark.duplicate_of, "cluster": mark.cluster}}

    def _can_be_merged(self, hit: RawHit) -> bool:
        """Whether an update adds to what is there: it would replace a list, of which engines do not show all."""
        source = hit.get("_source") or {}
        if self._field in source:
            return isinstance(source[self._field], Mapping)
        return any(key.startswith(f"{self._field}.") for key in source)

    def _updates_of(self, index: str) -> GuardedUpdates:
        if index not in self._updates:
            raise StoreError(f"the index {index} came behind {self._index} meanwhile; run it again")
        return self._updates[index]

    def _prepared(self, found: Mapping[str, Any]) -> dict[str, GuardedUpdates]:
        """The ways to write to each index, once all of them have the fields."""
        missing = {index: self._missing(index, each) for index, each in found.items()}
        for index, fields in missing.items():
            if reason := add_fields(self._engine, index, self._field, fields):
                raise _unfit(index, reason)
        return {
            index: GuardedUpdates(self._engine, index, each["settings"]["index"]["uuid"], self._parts)
            for index, each in found.items()
        }

    def _missing(self, index: str, found: Mapping[str, Any]) -> dict[str, Any]:
        """The mapping of what an index lacks.

        Raises:
            StoreError: it cannot have it.
        """
        mappings, settings = found["mappings"], found["settings"]["index"]
        if fault := next((each for each in find_faults(mappings, settings, self._field) if each.blocks_writes), None):
            raise _unfit(index, fault.problem)
        there = fields_of(mappings, self._field)
        ours = component_template(field=self._field)["template"]["mappings"]["properties"][self._field]["properties"]
        missing = {name: ours[name] for name in MARK_FIELDS if name not in there}
        left, limit = fields_left(mappings, settings)
        if left < len(missing):
            raise _unfit(index, f"{max(left, 0)} of {limit} fields are left; raise index.mapping.total_fields.limit")
        return missing


class Markable:
    """The part of a store that has marks."""

    index: str
    field: str
    _working: Engine
    _ids: Ids

    def marks(self) -> Marks:
        """The marks of its documents. Raises as `Marks`."""
        return Marks(self._working, self.index, self.field, self._ids)


def _unfit(index: str, reason: str) -> StoreError:
    return StoreError(f"the documents of the index {index} cannot be marked: {reason}")
