"""Jobs. A job is a document that an indexing run must read. Worker processes get jobs in chunks."""

from __future__ import annotations

import itertools
import json
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

_MAX_CHUNKS_WITHOUT_WORKERS = 4  # up to this many chunks are processed faster without worker processes
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
    return other in (origin, replace(origin, archive_state="") if origin else None)


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

    Processes are started only if there are many jobs or if a file is risky.

    Args:
        jobs: the jobs.
        work: processes a chunk.
        make_skipped_result: returns the result of a job that crashed its process or exceeded a limit. It is called
            with the job and the reason.
        workers: maximum number of worker processes.
        limits: limits for each file in a worker process.
    """
    chunks = group_into_chunks(jobs)
    first = list(itertools.islice(chunks, _MAX_CHUNKS_WITHOUT_WORKERS + 1)) if workers > 1 else []
    has_many_chunks = len(first) > _MAX_CHUNKS_WITHOUT_WORKERS
    chunks = itertools.chain(first, chunks)

    def make_pool(count: int) -> WorkerPool[Job, Result]:
        return WorkerPool(count, work, make_skipped_result, limits)

    if has_many_chunks or any(job.is_risky for chunk in first for job in chunk):
        count = workers if has_many_chunks else min(workers, len(first))
        yield from _map_in_pool(chunks, make_pool(count), 2 * workers if has_many_chunks else count)
    else:
        yield from _map_in_process(chunks, work, make_pool)


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


def _map_in_process(
    chunks: Iterable[list[Job]], work: ChunkWork[Result], make_pool: Callable[[int], WorkerPool[Job, Result]]
) -> Generator[list[Result], None, None]:
    """Process chunks in this process, except that one subprocess processes the chunks with risky files."""
    pool: WorkerPool[Job, Result] | None = None
    try:
        for chunk in chunks:
            try:
                yield work(chunk, lambda *_: None, allow_risky=False)
            except (NeedsSubprocessError, MemoryError):
                # In the subprocess, only the document that is too large fails.
                pool = pool or make_pool(1)
                yield pool.submit(chunk).result()
    finally:
        if pool:
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
        metadata = json.dumps(dict(source.metadata))
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
