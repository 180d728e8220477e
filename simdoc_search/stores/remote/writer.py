"""Records into an index of an engine, so that no write that comes late undoes a later one.

A request of which no answer came may still arrive, after the document was replaced or deleted. So each write has a
version, the time at which it was asked for, and an engine refuses one with a lower version than that of the document,
or of its deletion, which it remembers for the index's `gc_deletes`. Several writers may write at once: the last one
counts, by the clocks of their machines.

What this cannot do: a write that comes more than `gc_deletes` (10 minutes, in an index of ours) after the deletion of
its document, or after the engine was restarted in between, brings the document back.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from simdoc_search.cancellation import StoppedError
from simdoc_search.documents import MAX_ID_BYTES
from simdoc_search.errors import StoreError
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote.bulk import Action, Delivery, Outcome
from simdoc_search.stores.remote.bulk_sender import BulkSender
from simdoc_search.stores.remote.engine import Engine

ATTEMPTS = 10
"""How often a write is tried again that meets a version which no clock of ours can have given."""

_LATE = 409
_CURRENT = re.compile(r"current version \[(\d+)\]")


class RemoteWriter:
    """What `RemoteStore.writer` gives.

    Args:
        engine: where the index is.
        index: the name of the index, or of an alias with an index for writing.
        document: the JSON document of a record.
        several: whether several indices are behind the name, and a stored document may be in any of them.
    """

    def __init__(
        self, engine: Engine, index: str, document: Callable[[Record], dict[str, Any]], *, several: bool
    ) -> None:
        self._engine = engine.in_background()  # `close` ends the waiting of this writer alone
        self._index = index
        self._document = document
        self._several = several
        self._version = 0
        self._delivery = Delivery(self._engine, index)
        self._sender = BulkSender(self._deliver, self._engine.stopped)

    @property
    def failed(self) -> Mapping[str, str]:
        """What the engine refused for good: id to reason. Complete after `commit`."""
        return self._sender.failed

    def put(self, records: Iterable[Record]) -> None:
        """Add the records, each in the place of an older one with the same id."""
        for record in records:
            self._sender.add(self._action("index", record.id, self._document(record)))

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""
        for id in filter(can_exist, ids):
            self._sender.add(self._action("delete", id))

    def commit(self, *, within: float | None = None) -> None:
        """Wait until everything so far has arrived, and make it visible to readers; or for so many seconds at most."""
        if within is None:
            self._sender.flush()
            self._engine.refresh(self._index)
            return
        ending = threading.Timer(within, self._engine.stopped.set)
        ending.start()
        try:
            with suppress(StoreError, StoppedError):
                self.commit()
        finally:
            ending.cancel()

    def close(self) -> None:
        """Send nothing more."""
        self._sender.close()

    def _action(self, kind: str, id: str, document: dict[str, Any] | None = None) -> Action:
        self._version = max(self._version + 1, time.time_ns())
        # Equal versions pass, as a request that is sent again writes the same.
        version = {"version": self._version, "version_type": "external_gte"}
        return Action.make(kind, id, document, _index=self._index, **version)

    def _deliver(self, actions: list[Action]) -> dict[str, str]:
        """Get a chunk through; what is refused, id to reason."""
        refused: dict[str, str] = {}
        left = self._placed(actions, refused) if self._several else actions
        for _ in range(ATTEMPTS):
            late = []
            for action, outcome in self._delivery.deliver(left):
                if outcome.status == _LATE:
                    late.append((action, outcome))
                elif outcome.error:
                    refused[action.id] = outcome.reason
            left = [action.at(version=version + 1) for action, version in _ahead_of_us(late, refused)]
            if not left:
                return refused
        return refused | {each.id: "others replace it all the time; set the clocks of all writers" for each in left}

    def _placed(self, actions: list[Action], refused: dict[str, str]) -> list[Action]:
        """The actions where their documents lie already, found by one search."""
        ids = [each.id for each in actions]
        query = {"query": {"ids": {"values": ids}}, "size": 2 * len(ids), "_source": False}
        found = defaultdict(list)
        for hit in self._engine.search(self._index, query)["hits"]["hits"]:
            found[hit["_id"]].append(hit)
        placed = []
        for action in actions:
            hits = found.get(action.id, [])
            if len(hits) > 1:
                several = " and ".join(sorted(hit["_index"] for hit in hits))
                refused[action.id] = f"it is in {several}; name one of them"
            else:
                placed.append(action.at(**_place_of(hits[0])) if hits else action)
        return placed


def _place_of(hit: Mapping[str, Any]) -> dict[str, str]:
    return {"_index": hit["_index"], **({"routing": hit["_routing"]} if "_routing" in hit else {})}


def _ahead_of_us(late: list[tuple[Action, Outcome]], refused: dict[str, str]) -> Iterable[tuple[Action, int]]:
    """The writes that met a version of a clock ahead of ours, with it; the others were overtaken by a later write."""
    for action, outcome in late:
        current = _CURRENT.search(outcome.reason)
        if current is None:
            refused[action.id] = outcome.reason
        elif int(current[1]) > time.time_ns():
            yield action, int(current[1])


def can_exist(id: str) -> bool:
    """Whether an engine can have a document of this id."""
    try:
        return 0 < len(id.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False
