"""Updates of documents that others may be writing to: no write of theirs is lost.

An update is sent on condition that the document is still the one that was read. If it is not, the document is read
again, and changed again if it still needs it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from simdoc_search.errors import StoreUnavailableError
from simdoc_search.stores.remote.bulk import Action, Delivery, Outcome, reason_of
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import is_no_engine
from simdoc_search.stores.remote.point_in_time import RawHit

ATTEMPTS = 10
"""How often a document that others keep changing is read again."""

NOT_FOUND, CONFLICT = 404, 409
"""Statuses: the document is there no more; another writer was faster, so it is read again."""

ALWAYS_CHANGED = "changed_each_time"
"""The error of a document that others changed each time it was read."""

Changes = Callable[[list[RawHit]], Iterable[tuple[RawHit, dict[str, Any]]]]
"""From documents as a search with `seq_no_primary_term` shows them to those that need an update, each with its body."""


class GuardedUpdates:
    """Updates documents of one index. Several threads may use it.

    Args:
        engine: where the index is.
        index: its name.
        uuid: what tells it from another one of its name.
        source: the parts of a document that are read again, as a search takes them.
    """

    def __init__(self, engine: Engine, index: str, uuid: str, source: list[str] | dict[str, list[str]]) -> None:
        self._engine = engine
        self._source = source
        self._delivery = Delivery(engine, index, {index: uuid})

    def apply(self, hits: list[RawHit], changes: Changes) -> Iterator[tuple[RawHit, Outcome]]:
        """Bring documents up to date; what became of each update, and of what is read again, as it becomes known.

        Raises:
            IndexGoneError: the index was removed, or another one has its name.
            StoreUnavailableError: the engine took nothing for too long.
            StoreError: it refused everything.
            StoppedError: the run ends; what was answered is done.
        """
        for _ in range(ATTEMPTS):
            sent = [(hit, self._action(hit, body)) for hit, body in changes(hits)]
            hit_of = {id(action): hit for hit, action in sent}
            late: list[RawHit] = []
            for action, outcome in self._delivery.deliver([action for _, action in sent]):
                hit = hit_of[id(action)]
                late += [hit] if outcome.status == CONFLICT else []
                yield hit, outcome
            if not late:
                return
            hits = []
            for before, now in zip(late, self._read_again(late), strict=True):
                if now["found"]:
                    hits.append(now)
                else:
                    yield (
                        before,
                        Outcome(before["_index"], NOT_FOUND, error="document_missing_exception", reason="deleted"),
                    )
        reason = f"others changed it each of the {ATTEMPTS} times it was read; run it again"
        yield from ((hit, Outcome(hit["_index"], CONFLICT, error=ALWAYS_CHANGED, reason=reason)) for hit in hits)

    @staticmethod
    def _action(hit: RawHit, body: Mapping[str, Any]) -> Action:
        guard = {"if_seq_no": hit["_seq_no"], "if_primary_term": hit["_primary_term"], **_routing(hit)}
        return Action.make("update", hit["_id"], body, _index=hit["_index"], **guard)

    def _read_again(self, hits: list[RawHit]) -> list[RawHit]:
        """Documents as they are at this moment, even if no search shows it yet."""
        asked = [{"_index": hit["_index"], "_id": hit["_id"], "_source": self._source, **_routing(hit)} for hit in hits]
        return documents_at(self._engine, asked)


def documents_at(engine: Engine, places: list[dict[str, Any]]) -> list[RawHit]:
    """Documents as they are at this moment, at places as `_mget` takes them, in their order; `found` says of each.

    Raises:
        StoreError: as `Engine.call`; or one of them cannot be read, as where its shard is missing.
    """
    found: list[RawHit] = engine.call("POST", ["_mget"], {"docs": places})["docs"]
    if error := next((each["error"] for each in found if "error" in each), None):
        raise StoreUnavailableError(
            f"documents of {engine.name} cannot be read ({reason_of(error)}); run it again later"
        )
    if len(found) != len(places):
        raise is_no_engine(engine.name, "it leaves documents out")
    return found


def _routing(hit: RawHit) -> dict[str, str]:
    """In a search's hit and in a document that was read by its id it has the same name, and in requests another."""
    return {"routing": hit["_routing"]} if "_routing" in hit else {}
