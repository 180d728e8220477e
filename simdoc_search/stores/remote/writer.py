"""Writes records to an index of an engine, so that a late request does not undo a newer write.

A request without a response may still arrive after its document was replaced or deleted. So each write has the current
time as its version. An engine rejects a version that is lower than the version of the document or of its deletion. It
remembers a deletion for `gc_deletes`, which is 10 minutes in an index that simdoc-search created. If several writers
change a document, the latest write by their clocks wins.

There is one exception. A write that arrives more than `gc_deletes` after the deletion of its document, or after the
engine has restarted, restores the document.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress

from simdoc_search.cancellation import StoppedError
from simdoc_search.documents import MAX_ID_BYTES
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.base import Encoder, Writer
from simdoc_search.stores.record import EncodedRecord
from simdoc_search.stores.remote import bulk
from simdoc_search.stores.remote.bulk import Action, ActionOutcome, BulkWriter, routing_entry
from simdoc_search.stores.remote.engine import Engine

MAX_CHUNK_ACTIONS = 500
"""Maximum number of actions in a chunk."""

MAX_CONCURRENT_CHUNKS = 3
"""Maximum number of chunks that are sent at the same time."""

MAX_VERSION_CONFLICTS = 10
"""Maximum number of attempts with a higher version, if the clock of another writer is ahead."""

_CONFLICT = 409
_CURRENT_VERSION = re.compile(r"current version \[(\d+)\]")


class RemoteWriter(Writer):
    """The writer of a store on an engine.

    `index` may be an alias with a write index. `has_several_indices` says whether several indices behind the name may
    contain documents.
    """

    def __init__(self, engine: Engine, index: str, encode: Encoder, *, has_several_indices: bool) -> None:
        self._engine = engine.in_background()
        self._index = index
        self.encode = encode
        self._has_several_indices = has_several_indices
        self._version = 0
        self._bulk = BulkWriter(self._engine, index)
        self._sender = ChunkSender(self._write_chunk, self._engine.stop_event)

    @property
    def refused(self) -> Mapping[str, str]:
        return self._sender.refused

    def put_encoded(self, encoded_records: Iterable[EncodedRecord], *, are_new: bool = False) -> None:  # noqa: ARG002
        for id, line in encoded_records:
            self._sender.add(self._make_action("index", id, line))

    def delete(self, ids: Iterable[str]) -> None:
        for id in filter(is_possible_id, ids):
            self._sender.add(self._make_action("delete", id))

    def commit(self, *, timeout: float | None = None) -> None:
        """Wait until the engine has received all writes, and make them visible to readers.

        After `timeout` seconds, `commit` returns without an error.

        Raises:
            StoreError: see `ChunkSender.add`. No error is raised if `timeout` is given.
        """
        if timeout is None:
            self._sender.flush()
            self._engine.refresh(self._index)
            return
        timer = threading.Timer(timeout, self._engine.stop_event.set)
        timer.start()
        try:
            with suppress(StoreError, StoppedError):
                self.commit()
        finally:
            timer.cancel()

    def close(self) -> None:
        """Discard unsent writes, and stop sending."""
        self._sender.close()

    def _make_action(self, operation: str, id: str, line: bytes = b"") -> Action:
        self._version = max(self._version + 1, time.time_ns())
        # An equal version is accepted, because a repeated request writes the same document.
        target = {"_id": id, "_index": self._index, "version": self._version, "version_type": "external_gte"}
        return Action(operation, target, line)

    def _write_chunk(self, actions: list[Action]) -> dict[str, str]:
        """Write a chunk. Return the reasons for rejected documents, by id."""
        rejection_reasons: dict[str, str] = {}
        waiting = self._locate(actions, rejection_reasons) if self._has_several_indices else actions
        for _ in range(MAX_VERSION_CONFLICTS):
            conflicts = []
            for action, outcome in self._bulk.write(waiting):
                if outcome.status == _CONFLICT:
                    conflicts.append((action, outcome))
                elif outcome.error:
                    rejection_reasons[action.id] = outcome.reason
            waiting = [
                action.with_target(version=version + 1)
                for action, version in _writes_to_repeat(conflicts, rejection_reasons)
            ]
            if not waiting:
                return rejection_reasons
        reason = (
            "at each attempt, another writer stored a version of the document with a later timestamp; synchronise the "
            "clocks of all writers"
        )
        return rejection_reasons | {action.id: reason for action in waiting}

    def _locate(self, actions: list[Action], rejection_reasons: dict[str, str]) -> list[Action]:
        """Return each action with the index of its stored document. Reject documents that are in several indices."""
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
                rejection_reasons[action.id] = (
                    f"the document is in the indices {indices}; write to one of these indices"
                )
            elif hits:
                located.append(action.with_target(_index=hits[0]["_index"], **routing_entry(hits[0])))
            else:
                located.append(action)
        return located


class ChunkSender:
    """Sends actions in chunks. Several chunks are sent at the same time.

    Two actions for one id are never sent at the same time, so the last action wins. Rejected documents are listed in
    `refused`, and the other documents are written. `write` writes a chunk, and returns the reasons for rejected
    documents, by id. Several threads call it. `stop_event` ends all waiting. `close` sets it.
    """

    def __init__(self, write: Callable[[list[Action]], dict[str, str]], stop_event: threading.Event) -> None:
        self.refused: dict[str, str] = {}
        self._write = write
        self._chunk: dict[str, Action] = {}
        self._bytes = 0
        self._closed = stop_event
        self._threads = ThreadPoolExecutor(MAX_CONCURRENT_CHUNKS, "simdoc-bulk")
        self._sending: dict[Future[dict[str, str]], frozenset[str]] = {}

    def add(self, action: Action) -> None:
        """Add an action to the next chunk. It replaces an unsent action for the same id.

        Raises:
            StoreUnavailableError: the engine accepted nothing before the deadline.
            RequestError: the engine rejected a whole chunk.
            StoreError: this sender is closed, or the index was removed.
        """
        if self._closed.is_set():
            raise StoreError("this writer is closed; open a new writer")
        before = self._chunk.pop(action.id, None)
        self._bytes -= before.size if before else 0
        if self._bytes + action.size > bulk.MAX_CHUNK_BYTES:
            self._send_chunk()
        self._chunk[action.id] = action
        self._bytes += action.size
        if len(self._chunk) >= MAX_CHUNK_ACTIONS:
            self._send_chunk()

    def flush(self) -> None:
        """Send the last chunk, and wait until the engine has received all chunks. Raises the errors of `add`."""
        self._send_chunk()
        while self._sending:
            self._wait_for_one()

    def close(self) -> None:
        """Discard unsent actions, and stop the threads."""
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _send_chunk(self) -> None:
        if not self._chunk:
            return
        ids = frozenset(self._chunk)
        while len(self._sending) >= MAX_CONCURRENT_CHUNKS or not all(map(ids.isdisjoint, self._sending.values())):
            self._wait_for_one()
        self._sending[self._threads.submit(self._write, list(self._chunk.values()))] = ids
        self._chunk, self._bytes = {}, 0

    def _wait_for_one(self) -> None:
        done, _ = wait(self._sending, return_when=FIRST_COMPLETED)
        for future in done:
            ids = self._sending.pop(future)
            try:
                rejection_reasons = future.result()
            except StoppedError:
                raise StoreUnavailableError(
                    "writing was stopped before all documents were written; run the command again"
                ) from None
            for id in ids - rejection_reasons.keys():
                self.refused.pop(id, None)  # a later write of this document has succeeded
            self.refused.update(rejection_reasons)


def is_possible_id(id: str) -> bool:
    """Return whether an engine accepts this id."""
    try:
        return 0 < len(id.encode()) <= MAX_ID_BYTES
    except UnicodeEncodeError:
        return False


def _writes_to_repeat(
    conflicts: list[tuple[Action, ActionOutcome]], rejection_reasons: dict[str, str]
) -> Iterator[tuple[Action, int]]:
    """Yield the writes to repeat, each with the current version of its document.

    A write is repeated if the current version is in the future, because the clock of another writer is ahead.
    Otherwise, a later write has already replaced the document, and that later write wins.
    """
    for action, outcome in conflicts:
        current = _CURRENT_VERSION.search(outcome.reason)
        if current is None:
            rejection_reasons[action.id] = outcome.reason
        elif int(current[1]) > time.time_ns():
            yield action, int(current[1])
