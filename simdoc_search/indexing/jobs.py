"""Jobs, which are documents that an indexing run must read, and chunks of them for worker processes."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Generator, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

from simdoc_search.corpus.file_reader import read_in_process
from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.documents import Document, SkippedFile, check_id
from simdoc_search.errors import DocumentError
from simdoc_search.stores.record import HAS_ATTACHMENTS, Origin
from simdoc_search.workers import WorkerPool

_MAX_CHUNK_JOBS, _MAX_CHUNK_BYTES = 64, 1 << 20
_MIN_RISKY_BYTES = 1 << 17
"""A smaller file of a risky format counts as this size, because its content may be compressed."""

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
    content = "" if source.data is None else blake2b(source.data, digest_size=16).hexdigest()
    archive = HAS_ATTACHMENTS if source.has_attachments else ""
    return Origin(source.root, source.size, source.mtime_ns, source.prefix, content, archive)


def map_chunks(
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
    """Group jobs into chunks that are limited by number and size."""
    chunk: list[Job] = []
    total = 0
    for job in jobs:
        source, size = _to_picklable_source(job.source)
        chunk.append(Job(source, job.stored_digest))
        total += size
        if len(chunk) >= _MAX_CHUNK_JOBS or total >= _MAX_CHUNK_BYTES:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


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
