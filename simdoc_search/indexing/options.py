"""The options of `SimilaritySearch.index`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from simdoc_search.concepts import Extractor


@dataclass(frozen=True, kw_only=True)
class IndexOptions:
    """Options of `SimilaritySearch.index`.

    Attributes:
        workers: maximum number of worker processes that read and fingerprint documents. They start when this work
            takes most of the time, and before a file that might crash this process (PDF, office and e-mail formats,
            and large HTML files). If it is 1, only such a file starts a process.
        checksum: whether to read files even if their size and modification time have not changed.
        archives: whether to index the members of archives (zip, tar) and mailboxes (mbox), with ids such as
            `old.zip!2021/Report.txt`. The members of an archive are always indexed if they were indexed before, or
            if you give the path of the archive.
        prune: whether to remove documents whose files no longer exist in the folders that were read. The documents
            of an unreadable or empty folder are kept. If more than 10 files and more than half of the files of a
            folder no longer exist, their documents are kept too; see `IndexReport.problems`. False: the documents
            are kept, and the report says how many files are missing. None: for a run that gets only some files of
            the folders. The documents of the other files are kept, and these files do not count as missing.
        prune_all: as `prune`, but also remove the documents of empty folders, and more than half of the documents
            of a folder.
        prefix: prefix of the ids of files. The path relative to the folder follows it. None: the prefix that the
            store already uses for this folder. Files in a subfolder of an indexed folder keep their ids.
        add_folder_prefix: whether the ids of the files in a new folder begin with the name of the folder, if the
            store or this run has other documents. Files with the same name in two folders then have different ids.
        file_timeout: maximum number of seconds per file in a worker process. None: 120.
        worker_memory: maximum memory per worker process, in bytes. A file that needs more is skipped. None: half of
            the machine's memory, divided by `workers`; at least 1 GB and at most 4 GB.
        reject_duplicates: reject a new document if its overlap with a stored document, or with an earlier document
            of this run, is at least this; greater than 0 and at most 1. Rejected documents are reported as
            `documents.RejectedDocument`; see `DuplicateFilter`. None: no document is rejected.
        extractor: the extractor of concepts. None: the built-in extractor that the store was created with.
        progress: called with the number of documents that were processed since the last call.
        on_written: called with the id of each new or replaced document.
    """

    workers: int = 1
    checksum: bool = False
    archives: bool = False
    prune: bool | None = False
    prune_all: bool = False
    prefix: str | None = None
    add_folder_prefix: bool = False
    file_timeout: float | None = None
    worker_memory: int | None = None
    reject_duplicates: float | Fraction | None = None
    extractor: Extractor | None = None
    progress: Callable[[int], None] = lambda _: None
    on_written: Callable[[str], None] = lambda _: None
