"""Writes records into an index of an engine, so that no late request undoes a newer write.

A request without an answer may still arrive after its document was replaced or deleted. So each write has the current
time as its version. An engine refuses a version below that of the document, or of its deletion, which it remembers for
`gc_deletes` (10 minutes in our indexes). Of several writers the last one wins, by their clocks.

Limit: a write that arrives more than `gc_deletes` after the deletion of its document restores the document. So does one
that arrives after a restart of the engine.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any

from simdoc_search.cancellation import StoppedError
from simdoc_search.documents import MAX_ID_BYTES
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.record import Record
from simdoc_search.stores.remote import bulk
from simdoc_search.stores.remote.bulk import Action, BulkWriter, Outcome, routing_of
from simdoc_search.stores.remote.engine import Engine

CHUNK_ACTIONS = 500
"""Maximum number of actions in a chunk."""

THREADS = 3
"""Number of chunks that are sent at the same time."""

MAX_VERSION_CONFLICTS = 10
"""How often a write gets a higher version, because the document has one from a clock ahead of ours."""

_CONFLICT = 409
_CURRENT = re.compile(r"current version \[(\d+)\]")


class RemoteWriter:
    """The writer of a store.

    Args:
        engine: the engine.
        index: name of the index, or of an alias with a write index.
        to_document: returns the JSON document of a record.
        several: whether a stored document may be in any of several indices.
    """

    def __init__(
        self, engine: Engine, index: str, to_document: Callable[[Record], dict[str, Any]], *, several: bool
    ) -> None:
        self._engine = engine.in_background()
        self._index = index
        self._to_document = to_document
        self._several = several
        self._version = 0
        self._bulk = BulkWriter(self._engine, index)
        self._sender = ChunkSender(self._write_chunk, self._engine.stopped)

    @property
    def failed(self) -> Mapping[str, str]:
        """Id to reason of the documents that the engine refused for good. Complete after `commit`."""
        return self._sender.failed

    def put(self, records: Iterable[Record]) -> None:
        """Add records; each replaces an older one with the same id."""
        for record in records:
            self._sender.add(self._action("index", record.id, self._to_document(record)))

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""
        for id in filter(is_possible_id, ids):
            self._sender.add(self._action("delete", id))

    def commit(self, *, within: float | None = None) -> None:
        """Wait until all writes have arrived, and make them visible to readers; with a limit, for as long as it allows.

        Raises as `ChunkSender.add`, unless there is a limit.
        """
        if within is None:
            self._sender.flush()
            self._engine.refresh(self._index)
            return
        timer = threading.Timer(within, self._engine.stopped.set)
        timer.start()
        try:
            with suppress(StoreError, StoppedError):
                self.commit()
        finally:
            timer.cancel()

    def close(self) -> None:
        """Send nothing more."""
        self._sender.close()

    def _action(self, kind: str, id: str, document: dict[str, Any] | None = None) -> Action:
        self._version = max(self._version + 1, time.time_ns())
        # An equal version is accepted, as a repeated request writes the same.
        version = {"version": self._version, "version_type": "external_gte"}
        return Action.make(kind, id, document, _index=self._index, **version)

    def _write_chunk(self, actions: list[Action]) -> dict[str, str]:
        """Write a chunk; return id to reason of the refused documents."""
        refused: dict[str, str] = {}
        waiting = self._located(actions, refused) if self._several else actions
        for _ in range(MAX_VERSION_CONFLICTS):
            conflicts = []
            for action, outcome in self._bulk.write(waiting):
                if outcome.status == _CONFLICT:
                    conflicts.append((action, outcome))
                elif outcome.error:
                    refused[action.id] = outcome.reason
            waiting = [action.at(version=version + 1) for action, version in _ahead_of_clock(conflicts, refused)]
            if not waiting:
                return refused
        reason = "other writers replace it all the time; set the clocks of all writers"
        return refused | {action.id: reason for action in waiting}

    def _located(self, actions: list[Action], refused: dict[str, str]) -> list[Action]:
        """Return the actions in the indices of the stored documents, found by one search."""
        ids = [action.id for action in actions]
        query = {"query": {"ids": {"values": ids}}, "size": 2 * len(ids), "_source": False}
        stored = defaultdict(list)
        for hit in self._engine.search(self._index, query)["hits"]["hits"]:
            stored[hit["_id"]].append(hit)
        located = []
        for action in actions:
            hits = stored[action.id]
            if len(hits) > 1:
                indices = " and ".join(sorted(hit["_index"] for hit in hits))
                refused[action.id] = f"it is in {indices}; name one of them"
            elif hits:
                located.append(action.at(_index=hits[0]["_index"], **routing_of(hits[0])))
            else:
                located.append(action)
        return located


class ChunkSender:
    """Sends actions in chunks, several at the same time.

    Two actions for one id are never sent at the same time, so the last one wins. Refused documents are listed in
    `failed`, and do not stop the others.

    Args:
        write: writes a chunk and returns id to reason of the refused documents; several threads call it.
        stopped: set by `close`; ends all waiting.

    Attributes:
        failed: id to reason of the refused documents.
    """

    def __init__(self, write: Callable[[list[Action]], dict[str, str]], stopped: threading.Event) -> None:
        self.failed: dict[str, str] = {}
        self._write = write
        self._chunk: dict[str, Action] = {}
        self._bytes = 0
        self._closed = stopped
        self._threads = ThreadPoolExecutor(THREADS, "simdoc-bulk")
        self._sending: dict[Future[dict[str, str]], frozenset[str]] = {}

    def add(self, action: Action) -> None:
        """Add an action to the next chunk; it replaces an action for the same id.

        Raises:
            StoreUnavailableError: the engine took nothing until the deadline.
            RequestError: the engine refused a whole chunk.
            StoreError: this sender is closed, or the index is gone.
        """
        if self._closed.is_set():
            raise StoreError("this writer is closed; open another one")
        before = self._chunk.pop(action.id, None)
        self._bytes -= before.size if before else 0
        if self._bytes + action.size > bulk.CHUNK_BYTES:
            self._send_chunk()
        self._chunk[action.id] = action
        self._bytes += action.size
        if len(self._chunk) >= CHUNK_ACTIONS:
            self._send_chunk()

    def flush(self) -> None:
        """Send the last chunk and wait until all have arrived. Raises as `add`."""
        self._send_chunk()
        while self._sending:
            self._wait_for_one()

    def close(self) -> None:
        """Stop; unsent actions are dropped."""
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _send_chunk(self) -> None:
        if not self._chunk:
            return
        ids = frozenset(self._chunk)
        while len(self._sending) >= THREADS or not all(map(ids.isdisjoint, self._sending.values())):
            self._wait_for_one()
        self._sending[self._threads.submit(self._write, list(self._chunk.values()))] = ids
        self._chunk, self._bytes = {}, 0

    def _wait_for_one(self) -> None:
        done, _ = wait(self._sending, return_when=FIRST_COMPLETED)
        for future in done:
            ids = self._sending.pop(future)
            try:
                refused = future.result()
            except StoppedError:
                raise StoreUnavailableError("writing was stopped") from None
            for id in ids - refused.keys():
                self.failed.pop(id, None)  # a later write of it has arrived
            self.failed.update(refused)


def is_possible_id(id: str) -> bool:
    """Return whether an engine can have a document with this id."""
    try:
        return 0 < len(id.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False


def _ahead_of_clock(conflicts: list[tuple[Action, Outcome]], refused: dict[str, str]) -> Iterator[tuple[Action, int]]:
    """Yield the writes whose document has a version of a clock ahead of ours, with it.

    The other documents have a version of a later write, which wins.
    """
    for action, outcome in conflicts:
        current = _CURRENT.search(outcome.reason)
        if current is None:
            refused[action.id] = outcome.reason
        elif int(current[1]) > time.time_ns():
            yield action, int(current[1])
