"""Changes documents that others may be writing to, without losing their writes.

Each change is made only if the document still has the version that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

from simdoc_search.documents import Place
from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.record import KEPT_CHANGED, NOT_IN_STORE, TEXT_CHANGED, Removal
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.bulk import Action, BulkWriter, Outcome, reason_of, routing_of, version_of
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.lookups import find_by_id
from simdoc_search.stores.remote.point_in_time import RawHit

MAX_CONFLICTS = 10
"""How often a change is tried on a document that others keep changing."""

NOT_FOUND, CONFLICT = 404, 409
"""Statuses of a document that was deleted, and of one that another writer has changed."""

ALWAYS_CHANGED = "changed_each_time"
"""The error for a document that others changed each time it was read."""

_REMOVED_AT_ONCE = 100  # whole documents are kept in memory to restore them

Changes = Callable[[list[RawHit]], Iterable[tuple[RawHit, dict[str, Any]]]]
"""Takes hits with version numbers (`seq_no_primary_term`). Returns the hits to update, each with its update body."""


class GuardedUpdates:
    """Updates documents of one index. Several threads may use it.

    Args:
        engine: the engine.
        index: name of the index.
        uuid: unique id of the index.
        source: the `_source` filter for documents that are read again.
    """

    def __init__(self, engine: Engine, index: str, uuid: str, source: list[str] | dict[str, list[str]]) -> None:
        self._engine = engine
        self._source = source
        self._bulk = BulkWriter(engine, index, {index: uuid})

    def apply(self, hits: list[RawHit], changes: Changes) -> Iterator[tuple[RawHit, Outcome]]:
        """Update documents, and yield the outcome of each attempt.

        A document that another writer has changed is read and updated again.

        Raises:
            IndexGoneError: the index was removed, or another one has its name.
            StoreUnavailableError: the engine accepted nothing before the deadline.
            StoreError: the engine refused a whole request.
            StoppedError: the engine's `stopped` is set; the yielded outcomes are final.
        """
        for _ in range(MAX_CONFLICTS):
            actions = [(hit, self._action(hit, body)) for hit, body in changes(hits)]
            hit_of = {id(action): hit for hit, action in actions}
            conflicts: list[RawHit] = []
            for action, outcome in self._bulk.write([action for _, action in actions]):
                hit = hit_of[id(action)]
                conflicts += [hit] if outcome.status == CONFLICT else []
                yield hit, outcome
            if not conflicts:
                return
            hits = []
            for hit, current in zip(conflicts, self._read_again(conflicts), strict=True):
                if current["found"]:
                    hits.append(current)
                else:
                    yield hit, Outcome(hit["_index"], NOT_FOUND, error="document_missing_exception", reason="deleted")
        reason = f"other writers changed it each of the {MAX_CONFLICTS} times it was read; run the command again"
        yield from ((hit, Outcome(hit["_index"], CONFLICT, error=ALWAYS_CHANGED, reason=reason)) for hit in hits)

    @staticmethod
    def _action(hit: RawHit, body: Mapping[str, Any]) -> Action:
        return Action.make("update", hit["_id"], body, _index=hit["_index"], **version_of(hit), **routing_of(hit))

    def _read_again(self, hits: list[RawHit]) -> list[RawHit]:
        places = [
            {"_index": hit["_index"], "_id": hit["_id"], "_source": self._source, **routing_of(hit)} for hit in hits
        ]
        return documents_at(self._engine, places)


def documents_at(engine: Engine, places: list[dict[str, Any]]) -> list[RawHit]:
    """Return current documents, even if searches do not show them yet, in the order of their places.

    Args:
        engine: the engine.
        places: the places as `_mget` expects them.

    Returns:
        The documents. `found` says whether a document exists.

    Raises:
        StoreError: as `Engine.call`; or a document cannot be read because its shard is missing.
    """
    documents: list[RawHit] = engine.call("POST", ["_mget"], {"docs": places})["docs"]
    if error := next((document["error"] for document in documents if "error" in document), None):
        raise StoreUnavailableError(
            f"documents of {engine.name} cannot be read ({reason_of(error)}); run the command again later"
        )
    return documents


def remove_documents(access: IndexAccess, removals: Mapping[Place, Removal]) -> dict[Place, str]:
    """Remove documents if their conditions hold. Return place to reason for documents that were not removed.

    An index has no locks, and each of two runs may remove the document that the other run keeps. So the kept document
    is read again when searches show the removal. If the kept document is gone, the removed document is restored. At
    least one of two such runs sees the removal by the other.
    """
    not_removed: dict[Place, str] = {}
    places = list(removals)
    for start in range(0, len(places), _REMOVED_AT_ONCE):
        chunk = {place: removals[place] for place in places[start : start + _REMOVED_AT_ONCE]}
        removed = _remove(access, chunk, not_removed)
        access.background.refresh(access.name, allow=(403,))
        kept = {document for place in removed if (document := removals[place].kept)}
        hits = _hits_at(access, {place for place, _ in kept}, [f"{access.field}.text_hash", *access.ids.parts])
        gone = kept - {(place, access.record(hit).text_hash) for place, hit in hits.items()}
        if lost := {place: hit for place, hit in removed.items() if removals[place].kept in gone}:
            _restore(access, lost, not_removed)
    return not_removed


def _remove(
    access: IndexAccess, removals: Mapping[Place, Removal], not_removed: dict[Place, str]
) -> dict[Place, RawHit]:
    """Remove documents whose text is still the expected one, and return them."""
    hits = _hits_at(access, removals, {})
    actions: dict[Place, Action] = {}
    for place, removal in removals.items():
        hit = hits.get(place)
        if hit is None:
            not_removed[place] = NOT_IN_STORE
        elif access.record(hit).text_hash != removal.text_hash:
            not_removed[place] = TEXT_CHANGED
        else:
            where = {"_index": hit["_index"], **version_of(hit), **routing_of(hit)}
            actions[place] = Action.make("delete", hit["_id"], **where)
    removed = {}
    for place, outcome in _written(access, actions):
        if outcome.error:
            not_removed[place] = TEXT_CHANGED if outcome.status == CONFLICT else outcome.reason
        else:
            removed[place] = hits[place]
    return removed


def _restore(access: IndexAccess, lost: Mapping[Place, RawHit], not_removed: dict[Place, str]) -> None:
    actions = {}
    for place, hit in lost.items():
        where = {"_index": hit["_index"], "pipeline": "_none", **routing_of(hit)}
        actions[place] = Action.make("create", hit["_id"], hit["_source"], **where)
    for place, outcome in _written(access, actions):
        is_lost = outcome.error and outcome.status != CONFLICT  # on a conflict, the application has written it again
        failure = f"; this document was removed and could not be restored: {outcome.reason}" if is_lost else ""
        not_removed[place] = KEPT_CHANGED + failure
    access.background.refresh(access.name, allow=(403,))


def _written(access: IndexAccess, actions: Mapping[Place, Action]) -> Iterator[tuple[Place, Outcome]]:
    place_of = {id(action): place for place, action in actions.items()}
    for action, outcome in BulkWriter(access.background, access.name).write(actions.values()):
        yield place_of[id(action)], outcome


def _hits_at(access: IndexAccess, places: Collection[Place], source: Any) -> dict[Place, RawHit]:
    """Return the documents at these places. Missing ones are omitted."""
    ids = dict.fromkeys(place.id for place in places)
    hits = find_by_id(access, ids, source=source, engine=access.background, at_once=_REMOVED_AT_ONCE)
    return {place: hit for hit in hits if (place := access.ids.place_of(hit)) in places}
