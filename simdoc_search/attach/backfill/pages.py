"""Reads the documents of a query page by page, and writes each page in a thread while the next one is read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait

from simdoc_search.attach.backfill.task import BackfillReport
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import PagedHits, RawHit

WRITERS = 3
"""Maximum number of pages that are written at the same time."""

PAGE_DOCUMENTS, FIRST_PAGE, PAGE_CHARACTERS = 500, 50, 4_000_000
"""Maximum number of documents per page, their number on the first page, and the desired characters per page."""

GRACE, INTERRUPTED_GRACE = 30.0, 1.0
"""Seconds to wait for pages that are being written, after an error and after Ctrl-C."""

Write = Callable[[list[RawHit], BackfillReport], None]
"""Writes a page, and adds the results to a report."""


class Pace:
    """Chooses the page size, and limits the documents per second."""

    def __init__(self, throttle: float | None) -> None:
        self._throttle = throttle
        self._maximum = PAGE_DOCUMENTS if throttle is None else max(1, min(PAGE_DOCUMENTS, int(throttle)))
        self.size: int = min(FIRST_PAGE, self._maximum)
        self._next = 0.0

    def keep(self, hits: list[RawHit]) -> None:
        """Wait until this page may be written, and adapt the page size to its length."""
        length = sum(len(str(hit.get("_source"))) for hit in hits) / len(hits)
        self.size = max(1, min(self._maximum, int(PAGE_CHARACTERS / (length + 1))))
        if self._throttle:
            now = time.monotonic()
            time.sleep(max(0.0, self._next - now))
            self._next = max(self._next, now) + len(hits) / self._throttle


class Pages:
    """Reads the pages of a query, and writes them in threads.

    Args:
        engine: the engine.
        throttle: maximum number of documents per second; None for no limit.
        on_report: called with the report of each page that was written.
    """

    def __init__(self, engine: Engine, throttle: float | None, on_report: Callable[[BackfillReport], None]) -> None:
        self._engine = engine
        self._pace = Pace(throttle)
        self._on_report = on_report
        self._refused: set[tuple[str, str]] = set()  # index and id; not tried again in the same run
        self._threads = ThreadPoolExecutor(WRITERS, "simdoc-backfill")
        self._writing: dict[Future[None], BackfillReport] = {}

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def process(self, pages: PagedHits, write: Write) -> int:
        """Read all pages and write them.

        Returns:
            The number of documents, without those that were refused before.

        Raises:
            StoreError: reading or writing failed. Pages that were read before are still written, for up to 30 seconds.
            KeyboardInterrupt: pages that were read before are still written, for up to one second.
        """
        documents = 0
        unread = deque(pages.slices)
        try:
            while unread:
                self._wait_for_writers(WRITERS - 1)
                part = unread.popleft()
                hits = [
                    hit for hit in pages.read(part, self._pace.size) if (hit["_index"], hit["_id"]) not in self._refused
                ]
                unread += [] if part.is_finished else [part]
                if hits:
                    self._pace.keep(hits)
                    report = BackfillReport()
                    self._writing[self._threads.submit(write, hits, report)] = report
                    documents += len(hits)
            self._wait_for_writers(0)
        except BaseException as error:
            self._stop(INTERRUPTED_GRACE if isinstance(error, KeyboardInterrupt) else GRACE)
            raise
        return documents

    def _wait_for_writers(self, maximum: int) -> None:
        """Wait until at most this many pages are being written."""
        while len(self._writing) > maximum:
            for future in wait(self._writing, return_when=FIRST_COMPLETED).done:
                self._count(self._writing.pop(future))
                future.result()

    def _count(self, report: BackfillReport) -> None:
        self._refused |= {(document.index, document.id) for document in report.refused}
        self._on_report(report)

    def _stop(self, grace: float) -> None:
        """Wait up to `grace` seconds for the pages being written, stop those that take longer, and count all."""
        wait(self._writing, timeout=grace)
        self._engine.stopped.set()
        wait(self._writing)
        for report in self._writing.values():
            self._count(report)
        self._writing.clear()
        self._engine.stopped.clear()
