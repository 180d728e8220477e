"""Writes records into a tantivy index."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import tantivy

from simdoc_search.durable import sync_folder
from simdoc_search.errors import StoreError
from simdoc_search.stores.local.errors import engine_errors
from simdoc_search.stores.local.interrupts import interrupts_deferred
from simdoc_search.stores.local.open_index import IndexInFolder, IndexInMemory
from simdoc_search.stores.record import Record
from simdoc_search.workers.memory import address_space_left, machine_memory, save_address_space

LARGEST_HEAP, SMALLEST_HEAP = 128_000_000, 15_000_000
"""Bytes of memory of the writer, after which it writes a segment; tantivy takes no less than the smallest."""

WRITING_BYTES = 200_000_000
"""What writing takes of the address space besides the heap. Without it tantivy ends the process."""

WRITER_THREADS = 1
"""A second one gains a tenth, and leaves twice the segments to merge."""


class LocalWriter:
    """What `LocalStore.writer` gives.

    Args:
        engine: the writer of tantivy.
        folder: where the index is; None: in memory.
        location: what the store is called in errors.
        to_document: makes a document of tantivy from a record.
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
        """Add the records, each in the place of an older one with the same id."""
        for record in records:
            require_address_space()
            with engine_errors("write to", self._location):
                document = self._to_document(record)
                with interrupts_deferred():  # a replacement is both
                    self._engine.delete_documents_by_term("id", record.id)
                    self._engine.add_document(document)

    def delete(self, ids: Iterable[str]) -> None:
        """Remove the documents with these ids; unknown ids are ignored."""
        for each in ids:
            with engine_errors("write to", self._location):
                self._engine.delete_documents_by_term("id", each)

    def commit(self, *, within: float | None = None) -> None:  # noqa: ARG002 - there is nobody to wait for
        """Make everything so far durable and visible to readers."""
        with engine_errors("write to", self._location):
            self._engine.commit()
            if self._folder:
                sync_folder(self._folder)  # tantivy leaves the name of the new meta.json to chance


def heap_bytes() -> int:
    """Bytes for the heap of the writer, fewer where memory or address space is limited.

    Raises:
        StoreError: as `require_address_space`.
    """
    require_address_space()
    machine, left = machine_memory(), address_space_left()
    heap = LARGEST_HEAP if machine is None else machine // 16
    if left is not None:
        heap = min(heap, (left - WRITING_BYTES) // 2)
    return max(SMALLEST_HEAP, min(heap, LARGEST_HEAP))


def require_address_space(needed: int = WRITING_BYTES) -> None:
    """Refuse to write where the address space is limited so much that tantivy may end the process.

    Args:
        needed: bytes that must be left.

    Raises:
        StoreError: that is so.
    """
    save_address_space()
    left = address_space_left()
    if left is not None and left < needed:
        raise StoreError(
            f"ulimit -v leaves {left / 1e6:,.0f} MB of address space, and writing an index needs "
            f"{needed / 1e6:,.0f} MB; raise the limit, then run the same command again"
        )


@contextmanager
def opened_writer(
    index: IndexInFolder | IndexInMemory,
    folder: Path | None,
    location: str,
    to_document: Callable[[Record], tantivy.Document],
) -> Iterator[LocalWriter]:
    """The writer of an index, which commits at the end of the block, or drops what is not committed after an error.

    Args:
        index: what is written to.
        folder: as for `LocalWriter`, like the other arguments.
        location: in errors.
        to_document: for each record.

    Raises:
        StoreLockedError: another writer is open, in this process or elsewhere.
        StoreError: the index cannot be written.
    """
    heap = heap_bytes()
    with engine_errors("write to", location):
        engine = index.for_writing().writer(heap, WRITER_THREADS)
    writer = LocalWriter(engine, folder, location, to_document)
    try:
        if folder:
            with engine_errors("write to", location):
                engine.garbage_collect_files()  # a failed commit leaves files that the next one would write
        yield writer
        writer.commit()
    except BaseException:
        with suppress(Exception):
            engine.rollback()
        raise
    finally:
        with suppress(Exception):  # what was committed is safe
            engine.wait_merging_threads()  # and gives the lock back
