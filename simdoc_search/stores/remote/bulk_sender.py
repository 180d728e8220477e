"""Many small writes as few large ones, several of them on their way at once."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from simdoc_search.cancellation import StoppedError
from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.remote import bulk
from simdoc_search.stores.remote.bulk import Action

CHUNK_ACTIONS = 500
THREADS = 3
"""Chunks that are on their way at once."""


class BulkSender:
    """Sends actions in chunks.

    Two actions for one id are never on their way at once, so the last one counts. What the engine refuses for good is
    kept in `failed`; the rest is not disturbed by it. After `close` nothing more is sent.

    Args:
        deliver: gets a chunk through, and returns what was refused, id to reason. It is called by several threads.
        stopped: is set by `close`, and then nothing waits any longer.

    Attributes:
        failed: id to reason, for what was refused.
    """

    def __init__(self, deliver: Callable[[list[Action]], dict[str, str]], stopped: threading.Event) -> None:
        self.failed: dict[str, str] = {}
        self._deliver = deliver
        self._chunk: dict[str, Action] = {}
        self._bytes = 0
        self._closed = stopped
        self._threads = ThreadPoolExecutor(THREADS, "simdoc-bulk")
        self._on_way: dict[Future[dict[str, str]], frozenset[str]] = {}

    def add(self, action: Action) -> None:
        """Send an action with the next chunk; a later action for the same id takes its place.

        Raises:
            StoreUnavailableError: the engine took nothing for too long.
            RequestError: it refused a whole chunk.
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
        """Send what is left and wait until everything has arrived. Raises as `add`."""
        self._send_chunk()
        while self._on_way:
            self._wait_for_some()

    def close(self) -> None:
        """Stop: what waits to be sent again is dropped."""
        self._closed.set()
        self._threads.shutdown(wait=True, cancel_futures=True)

    def _send_chunk(self) -> None:
        if not self._chunk:
            return
        ids = frozenset(self._chunk)
        while len(self._on_way) >= THREADS or any(not ids.isdisjoint(each) for each in self._on_way.values()):
            self._wait_for_some()
        self._on_way[self._threads.submit(self._deliver, list(self._chunk.values()))] = ids
        self._chunk, self._bytes = {}, 0

    def _wait_for_some(self) -> None:
        done, _ = wait(self._on_way, return_when=FIRST_COMPLETED)
        for future in done:
            ids = self._on_way.pop(future)
            try:
                refused = future.result()
            except StoppedError:
                raise StoreUnavailableError("writing was stopped") from None
            for id in ids - refused.keys():
                self.failed.pop(id, None)  # a later write of it arrived
            self.failed.update(refused)
