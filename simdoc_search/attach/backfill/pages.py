"""Reads the documents of a query in pages. Threads write each page while the next one is read."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import NamedTuple

from simdoc_search.attach.backfill.report import BackfillReport
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import PagedHits, RawHit

MAX_WRITERS = 3
"""Maximum number of pages that are written at the same time."""

MAX_PAGE_DOCUMENTS, FIRST_PAGE_DOCUMENTS, TARGET_PAGE_CHARACTERS = 500, 50, 4_000_000
"""Maximum number of documents on a page, number of documents on the first page, and desired characters on a page."""

GRACE_SECONDS, INTERRUPTED_GRACE_SECONDS = 30.0, 1.0
"""Seconds to wait, after an error or after Ctrl-C, for pages that are being written."""

WritePage = Callable[[list[RawHit], BackfillReport], None]
"""Writes the documents of a page, and adds the results to a report."""

DocumentKeys = set[tuple[str, str | None]]
"""Pairs of an id and a routing. Together, they identify a document of an index."""


class PagePacer:
    """Chooses the page size, and limits the number of documents per second."""

    def __init__(self, throttle: float | None) -> None:
        self._throttle = throttle
        self._max_size = MAX_PAGE_DOCUMENTS if throttle is None else max(1, min(MAX_PAGE_DOCUMENTS, int(throttle)))
        self.size: int = min(FIRST_PAGE_DOCUMENTS, self._max_size)
        self._next_turn = 0.0

    def wait_for_turn(self, hits: list[RawHit]) -> None:
        """Wait until this page may be written, and adapt the size of later pages to the length of these documents."""
        length = sum(len(str(hit.get("_source"))) for hit in hits) / len(hits)
        self.size = max(1, min(self._max_size, int(TARGET_PAGE_CHARACTERS / (length + 1))))
        if self._throttle:
            now = time.monotonic()
            time.sleep(max(0.0, self._next_turn - now))
            self._next_turn = max(self._next_turn, now) + len(hits) / self._throttle


class PageProcessor:
    """Reads the pages of a query, and writes them in threads.

    `throttle` is the maximum number of documents per second. `on_report` is called with the report of each page that
    was written.
    """

    def __init__(self, engine: Engine, throttle: float | None, on_report: Callable[[BackfillReport], None]) -> None:
        self._engine = engine
        self._pacer = PagePacer(throttle)
        self._on_report = on_report
        # (index, id) of each document that is not tried again in this run
        self._refused_keys: set[tuple[str, str]] = set()
        self._threads = ThreadPoolExecutor(MAX_WRITERS, "simdoc-backfill")
        self._pages_by_future: dict[Future[None], _Page] = {}

    def close(self) -> None:
        """Stop the threads."""
        self._threads.shutdown(wait=True, cancel_futures=True)

    def process(self, pages: PagedHits, write: WritePage, written_keys: DocumentKeys) -> int:
        """Read all pages and write them.

        The documents in `written_keys` are not written again. The documents of each page are added when it was written.

        Returns:
            The number of documents read, without those in `written_keys` and those that this run had refused before.

        Raises:
            StoreError: reading or writing failed. Pages already read are still written, for at most 30 seconds.
            KeyboardInterrupt: Ctrl-C. Pages already read are still written, for at most one second.
        """
        read_count = 0
        unfinished_slices = deque(pages.slices)
        try:
            while unfinished_slices:
                self._wait_for_writers(MAX_WRITERS - 1)
                page_slice = unfinished_slices.popleft()
                hits = [
                    hit
                    for hit in pages.read(page_slice, self._pacer.size)
                    if (hit["_index"], hit["_id"]) not in self._refused_keys and _key_of(hit) not in written_keys
                ]
                unfinished_slices += [] if page_slice.is_finished else [page_slice]
                if hits:
                    self._pacer.wait_for_turn(hits)
                    report = BackfillReport()
                    future = self._threads.submit(write, hits, report)
                    self._pages_by_future[future] = _Page(report, {_key_of(hit) for hit in hits}, written_keys)
                    read_count += len(hits)
            self._wait_for_writers(0)
        except BaseException as error:
            self._stop_writers(INTERRUPTED_GRACE_SECONDS if isinstance(error, KeyboardInterrupt) else GRACE_SECONDS)
            raise
        return read_count

    def _wait_for_writers(self, max_pages: int) -> None:
        """Wait until at most `max_pages` pages are being written."""
        while len(self._pages_by_future) > max_pages:
            for future in wait(self._pages_by_future, return_when=FIRST_COMPLETED).done:
                self._finish_page(future)
                future.result()

    def _finish_page(self, future: Future[None]) -> None:
        page = self._pages_by_future.pop(future)
        if not future.cancelled() and future.exception() is None:
            page.written_keys.update(page.keys)
        self._refused_keys |= {(document.index, document.id) for document in page.report.refused}
        self._on_report(page.report)

    def _stop_writers(self, grace_seconds: float) -> None:
        """Wait at most `grace_seconds` for the pages being written, stop the writers, and report all pages."""
        wait(self._pages_by_future, timeout=grace_seconds)
        self._engine.stop_event.set()
        for future in wait(self._pages_by_future).done:
            self._finish_page(future)
        self._engine.stop_event.clear()


class _Page(NamedTuple):
    """A page that is being written: its report, its documents, and the set to which they are added afterwards."""

    report: BackfillReport
    keys: DocumentKeys
    written_keys: DocumentKeys


def _key_of(hit: RawHit) -> tuple[str, str | None]:
    return hit["_id"], hit.get("_routing")
