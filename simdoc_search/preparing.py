"""Documents to records: read, compared with what is stored, and fingerprinted, by worker processes or right here."""

from __future__ import annotations

import functools
import itertools
import json
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass

from simdoc_search.corpus.document import Document, FileSource, Skipped, check_id
from simdoc_search.corpus.formats import document_format
from simdoc_search.corpus.load import head_of, is_html, load
from simdoc_search.errors import DocumentError
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Origin, Record
from simdoc_search.stores.fields import text_hash
from simdoc_search.workers import Begin, WorkerPool

__all__ = ["NO_WORDS", "Job", "Outcome", "Unchanged", "name_of", "origin_of", "prepared"]

NO_WORDS = "no words"

_CHUNK_ITEMS, _CHUNK_BYTES = 64, 1 << 20  # sent to a worker at once
_LARGE_PAGE = 1 << 18
_SMALL = 4  # so many chunks are done faster here than by processes that must start first


@dataclass(frozen=True, slots=True)
class Job:
    """A document to prepare, and the digest that would make it unchanged."""

    source: Document | FileSource
    known_digest: str | None


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The outcome of a job whose document is in the store already; its file may be another, or newer."""

    origin: Origin | None


Outcome = tuple[str, Record | Skipped | Unchanged]  # with the id


def origin_of(source: FileSource) -> Origin:
    """What the store remembers of a file."""
    return Origin(source.root, source.size, source.mtime_ns)


def prepared(
    jobs: Iterator[Job], settings: Settings, workers: int, file_timeout: float
) -> Generator[list[Outcome], None, None]:
    """The outcomes of all jobs, chunk by chunk, in order."""
    chunks = _chunks(jobs)
    first = list(itertools.islice(chunks, _SMALL + 1)) if workers > 1 else []
    everything = itertools.chain(first, chunks)
    work = functools.partial(_prepare, settings)
    if workers <= 1 or (len(first) <= _SMALL and not any(map(_is_risky, itertools.chain.from_iterable(first)))):
        yield from (work(chunk, lambda _: None) for chunk in everything)
        return
    yield from _prepared_by_pool(everything, WorkerPool(workers, work, _lost, file_timeout), 2 * workers)


def _is_risky(job: Job) -> bool:
    """Whether another's code reads it, which may crash or hang over a broken file."""
    if not isinstance(job.source, FileSource):
        return False
    if is_html(job.source.path) and job.source.size > _LARGE_PAGE:
        return True  # the parser's time grows with the square of the depth of nested elements
    return document_format(job.source.path, head_of(job.source.path)) is not None


def _prepared_by_pool(
    chunks: Iterator[list[Job]], pool: WorkerPool[Job, Outcome], ahead: int
) -> Iterator[list[Outcome]]:
    waiting: deque[Future[list[Outcome]]] = deque()
    try:
        for chunk in chunks:
            waiting.append(pool.submit(chunk))
            if len(waiting) > ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.close()


def _lost(job: Job, reason: str) -> Outcome:
    return job.source.id, Skipped(name_of(job.source), reason)


def name_of(source: Document | FileSource) -> str:
    """What a person calls a document: the path of its file, else its id."""
    return str(source.path) if isinstance(source, FileSource) else source.id


def _chunks(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    chunk: list[Job] = []
    size = 0
    for job in jobs:
        chunk.append(job)
        size += job.source.size if isinstance(job.source, FileSource) else len(job.source.text)
        if len(chunk) >= _CHUNK_ITEMS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _prepare(settings: Settings, jobs: Sequence[Job], begin: Begin) -> list[Outcome]:
    """Read, compare and fingerprint: what a worker does with a chunk."""
    outcomes: list[Outcome] = []
    fresh: list[tuple[int, Document, str, Origin | None]] = []
    for place, job in enumerate(jobs):
        begin(place)
        origin = origin_of(job.source) if isinstance(job.source, FileSource) else None
        document = _document(job.source)
        if isinstance(document, Skipped):
            outcomes.append((job.source.id, document))
            continue
        try:
            digest = _digest(document)
        except (TypeError, ValueError) as error:
            outcomes.append((job.source.id, Skipped(name_of(job.source), f"metadata is no JSON: {error}")))
            continue
        outcomes.append((document.id, Unchanged(origin)))
        if digest != job.known_digest:
            fresh.append((place, document, digest, origin))
    begin(None)
    made = fingerprints((each[1].text for each in fresh), settings.analysis, settings.minhash)
    for (place, document, digest, origin), fp in zip(fresh, made, strict=True):
        codes = fp.codes(settings.token_length)
        record = Record(document.id, codes, fp.shingles, digest, document.metadata, document.text, origin)
        outcomes[place] = (document.id, record if fp.shingles else Skipped(name_of(jobs[place].source), NO_WORDS))
    return outcomes


def _document(source: Document | FileSource) -> Document | Skipped:
    try:
        check_id(source.id)
        return load(source) if isinstance(source, FileSource) else source
    except DocumentError as error:
        return Skipped(name_of(source), str(error))


def _digest(document: Document) -> str:
    """128 bits of text and metadata, as hex."""
    metadata = json.dumps(dict(document.metadata), sort_keys=True)
    return text_hash(f"{metadata}\n{document.text}")
