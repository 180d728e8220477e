"""One round: what a query finds is read, fingerprinted and written, each while the others go on."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from simdoc_search.attach.backfill.task import BackfillReport
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import PointInTime, RawHit, Slice

READERS, WRITERS = 2, 3
"""Pages on their way from the engine, and those on their way back."""

PAGE_DOCUMENTS, FIRST_PAGE, PAGE_CHARACTERS = 500, 50, 4_000_000
"""Documents of a page, at most and at first, and how long it should be."""

GRACE, INTERRUPTED_GRACE = 30.0, 1.0
"""Seconds for what is on its way when reading or writing failed, and when somebody waits after Ctrl-C."""

Write = Callable[[list[RawHit], BackfillReport], None]


class Pace:
    """How many documents are read at once, and how many in a second."""

    def __init__(self, throttle: float | None) -> None:
        self._throttle = throttle
        self._most = PAGE_DOCUMENTS if throttle is None else max(1, min(PAGE_DOCUMENTS, int(throttle)))
        self.size: int = min(FIRST_PAGE, self._most)
        self._next = 0.0

    def keep(self, hits: list[RawHit]) -> None:
        """Wait until so many documents may be written, and learn from their length."""
        if hits:
            length = sum(len(str(hit.get("_source"))) for hit in hits) / len(hits)
            self.size = max(1, min(self._most, int(PAGE_CHARACTERS / (length + 1))))
        if self._throttle:
            now = time.monotonic()
            time.sleep(max(0.0, self._next - now))
            self._next = max(self._next, now) + len(hits) / self._throttle


class Rounds:
    """Does rounds, one after the other.

    Args:
        engine: where the documents are.
        pace: how fast.
        done: called with the report of each page that was written.

    Attributes:
        again_if_changed: whether a document that was refused is tried again once it is another one.
    """

    def __init__(self, engine: Engine, pace: Pace, done: Callable[[BackfillReport], None]) -> None:
        self._engine = engine
        self._pace = pace
        self._done = done
        self.again_if_changed = False
        self._refused: dict[tuple[str, str], int] = {}  # index and id to the state that was refused
        self._threads = ThreadPoolExecutor(READERS + WRITERS, "simdoc-backfill")
        self._reading: dict[Future[list[RawHit]], Slice] = {}
        self._writing: dict[Future[None], tuple[list[RawHit], BackfillReport]] = {}

    def close(self) -> None:
        """Let the threads go."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def run(self, pages: PointInTime, write: Write, limit: float) -> tuple[int, bool]:
        """Read pages and write them.

        Args:
            pages: what is read.
            write: what is done with each.
            limit: about how many documents to read.

        Returns:
            How many documents were read, without those that were refused before, and whether these were all.

        Raises:
            StoreError: reading or writing failed. What is on its way is written before.
            KeyboardInterrupt: likewise.
        """
        read = 0
        waiting = deque(pages.slices)
        try:
            while True:
                while waiting and read < limit and len(self._reading) < READERS and len(self._writing) < WRITERS:
                    part = waiting.popleft()
                    self._reading[self._threads.submit(pages.read, part, self._pace.size)] = part
                if not self._reading and not self._writing:
                    return read, not waiting
                for future in wait(self._on_way(), return_when=FIRST_COMPLETED).done:
                    read += self._has_come(future, waiting, write)
        except BaseException as error:
            self._end(INTERRUPTED_GRACE if isinstance(error, KeyboardInterrupt) else GRACE)
            raise

    def _has_come(self, future: Future[Any], waiting: deque[Slice], write: Write) -> int:
        """Take a page that was read or written; how many documents are new."""
        if future in self._writing:
            self._count(*self._writing.pop(future))
            future.result()
            return 0
        part = self._reading.pop(future)
        hits = [hit for hit in future.result() if not self._was_refused(hit)]
        if not part.is_finished:
            waiting.append(part)
        if hits:
            self._pace.keep(hits)
            report = BackfillReport()
            self._writing[self._threads.submit(write, hits, report)] = hits, report
        return len(hits)

    def _was_refused(self, hit: RawHit) -> bool:
        state = self._refused.get((hit["_index"], hit["_id"]))
        return state is not None and not (self.again_if_changed and state != hit["_seq_no"])

    def _count(self, hits: list[RawHit], report: BackfillReport) -> None:
        if report.refused:
            states = {(hit["_index"], hit["_id"]): hit["_seq_no"] for hit in hits}
            self._refused |= {(each.index, each.id): states[each.index, each.id] for each in report.refused}
        self._done(report)

    def _on_way(self) -> list[Future[Any]]:
        return [*self._reading, *self._writing]

    def _end(self, grace: float) -> None:
        """Wait for what is on its way, and count it; what takes more than so many seconds is cut off."""
        wait(self._on_way(), timeout=grace)
        self._engine.stopped.set()
        wait(self._on_way())
        for hits, report in self._writing.values():
            self._count(hits, report)
        self._reading.clear()
        self._writing.clear()
        self._engine.stopped.clear()
