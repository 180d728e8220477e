"""Jobs. A job is a document that an indexing run must read. Worker processes get jobs in chunks."""

from __future__ import annotations

import itertools
import json
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Protocol, TypeVar

from simdoc_search.batches import split_by_size
from simdoc_search.corpus.file_reader import NeedsSubprocessError, read_in_process
from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.documents import Document, SkippedFile, check_id
from simdoc_search.errors import DocumentError
from simdoc_search.stores.record import ATTACHMENTS_MARKER, Origin
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

_MIN_SECONDS_BEFORE_WORKERS = 0.5  # starting worker processes takes about as long
_MIN_SHARE_FOR_WORKERS = 0.8  # of the time. Of an index of plain text, this process spends about 0.7 on the work
_MAX_CHUNK_JOBS, _MAX_CHUNK_BYTES = 64, 1 << 20
_MIN_RISKY_BYTES = 1 << 17
"""The minimum size that is assumed for a risky file, because the file may be compressed. A file is risky if its reader
may crash or need much memory."""

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class Job:
    """A source to read, and the digest of its stored document. The digest is None if the store has no such document."""

    source: Source
    stored_digest: str | None

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.source.path if isinstance(self.source, SkippedFile) else self.source.id

    @property
    def name(self) -> str:
        """The name of the document in messages: the path of its file, or its id."""
        return self.id if isinstance(self.source, Document) else self.source.path

    @property
    def is_risky(self) -> bool:
        """Whether the file must be read in a subprocess."""
        return isinstance(self.source, FileSource) and self.source.is_risky

    @property
    def time_share(self) -> float:
        """The share of the time limit that the job may take, 0..1."""
        return self.source.time_share if isinstance(self.source, FileSource) else 1.0


def make_origin(source: FileSource) -> Origin:
    """Return the origin that the store records for a file or a member of an archive."""
    content_hash = "" if source.data is None else blake2b(source.data, digest_size=16).hexdigest()
    archive_state = ATTACHMENTS_MARKER if source.has_attachments else ""
    return Origin(source.root, source.size, source.mtime_ns, source.prefix, content_hash, archive_state)


def has_same_origin(origin: Origin | None, other: Origin | None) -> bool:
    """Return whether two origins are equal, or differ only because the field `archive_state` of `other` is empty."""
    return other == origin or (origin is not None and other == replace(origin, archive_state=""))


class ChunkWork(Protocol[Result]):
    """Processes a chunk of jobs in this process or in a subprocess."""

    def __call__(self, jobs: Sequence[Job], begin_item: BeginItem, *, allow_risky: bool = True) -> list[Result]:
        """Return the results in the order of the jobs.

        Raises:
            NeedsSubprocessError: a file is risky, and `allow_risky` is False.
        """


def map_jobs(
    jobs: Iterable[Job],
    work: ChunkWork[Result],
    make_skipped_result: Callable[[Job, str], Result],
    workers: int,
    limits: ItemLimits,
) -> Generator[list[Result], None, None]:
    """Yield the results of all jobs in order, chunk by chunk.

    Worker processes start when a file is risky, or when the work takes most of the time. For plain text they would only
    be slower, because a store writes in a thread of its own while this process does the work. `make_skipped_result`
    returns the result of a job that crashed its process or exceeded a limit, from the job and the reason. If `workers`
    is 1, only a risky file starts a process.
    """
    chunks = group_into_chunks(jobs)
    start, work_seconds = time.monotonic(), 0.0
    next_chunks: list[list[Job]] = []
    for chunk in chunks:
        chunk_start = time.monotonic()
        try:
            results = work(chunk, lambda *_: None, allow_risky=False)
        except (NeedsSubprocessError, MemoryError):  # in a subprocess, only the document that is too large fails
            next_chunks.append(chunk)
            break
        work_seconds += time.monotonic() - chunk_start
        yield results
        min_seconds = max(_MIN_SECONDS_BEFORE_WORKERS, _MIN_SHARE_FOR_WORKERS * (time.monotonic() - start))
        if workers > 1 and work_seconds > min_seconds:
            break
    next_chunks += itertools.islice(chunks, workers - len(next_chunks))
    if next_chunks:
        pool = WorkerPool(len(next_chunks), work, make_skipped_result, limits)
        yield from _map_in_pool(itertools.chain(next_chunks, chunks), pool, 2 * workers)


def _map_in_pool(
    chunks: Iterable[list[Job]], pool: WorkerPool[Job, Result], max_waiting_chunks: int
) -> Generator[list[Result], None, None]:
    """Yield the results of a pool in order, and close the pool. At most `max_waiting_chunks` are read ahead."""
    waiting: deque[Future[list[Result]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(chunk))
            if len(waiting) > max_waiting_chunks:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.close()


def group_into_chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Group jobs into chunks. The number of jobs and the total size of a chunk are limited."""
    sources = ((job, *_to_picklable_source(job.source)) for job in jobs)
    for chunk in split_by_size(sources, lambda entry: entry[2], _MAX_CHUNK_BYTES, _MAX_CHUNK_JOBS):
        yield [Job(source, job.stored_digest) for job, source, _ in chunk]


def _to_picklable_source(source: Source) -> tuple[Source, int]:
    """Convert a document to built-in types, which can be pickled and written as JSON. Also return its size."""
    if isinstance(source, FileSource):
        return source, max(source.size, _MIN_RISKY_BYTES if source.is_risky else 0)
    if isinstance(source, SkippedFile):
        return source, 0
    try:
        metadata = json.dumps(dict(source.metadata)) if source.metadata else "{}"
    except (TypeError, ValueError) as error:
        return SkippedFile(str(source.id), f"the metadata cannot be converted to JSON: {error}"), 0
    document = Document(str(source.id), str(source.text), json.loads(metadata))
    return document, len(document.text) + len(metadata)


def read_document(job: Job, *, allow_risky: bool = True) -> Document | SkippedFile:
    """Return the document of a job. If the source is a file, read it.

    Raises:
        NeedsSubprocessError: the file is risky, and `allow_risky` is False.
    """
    source = job.source
    if isinstance(source, SkippedFile):
        return source
    try:
        check_id(source.id)
    except DocumentError as error:
        return SkippedFile(job.name, str(error))
    if isinstance(source, Document):
        return source
    return read_in_process(source, allow_risky=allow_risky)
