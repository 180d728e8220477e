"""Writes records into a tantivy index."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import tantivy

from simdoc_search.durable import sync_folder
from simdoc_search.stores.base import Encoder, Writer
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.record import EncodedRecord
from simdoc_search.workers.memory import read_machine_memory

MAX_HEAP_BYTES, MIN_HEAP_BYTES = 128_000_000, 15_000_000
"""Maximum and minimum size in bytes of the writer's buffer. tantivy rejects a smaller buffer."""

WRITER_THREADS = 1
"""A second thread would make writing only 10 % faster, and double the number of segments to merge."""


class LocalWriter(Writer):
    """The writer of a local store.

    `folder` is None for an index in memory.
    """

    def __init__(
        self,
        index_writer: tantivy.IndexWriter,
        folder: Path | None,
        location: str,
        schema: tantivy.Schema,
        encode: Encoder,
    ) -> None:
        self._index_writer, self._folder, self._location, self._schema = index_writer, folder, location, schema
        self.encode = encode
        self._unfinished: EncodedRecord | None = None

    def put_encoded(self, encoded_records: Iterable[EncodedRecord], *, are_new: bool = False) -> None:
        for record in encoded_records:
            with convert_errors("write to", self._location):
                if are_new:
                    self._add(record)
                else:
                    self._replace(record)

    def delete(self, ids: Iterable[str]) -> None:
        for id in ids:
            with convert_errors("write to", self._location):
                self._index_writer.delete_documents_by_term("id", id)

    def commit(self, *, timeout: float | None = None) -> None:  # noqa: ARG002 - a local commit never waits
        with convert_errors("write to", self._location):
            if self._unfinished:
                self._replace(self._unfinished)
            self._index_writer.commit()
            if self._folder:
                sync_folder(self._folder)  # tantivy does not fsync the folder after it renames meta.json

    def _replace(self, record: EncodedRecord) -> None:
        """Delete the old document and add the new one. `commit` repeats a write that Ctrl-C interrupted in between."""
        self._unfinished = record
        self._index_writer.delete_documents_by_term("id", record.id)
        self._add(record)
        self._unfinished = None

    def _add(self, record: EncodedRecord) -> None:
        self._index_writer.add_document(tantivy.Document.from_dict(record.content, self._schema))


def choose_heap_bytes() -> int:
    """Return the size in bytes of the writer's buffer. It is smaller if the machine or container has little memory."""
    machine = read_machine_memory()
    return MAX_HEAP_BYTES if machine is None else max(MIN_HEAP_BYTES, min(machine // 16, MAX_HEAP_BYTES))
