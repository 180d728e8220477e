"""Many small writes as few large ones: chunks, sent side by side, sent again while the engine is busy or away."""

from __future__ import annotations

import json
import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Any

from simdoc_search.errors import StoreError, StoreUnavailableError
from simdoc_search.stores.patience import BUSY, Patience, StoppedError, is_passing
from simdoc_search.stores.rest import Engine, RequestError

__all__ = ["Action", "BulkSender", "reason_of"]

CHUNK_ACTIONS = 500
CHUNK_BYTES = 4_000_000
THREADS = 3
"""Chunks that are on their way at once."""

_TOO_LARGE = 413


@dataclass(frozen=True, slots=True)
class Action:
    """One write: its kind (`index`, `delete`, `update`), where it goes, and the lines that are sent."""

    id: str
    kind: str
    lines: bytes

    @classmethod
    def make(
        cls, kind: str, index: str, id: str, document: dict[str, Any] | None = None, routing: str | None = None
    ) -> Action:
        """An action for an index, with the document that it writes."""
        place = {"_index": index, "_id": id, **({} if routing is None else {"routing": routing})}
        lines = [json.dumps({kind: place})]
        if document is not None:
            lines.append(json.dumps(document, ensure_ascii=False, separators=(",", ":")))
        return cls(id, kind, "".join(f"{line}\n" for line in lines).encode())


class BulkSender:
    """Sends actions.

    Two actions for one id are never on their way at once, so the last one counts. What the engine refuses for good is
    kept in `failed`; the rest is not disturbed by it. After `close` nothing more is sent.

    Attributes:
        failed: id to reason, for what was refused.
    """

    def __init__(self, engine: Engine) -> None:
        self.failed: dict[str, str] = {}
        self._engine = engine
        self._chunk: dict[str, Action] = {}
        self._bytes = 0
        self._closed = threading.Event()
        self._threads = ThreadPoolExecutor(THREADS, "simdoc-bulk")
        self._on_way: dict[Future[dict[str, str]], frozenset[str]] = {}

    def add(self, action: Action) -> None:
        """Send an action with the next chunk; a later action for the same id takes its place.

        Raises:
            StoreUnavailableError: the engine took nothing for too long.
            RequestError: it refused a whole chunk.
            StoreError: this sender is closed.
        """
        if self._closed.is_set():
            raise StoreError("this writer is closed; open another one")
        before = self._chunk.pop(action.id, None)
        self._bytes += len(action.lines) - (len(before.lines) if before else 0)
        self._chunk[action.id] = action
        if len(self._chunk) >= CHUNK_ACTIONS or self._bytes >= CHUNK_BYTES:
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
            refused = future.result()
            for id in ids - refused.keys():
                self.failed.pop(id, None)  # a later write of it arrived
            self.failed.update(refused)

    def _deliver(self, actions: list[Action]) -> dict[str, str]:
        """Send a chunk until all of it is taken or refused; what is refused, with the reason."""
        refused: dict[str, str] = {}
        parts = [actions]
        waiting = Patience(self._closed)
        while parts:
            sent = parts.pop()
            left, why = self._send_once(sent, refused)
            if len(left) < len(sent):
                waiting.progress()
            if not left:
                continue
            if why:
                self._wait(waiting, why)
            middle = (len(left) + 1) // 2  # smaller chunks may fit where large ones did not
            parts += [left[middle:], left[:middle]] if len(left) == len(sent) > 1 else [left]
        return refused

    @staticmethod
    def _wait(waiting: Patience, why: str) -> None:
        try:
            waiting.wait(why)
        except StoppedError:
            raise StoreUnavailableError("writing was stopped") from None

    def _send_once(self, actions: list[Action], refused: dict[str, str]) -> tuple[list[Action], str]:
        """Send actions; returns those to be sent again, and what must pass before."""
        try:
            answer = self._engine.call("POST", ["_bulk"], b"".join(each.lines for each in actions))
        except StoreError as error:
            too_large = isinstance(error, RequestError) and error.status == _TOO_LARGE
            if too_large and len(actions) == 1:
                refused[actions[0].id] = "too large for the engine"
                return [], ""
            if not (too_large or is_passing(error)):
                raise
            return actions, "" if too_large else str(error)
        again, why = [], ""
        for action, item in zip(actions, answer["items"], strict=True):
            result = item[action.kind]
            said = reason_of(result["error"]) if result.get("error") else ""
            if result["status"] in BUSY:
                again.append(action)
                why = f"the engine is busy ({said})"
            elif said:
                refused[action.id] = said
        return again, why


def reason_of(error: Any) -> str:
    """Why an engine refused one action, in one line."""
    if not isinstance(error, dict):
        return str(error)
    cause = error.get("caused_by") or {}
    reason = " ".join(f"{error.get('reason', error.get('type', ''))} {cause.get('reason', '')}".split())
    return reason[:300]
