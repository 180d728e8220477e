"""Makes the records of documents: reads them, compares them with the stored digests, and fingerprints them."""

from __future__ import annotations

import functools
import itertools
import json
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from hashlib import blake2b
from typing import TypeVar

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.corpus.file_reader import NeedsSubprocessError, load
from simdoc_search.corpus.file_source import FileSource, Source
from simdoc_search.corpus.text_filters import remove_parts
from simdoc_search.documents import Document, MetadataValue, Skipped, check_id
from simdoc_search.errors import DocumentError
from simdoc_search.languages import FIELD as LANGUAGE
from simdoc_search.languages import language_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.sketching import sketches_of
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

NO_WORDS = "no words"

_CHUNK_JOBS, _CHUNK_BYTES = 64, 1 << 20
_RISKY_BYTES = 1 << 17  # a file of a risky format counts as at least this size, because it may unpack to more
_FEW_CHUNKS = 4  # up to this number of chunks, this process is faster than starting subprocesses


@dataclass(frozen=True, slots=True)
class Job:
    """A source to read, and the digest of its stored document, if any."""

    source: Source
    stored_digest: str | None

    @property
    def id(self) -> str:
        """The id of the document."""
        return self.source.path if isinstance(self.source, Skipped) else self.source.id

    @property
    def name(self) -> str:
        """The name of the document in messages: the path of its file, or its id."""
        return self.id if isinstance(self.source, Document) else str(self.source.path)

    @property
    def is_risky(self) -> bool:
        """Whether the file must be read in a subprocess."""
        return isinstance(self.source, FileSource) and self.source.is_risky

    @property
    def time_share(self) -> float:
        """The share of the time limit that the job may take, 0..1."""
        return self.source.time_share if isinstance(self.source, FileSource) else 1.0


@dataclass(frozen=True, slots=True)
class PreparationSettings:
    """What is needed to make records: the settings of the store, and the extractor of its concepts."""

    settings: Settings
    extractor: Extractor | None = None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The outcome for a document that is stored already. The path or modification time of its file may be new."""

    origin: Origin | None


Outcome = tuple[str, Record | Skipped | Unchanged]  # with the id
Result = TypeVar("Result")


def origin_of(source: FileSource) -> Origin:
    """Return the origin that the store records for a file or a member of an archive."""
    content = "" if source.data is None else blake2b(source.data, digest_size=16).hexdigest()
    return Origin(source.root, source.size, source.mtime_ns, source.prefix, content)


def prepare_jobs(
    jobs: Iterator[Job], preparation: PreparationSettings, workers: int, limits: ItemLimits
) -> Generator[list[Outcome], None, None]:
    """Yield the outcomes of all jobs in order, chunk by chunk.

    Raises:
        FormatMismatchError: the stop words of the store are unknown.
    """
    if preparation.settings.analysis.stop_words:
        _ = preparation.settings.analysis.stop_words.words  # raises here, not in a subprocess
    chunks = chunks_of(jobs)
    first = list(itertools.islice(chunks, _FEW_CHUNKS + 1)) if workers > 1 else []
    is_long = len(first) > _FEW_CHUNKS
    chunks = itertools.chain(first, chunks)
    if is_long or any(job.is_risky for chunk in first for job in chunk):
        count = workers if is_long else min(workers, len(first))
        yield from map_chunks(chunks, _pool(count, preparation, limits), 2 * workers if is_long else count)
    else:
        yield from _prepare_in_process(chunks, preparation, limits)


def _pool(workers: int, preparation: PreparationSettings, limits: ItemLimits) -> WorkerPool[Job, Outcome]:
    return WorkerPool(workers, functools.partial(_prepare_chunk, preparation), _skip, limits)


def _skip(job: Job, reason: str) -> Outcome:
    return job.id, Skipped(job.name, reason)


def _prepare_in_process(
    chunks: Iterable[list[Job]], preparation: PreparationSettings, limits: ItemLimits
) -> Iterator[list[Outcome]]:
    """Prepare chunks in this process, except that one subprocess prepares the chunks with risky files."""
    pool: WorkerPool[Job, Outcome] | None = None
    try:
        for chunk in chunks:
            try:
                yield _prepare_chunk(preparation, chunk, lambda *_: None, allow_risky=False)
            except (NeedsSubprocessError, MemoryError):  # in a subprocess, only the document that is too large fails
                pool = pool or _pool(1, preparation, limits)
                yield pool.submit(chunk).result()
    finally:
        if pool:
            pool.close()


def map_chunks(
    chunks: Iterable[list[Job]], pool: WorkerPool[Job, Result], ahead: int
) -> Generator[list[Result], None, None]:
    """Yield the results of a pool in order, and close the pool. At most `ahead` chunks are read ahead."""
    waiting: deque[Future[list[Result]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(chunk))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.close()


def chunks_of(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Group jobs into chunks that are limited by number and size."""
    chunk: list[Job] = []
    total = 0
    for job in jobs:
        source, size = _plain_source(job.source)
        chunk.append(Job(source, job.stored_digest))
        total += size
        if len(chunk) >= _CHUNK_JOBS or total >= _CHUNK_BYTES:
            yield chunk
            chunk, total = [], 0
    if chunk:
        yield chunk


