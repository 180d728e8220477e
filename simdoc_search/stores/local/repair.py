"""Copies the readable documents of a damaged store into a new store.

tantivy keeps the documents of a segment in a separate file (`.store`), which may be readable even if the inverted index
is damaged. To read this file, we create an index with one empty document. Then we replace its `.store` file with a link
to the `.store` file of the segment. A damaged `.store` file can make tantivy request too much memory, which kills
the process. The documents are therefore read in a subprocess.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import tantivy

from simdoc_search.durable import atomic_folder
from simdoc_search.errors import StoreError
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.local.errors import convert_errors
from simdoc_search.stores.local.folder import create_store
from simdoc_search.stores.local.integrity import Damage, Progress
from simdoc_search.stores.local.open_index import WRITERS_LOCK_FILE, ensure_lock_file, open_index, scratch_folder
from simdoc_search.stores.local.queries import term_query
from simdoc_search.stores.local.schema import build_schema, optional_fields, read_document, to_record
from simdoc_search.stores.local.segments import FILE_EXTENSIONS, META_FILE, Segment, find_fault, read_commit
from simdoc_search.stores.local.settings_file import INDEX_FOLDER, StoreManifest, read_surviving_manifest
from simdoc_search.stores.local.skipped_files import read_skipped_files, write_skipped_files
from simdoc_search.stores.local.store import LocalStore
from simdoc_search.stores.local.writer import MIN_HEAP_BYTES
from simdoc_search.stores.record import ALL_PARTS, Record
from simdoc_search.workers import BeginItem, ItemLimits
from simdoc_search.workers.process import ProcessEndedError, WorkerProcess

_BATCH_SIZE = 256
_CRASHES_BEFORE_LARGER_SKIPS = 64
"""Each of the first N consecutive crashes skips one document. Each further crash skips twice as many as before."""


@dataclass(frozen=True, slots=True)
class RepairResult:
    """The result of a repair.

    Attributes:
        document_count: number of documents in the new store.
        unreadable_ids: ids of the documents that could not be copied. If a document's id is unreadable too, the entry
            contains the document's tantivy id and segment.
        damaged_deletions: the damaged lists of deleted documents. The new store may contain these documents.
    """

    document_count: int
    unreadable_ids: list[str]
    damaged_deletions: list[Damage]


def repair_store(folder: Path, target: Path, progress: Progress | None = None) -> RepairResult:
    """Copy all readable documents of a store into a new store with the same settings.

    The damaged store is not changed, and no other process can write to it during the repair. The new store appears at
    `target` only when it is complete. If this process may not write to the damaged store, it is not locked. `progress`
    is called with the number of finished documents and their total number.

    Raises:
        StoreLockedError: another process is writing to the damaged store.
        StoreError: the settings file and its copy cannot be read, `meta.json` is damaged, or the target is not empty.
    """
    manifest = read_surviving_manifest(folder)
    if manifest is None:
        raise StoreError(
            f"the settings of the index {folder} cannot be read; restore the file simdoc.json from a backup"
        )
    index = folder / INDEX_FOLDER
    with _write_lock(index, folder):
        with convert_errors("read", str(folder)):
            segments = [_DamagedSegment(index, segment, manifest.settings) for segment in read_commit(index).segments]
        with convert_errors("write to", str(target)), atomic_folder(target) as working:
            create_store(working, StoreManifest.new(manifest.settings, manifest.store_texts))
            with closing(LocalStore(str(target), working, manifest.settings, manifest.store_texts)) as new:
                unreadable_ids: list[str] = []
                with new.writer() as writer:
                    writer.put(_read_records(segments, unreadable_ids, progress or (lambda _done, _total: None)))
                # Another segment has later, readable versions of these documents.
                replaced = {record.id for record in new.records(unreadable_ids)}
                document_count = new.info().document_count
            with suppress(StoreError):  # the list is damaged, or cannot be read
                write_skipped_files(working, read_skipped_files(folder))
    problem = "the list of deleted documents is damaged, so deleted documents may be in the new index"
    damaged_deletions = [
        Damage(f"{INDEX_FOLDER}/{damaged.segment.deletions_file}", problem)
        for damaged in segments
        if not damaged.has_readable_deletions
    ]
    lost = [id for id in dict.fromkeys(unreadable_ids) if id not in replaced]
    return RepairResult(document_count, lost, damaged_deletions)


@contextmanager
def _write_lock(index: Path, folder: Path) -> Iterator[None]:
    """Prevent other processes from writing to an index. Does nothing if this process may not write to the lock file.

    tantivy cannot open a writer for some damaged indexes. Instead, this function opens a writer for an empty index. The
    lock file of this index is a link to the lock file of the damaged index.

    Raises:
        StoreLockedError: another process is writing to the index.
    """
    lock = index / WRITERS_LOCK_FILE
    if not index.is_dir() or not ensure_lock_file(lock):
        yield
        return
    with scratch_folder() as scratch:
        with convert_errors("repair", str(folder)):
            empty_index = tantivy.Index(build_schema([]), str(scratch))
            (scratch / WRITERS_LOCK_FILE).symlink_to(lock.absolute())
            writer = empty_index.writer(MIN_HEAP_BYTES, 1)
        try:
            yield
        finally:
            writer.wait_merging_threads()


class _DamagedSegment:
    """A segment with files that may be damaged.

    A subprocess calls this object with tantivy document ids, which are positions in the segment. It returns the record
    of each document, or None if the document is damaged.
    """

    def __init__(self, index: Path, segment: Segment, settings: Settings) -> None:
        self.segment, self._index, self._settings = segment, index.resolve(), settings
        store, deletions = (self._index / f"{name}" for name in (f"{segment.name}.store", segment.deletions_file))
        self.modification_time = store.stat().st_mtime if store.is_file() else 0.0
        self.has_readable_deletions = segment.deletions_file is None or (
            deletions.is_file() and not find_fault(deletions)
        )
        self._optional_fields = optional_fields(settings)
        self._searcher: tantivy.Searcher | None = None
        self._is_open = False

    def read_live_doc_ids(self) -> list[int]:
        """Return the tantivy ids of all documents that are not deleted.

        If the list of deletions is unreadable, return the ids of all documents.
        """
        with self._open_segment([]) as searcher:
            if searcher:
                query, limit = tantivy.Query.all_query(), max(1, self.segment.max_doc)
                return sorted(address.doc for _, address in searcher.search(query, limit=limit, count=False).hits)
        self.has_readable_deletions = False
        return list(range(self.segment.max_doc))

    def read_document_ids(self, doc_ids: Collection[int]) -> dict[int, str]:
        """Map tantivy ids to document ids. Documents without an id in the inverted index are omitted."""
        ids: dict[int, str] = {}
        schema, requested = build_schema(self._optional_fields), set(doc_ids)
        with (
            self._open_segment(FILE_EXTENSIONS[1:]) as searcher,
            suppress(StoreError),
            convert_errors("read", str(self._index)),
        ):
            if searcher:
                for id, count in searcher.terms_with_prefix("id", ""):
                    hits = searcher.search(term_query(schema, "id", id), limit=count, count=False).hits
                    ids |= {address.doc: id for _, address in hits if address.doc in requested}
        return ids

    def __call__(self, doc_ids: Sequence[int], begin_item: BeginItem) -> list[Record | None]:
        begin_item(0)
        if not self._is_open:
            self._is_open = True
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # tantivy prints the reason for the crash to stderr
            with self._open_segment(["store"]) as self._searcher:
                pass
        records: list[Record | None] = []
        for position, doc_id in enumerate(doc_ids):
            begin_item(position)
            records.append(None)
            with suppress(StoreError), convert_errors("read", str(self._index)):
                if self._searcher:
                    document = read_document(self._searcher, tantivy.DocAddress(0, doc_id))
                    records[-1] = to_record(document, self._settings, load=ALL_PARTS)
        return records

    @contextmanager
    def _open_segment(self, extensions: Collection[str]) -> Iterator[tantivy.Searcher | None]:
        """Open an index with the files of the segment that have these extensions.

        The other files belong to an index with one empty document. Yield None if a file is too damaged to be
        opened.
        """
        with scratch_folder() as scratch:
            writer = tantivy.Index(build_schema(self._optional_fields), str(scratch)).writer(MIN_HEAP_BYTES, 1)
            writer.add_document(tantivy.Document())
            writer.commit()
            writer.wait_merging_threads()
            meta = json.loads((scratch / META_FILE).read_bytes())
            (entry,) = meta["segments"]
            name = UUID(entry["segment_id"]).hex
            entry["max_doc"] = self.segment.max_doc
            if self.has_readable_deletions and self.segment.deletions_file:
                entry["deletes"] = {"num_deleted_docs": self.segment.deleted_count, "opstamp": self.segment.opstamp}
                (scratch / f"{name}.{self.segment.opstamp}.del").symlink_to(self._index / self.segment.deletions_file)
            for extension in extensions:
                (scratch / f"{name}.{extension}").unlink()
                (scratch / f"{name}.{extension}").symlink_to(self._index / f"{self.segment.name}.{extension}")
            (scratch / META_FILE).write_text(json.dumps(meta))
            searcher = None
            with suppress(StoreError), convert_errors("read", str(self._index)):
                searcher = open_index(scratch).searcher()
            yield searcher


def _read_records(segments: list[_DamagedSegment], unreadable_ids: list[str], progress: Progress) -> Iterator[Record]:
    """Yield the readable documents that are not deleted. Add the ids of unreadable documents to `unreadable_ids`.

    If the list of deletions of a segment is unreadable, the segment may contain old versions of documents. Such
    segments are read first, by ascending modification time, so that new versions replace old versions.
    """
    doc_ids = {segment: segment.read_live_doc_ids() for segment in segments}
    done, total = 0, sum(map(len, doc_ids.values()))
    for segment in sorted(segments, key=lambda segment: (segment.has_readable_deletions, segment.modification_time)):
        damaged: list[int] = []
        for doc_id, record in _read_in_subprocess(segment, doc_ids[segment]):
            if record is None:
                damaged.append(doc_id)
            else:
                yield record
            done += 1
            progress(done, total)
        ids = segment.read_document_ids(damaged) if damaged else {}
        unreadable_ids += (ids.get(doc_id, f"document {doc_id} of {segment.segment.name}") for doc_id in damaged)


def _read_in_subprocess(segment: _DamagedSegment, doc_ids: list[int]) -> Iterator[tuple[int, Record | None]]:
    """Read documents in a subprocess. A document that crashes the subprocess is damaged."""
    with closing(WorkerProcess(segment, ItemLimits())) as process:
        start, size, crashes = 0, _BATCH_SIZE, 0
        while start < len(doc_ids):
            page = doc_ids[start : start + size]
            records: Sequence[Record | None]
            try:
                records = process.run(page)
            except ProcessEndedError as end:
                if end.item_index:  # the crash lost the documents before the damaged one, so read them again
                    size = end.item_index
                    continue
                crashes += 1
                page = page[: 1 << max(0, crashes - _CRASHES_BEFORE_LARGER_SKIPS)]
                records = [None] * len(page)
            else:
                crashes = 0
            yield from zip(page, records, strict=True)
            start, size = start + len(page), _BATCH_SIZE
