"""What changes a store: documents come in, and go."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from simdoc_search.concepts import Extractor
from simdoc_search.indexing import FILE_TIMEOUT, IndexReport, Source, delete_documents, index_documents
from simdoc_search.search.options import Number
from simdoc_search.search.rejecting import DuplicateGate
from simdoc_search.stores.base import Store
from simdoc_search.tracing import span

__all__ = ["Filling"]


class Filling:
    """The part of a search that fills its store."""

    store: Store

    @span("simdoc_search.index")
    def index(
        self,
        documents: Iterable[Source],
        *,
        workers: int = 1,
        checksum: bool = False,
        archives: bool = False,
        prune: bool | None = False,
        prune_all: bool = False,
        prefix: str | None = None,
        own_ids: bool = False,
        file_timeout: float = FILE_TIMEOUT,
        worker_memory: int | None = None,
        reject_duplicates: Number = None,
        extractor: Extractor | None = None,
        progress: Callable[[int], None] = lambda _: None,
        written: Callable[[str], None] = lambda _: None,
    ) -> IndexReport:
        """Add documents; one with the id of an older one replaces it, unless nothing changed.

        Args:
            documents: documents, or files from `read_corpus`.
            workers: processes that read and fingerprint. With one it is this process, which leaves to another only
                what might crash it: PDF, office and e-mail formats, large HTML.
            checksum: read files again even if size and time of change are as before.
            archives: look into archives (zip, tar) and mailboxes (mbox) too: each member is a document,
                `old.zip!2021/Report.txt`. One that was looked into before, or is named by itself, is in any case.
            prune: remove the documents whose file has vanished from the folders that were read; none of a folder that
                cannot be read or has no file left, nor more than 10 that are more than half: see `problems`.
                None: of folders only some files are given, so none of the others is missed.
            prune_all: the same, and also where no file is left or more than half would go.
            prefix: what the ids of files begin with, before the path below the folder; None: as this folder has it
                in the store already. A folder below one that is in the store has the ids that it has there.
            own_ids: ids of a folder that the store does not have begin with the name of that folder, if the store or
                this run has other documents; so folders with equal names inside do not get in each other's way.
            file_timeout: seconds that a worker process may take to read one file.
            worker_memory: bytes that a worker process may hold; a file that needs more is skipped. None: half of the
                machine's memory shared by the workers, 1 to 4 GB each.
            reject_duplicates: leave out new documents that overlap one in the store, or an earlier one of this run, by
                so much, over 0, up to 1; see `DuplicateGate`. They are among the skipped, as `documents.Rejected`.
            extractor: what finds the concepts of a store that has them; it is sent to the worker processes. None: the
                shipped one that the store names.
            progress: called with the number of documents that are done.
            written: called with the id of each document that is new or replaced.

        Returns:
            The counts, and in `failed` whether all went as it should. A source that cannot be read costs only itself.

        Raises:
            QuerySyntaxError: `reject_duplicates` is out of range.
            StoreLockedError: another process is writing to the store.
            StoreError: the store cannot be written.
            FormatMismatchError: the extractor is not the one of the store.
            MissingExtraError: the store has sentences, and what finds them is not installed.
        """
        return index_documents(
            self.store,
            documents,
            workers=workers,
            checksum=checksum,
            archives=archives,
            prune=prune,
            prune_all=prune_all,
            prefix=prefix,
            own_ids=own_ids,
            file_timeout=file_timeout,
            worker_memory=worker_memory,
            gate=None if reject_duplicates is None else DuplicateGate(self.store, reject_duplicates),
            extractor=extractor,
            progress=progress,
            written=written,
        )

    def delete(self, ids: Iterable[str]) -> int:
        """Remove documents.

        Returns:
            How many were there.

        Raises:
            UnknownDocumentError: one of them is not stored; then none is removed.
            WriteRefusedError: the store refused to remove some of them; the others are gone.
        """
        return delete_documents(self.store, ids)