def _plain_source(source: Source) -> tuple[Source, int]:
    """Convert a document to built-in types that can be pickled and converted to JSON. Also return its size."""
    if isinstance(source, FileSource):
        return source, max(source.size, _RISKY_BYTES if source.is_risky else 0)
    if isinstance(source, Skipped):
        return source, 0
    try:
        metadata = json.dumps(dict(source.metadata))
    except (TypeError, ValueError) as error:
        return Skipped(str(source.id), f"its metadata cannot be converted to JSON: {error}"), 0
    document = Document(str(source.id), str(source.text), json.loads(metadata))
    return document, len(document.text) + len(metadata)


def _prepare_chunk(
    preparation: PreparationSettings, jobs: Sequence[Job], begin: BeginItem, *, allow_risky: bool = True
) -> list[Outcome]:
    """Read, compare and fingerprint a chunk of jobs.

    Raises:
        NeedsSubprocessError: a file is risky, and `allow_risky` is False.
    """
    outcomes: list[Outcome] = []
    changed: list[tuple[int, Document, str, Origin | None]] = []
    for number, job in enumerate(jobs):
        begin(number, job.time_share)
        document = read_document(job, allow_risky=allow_risky)
        if isinstance(document, Skipped):
            outcomes.append((job.id, document))
            continue
        origin = None
        if isinstance(job.source, FileSource):
            origin = origin_of(job.source)
            document = remove_parts(document, job.source.format, preparation.settings.left_out)
        digest = _digest(document)
        outcomes.append((document.id, Unchanged(origin)))
        if digest != job.stored_digest:
            changed.append((number, document, digest, origin))
    begin(None)
    records = _records([(document, digest, origin) for _, document, digest, origin in changed], preparation)
    for (number, *_), record in zip(changed, records, strict=True):
        outcomes[number] = (record.id, record if record.shingles else Skipped(jobs[number].name, NO_WORDS))
    return outcomes


def _records(
    documents: Sequence[tuple[Document, str, Origin | None]], preparation: PreparationSettings
) -> Iterator[Record]:
    settings, texts = preparation.settings, [document.text for document, _, _ in documents]
    tokens = fingerprints(
        texts,
        settings.analysis,
        settings.minhash,
        words_hash=True,
        words=settings.words,
        passages=settings.passages,
    )
    sketches = sketches_of(texts, settings, preparation.extractor)
    for (document, digest, origin), fingerprint, sketch in zip(documents, tokens, sketches, strict=True):
        yield Record(
            document.id,
            fingerprint.codes(settings.token_length),
            fingerprint.shingles,
            digest,
            _with_language(document) if settings.language else document.metadata,
            document.text,
            origin,
            text_hash(document.text),
            fingerprint.words_hash,
            passages=fingerprint.passages,
            sentences=sketch.sentences,
            concepts=sketch.concepts,
            words=fingerprint.words,
        )


def read_document(job: Job, *, allow_risky: bool = True) -> Document | Skipped:
    """Return the document of a job, read if it is a file.

    Raises:
        NeedsSubprocessError: the file is risky, and `allow_risky` is False.
    """
    source = job.source
    if isinstance(source, Skipped):
        return source
    try:
        check_id(source.id)
    except DocumentError as error:
        return Skipped(job.name, str(error))
    if isinstance(source, Document):
        return source
    return load(source, allow_risky=allow_risky)


def _with_language(document: Document) -> Mapping[str, MetadataValue]:
    """Return the metadata, with the language of the text added if it has none."""
    if LANGUAGE in document.metadata:
        return document.metadata
    return {**document.metadata, LANGUAGE: language_of(document.text)}


def _digest(document: Document) -> str:
    """Return a hash of text and metadata: 128 bits as hex. The identified language is not in it, as it may change."""
    metadata = json.dumps(dict(document.metadata), sort_keys=True)
    return text_hash(f"{metadata}\n{document.text}")
