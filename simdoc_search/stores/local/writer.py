"""Writes records into a tantivy index."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import tantivy

from simdoc_search.durable import sync_folder
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.record import Record
from simdoc_search.workers.memory import machine_memory

MAX_HEAP, MIN_HEAP = 128_000_000, 15_000_000
"""Maximum and minimum number of bytes that the writer buffers before it writes a segment. tantivy refuses less."""

WRITER_THREADS = 1
"""With a second thread, writing is only 10 % faster, and twice as many segments must be merged."""


class LocalWriter:
    """The writer of a local store.

    Args:
        engine: the writer of tantivy.
        folder: folder of the index; None for an index in memory.
        location: the store, for messages.
        to_document: converts a record.
    """

    def __init__(
        self,
        engine: tantivy.IndexWriter,
        folder: Path | None,
        location: str,
        to_document: Callable[[Record], tantivy.Document],
    ) -> None:
        self._engine, self._folder, self._location, self._to_document = engine, folder, location, to_document
        self.failed: Mapping[str, str] = {}

    def put(self, records: Iterable[Record]) -> None:
        """Add records. Each record replaces an older one with the same id."""
        for record in records:
            with engine_errors("write to", self._location):
                document = self._to_document(record)
                with _interrupts_deferred():  # an interrupt between the two calls would lose the document
                    self._engine.delete_documents_by_term("id", record.id)
                    self._engine.add_document(document)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids. Unknown ids are ignored."""
        for id in ids:
            with engine_errors("write to", self._location):
                self._engine.delete_documents_by_term("id", id)

    def commit(self, *, within: float | None = None) -> None:  # noqa: ARG002 - nothing to wait for
        """Make all changes durable and visible to readers."""
        with engine_errors("write to", self._location):
            self._engine.commit()
            if self._folder:
                sync_folder(self._folder)  # tantivy does not sync the name of the new meta.json


def heap_bytes() -> int:
    """Return the number of bytes that the writer buffers. It is smaller on a small machine or in a small container."""
    machine = machine_memory()
    return MAX_HEAP if machine is None else max(MIN_HEAP, min(machine // 16, MAX_HEAP))


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Defer Ctrl-C to the end of the block."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # other threads do not receive it
        return
    pending: list[int] = []
    signal.signal(signal.SIGINT, lambda number, _: pending.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
    if pending:
        signal.raise_signal(signal.SIGINT)
