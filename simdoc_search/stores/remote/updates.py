"""Updates and deletes documents with optimistic concurrency control, so that other writers' changes are not lost.

A change is applied only if the document still has the version that was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from simdoc_search.documents import DocumentKey
from simdoc_search.stores.record import DOCUMENT_CHANGED, KEPT_DOCUMENT_CHANGED, REMOVED_AND_RESTORED, RemovalCondition
from simdoc_search.stores.remote.access import IndexAccess
from simdoc_search.stores.remote.bulk import (
    Action,
    ActionOutcome,
    BulkWriter,
    routing_entry,
    version_condition,
)
from simdoc_search.stores.remote.current_documents import (
    compute_hashes,
    read_current_documents,
    read_current_hits,
    read_hashes,
)
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit

MAX_ATTEMPTS = 10
"""Maximum number of attempts to update a document that other writers keep changing."""

NOT_FOUND, CONFLICT = 404, 409
"""HTTP status if the document was deleted, and if another writer changed it first."""

TOO_MANY_CONFLICTS = "changed_each_time"
"""The error type if other writers changed a document during each attempt."""

_DELETE_BATCH_SIZE = 100  # the deleted documents are kept in memory, so that they can be restored

MakeUpdates = Callable[[list[RawHit]], Iterable[tuple[RawHit, dict[str, Any]]]]
"""Takes hits with version numbers (`seq_no_primary_term`). Returns each hit to update with the body of its update."""


class ConditionalUpdater:
    """Updates documents of one index without overwriting changes by other writers. Several threads can use it.

    `uuid` is the unique id of the index. `source` is the `_source` filter for documents that are read again.
    """

    def __init__(self, engine: Engine, index: str, uuid: str, source: list[str] | dict[str, list[str]]) -> None:
        self._engine = engine
        self._source = source
        self._bulk = BulkWriter(engine, index, {index: uuid})

    def apply(self, hits: list[RawHit], make_updates: MakeUpdates) -> Iterator[tuple[RawHit, ActionOutcome]]:
        """Update documents, and yield the outcome of each attempt.

        If another writer has changed a document, the document is read and updated again.

        Raises:
            IndexGoneError: the index was removed, or another index has its name now.
            StoreUnavailableError: the engine accepted nothing before the deadline.
            StoreError: the engine rejected a whole request.
            StoppedError: the engine's `stop_event` is set. The outcomes that were yielded are final.
        """
        for _ in range(MAX_ATTEMPTS):
            actions = [(hit, self._make_action(hit, body)) for hit, body in make_updates(hits)]
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
                    yield (
                        hit,
                        ActionOutcome(hit["_index"], NOT_FOUND, error="document_missing_exception", reason="deleted"),
                    )
        reason = (
            f"another writer changed the document during each of the {MAX_ATTEMPTS} attempts to update it; "
            "run the command again"
        )
        yield from (
            (hit, ActionOutcome(hit["_index"], CONFLICT, error=TOO_MANY_CONFLICTS, reason=reason)) for hit in hits
        )

    @staticmethod
    def _make_action(hit: RawHit, body: Mapping[str, Any]) -> Action:
        return Action.make(
            "update", hit["_id"], body, _index=hit["_index"], **version_condition(hit), **routing_entry(hit)
        )

    def _read_again(self, hits: list[RawHit]) -> list[RawHit]:
        mget_docs = [
            {"_index": hit["_index"], "_id": hit["_id"], "_source": self._source, **routing_entry(hit)} for hit in hits
        ]
        return read_current_documents(self._engine, mget_docs)


def remove_documents(access: IndexAccess, removals: Mapping[DocumentKey, RemovalCondition]) -> dict[DocumentKey, str]:
    """Remove each document if its condition holds. For each document that was not removed, return the reason.

    An index has no locks, so each of two concurrent runs may remove the document that the other run keeps. So the index
    is refreshed after the removals, and each kept document is read again. If a kept document has changed or no longer
    exists, the removed document is restored. At least one of the two runs sees the removal by the other run.
    """
    not_removed_reasons: dict[DocumentKey, str] = {}
    keys = list(removals)
    for start in range(0, len(keys), _DELETE_BATCH_SIZE):
        batch = {key: removals[key] for key in keys[start : start + _DELETE_BATCH_SIZE]}
        removed = _remove(access, batch, not_removed_reasons)
        access.background_engine.refresh(access.name, allowed_statuses=(403,))
        hashes = read_hashes(access, _kept_keys(removals[key] for key in removed))
        if orphaned_hits := {key: hit for key, hit in removed.items() if not removals[key].is_kept_unchanged(hashes)}:
            _restore(access, orphaned_hits, not_removed_reasons)
    return not_removed_reasons


def _remove(
    access: IndexAccess, removals: Mapping[DocumentKey, RemovalCondition], not_removed_reasons: dict[DocumentKey, str]
) -> dict[DocumentKey, RawHit]:
    """Remove the documents whose condition holds, and return them."""
    hits = read_current_hits(access, removals.keys() | _kept_keys(removals.values()))
    hashes = {key: compute_hashes(access, hit) for key, hit in hits.items()}
    actions: dict[DocumentKey, Action] = {}
    for key, removal in removals.items():
        if problem := removal.find_problem(key, hashes):
            not_removed_reasons[key] = problem
        else:
            hit = hits[key]
            action_metadata = {"_index": hit["_index"], **version_condition(hit), **routing_entry(hit)}
            actions[key] = Action.make("delete", hit["_id"], **action_metadata)
    removed = {}
    for key, outcome in _write_actions(access, actions):
        if outcome.error:
            not_removed_reasons[key] = DOCUMENT_CHANGED if outcome.status == CONFLICT else outcome.reason
        else:
            removed[key] = hits[key]
    return removed


def _kept_keys(removals: Iterable[RemovalCondition]) -> set[DocumentKey]:
    return {removal.kept_key_and_hash[0] for removal in removals if removal.kept_key_and_hash}


def _restore(
    access: IndexAccess, orphaned_hits: Mapping[DocumentKey, RawHit], not_removed_reasons: dict[DocumentKey, str]
) -> None:
    """Restore removed documents whose kept document is missing, and add the reasons to `not_removed_reasons`."""
    actions = {}
    for key, hit in orphaned_hits.items():
        action_metadata = {"_index": hit["_index"], "pipeline": "_none", **routing_entry(hit)}
        actions[key] = Action.make("create", hit["_id"], hit["_source"], **action_metadata)
    for key, outcome in _write_actions(access, actions):
        if not outcome.error:
            reason = REMOVED_AND_RESTORED
        elif outcome.status == CONFLICT:  # the application has written the document again
            reason = KEPT_DOCUMENT_CHANGED
        else:
            failure = f"the document was already removed and could not be restored: {outcome.reason}"
            reason = f"{KEPT_DOCUMENT_CHANGED}; {failure}"
        not_removed_reasons[key] = reason
    access.background_engine.refresh(access.name, allowed_statuses=(403,))


def _write_actions(
    access: IndexAccess, actions: Mapping[DocumentKey, Action]
) -> Iterator[tuple[DocumentKey, ActionOutcome]]:
    key_of = {id(action): key for key, action in actions.items()}
    for action, outcome in BulkWriter(access.background_engine, access.name).write(actions.values()):
        yield key_of[id(action)], outcome
