"""Documents to records: read, compared with what is stored, and fingerprinted, by worker processes or right here."""

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
from simdoc_search.corpus.load import is_risky, load, load_here, time_share
from simdoc_search.corpus.text_filters import without_parts
from simdoc_search.documents import Document, FileSource, MetadataValue, Skipped, check_id
from simdoc_search.errors import DocumentError
from simdoc_search.languages import FIELD as LANGUAGE
from simdoc_search.languages import language_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Origin, Record
from simdoc_search.stores.sketching import sketches_of
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

NO_WORDS = "no words"

_CHUNK_ITEMS, _CHUNK_BYTES = 64, 1 << 20  # sent to a worker at once
_NUMBER_BYTES = 8
_PACKED_BYTES = 1 << 17  # as which a small file counts that may unpack to much
_PLAIN = frozenset({str, int, float, bool})
_SMALL = 4  # so many chunks are done faster here than by processes that must start first


@dataclass(frozen=True, slots=True)
class Job:
    """A document to prepare, the digest that would make it unchanged, and why it cannot be prepared, if so."""

    source: Document | FileSource
    known_digest: str | None
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What a record is made by: settings of a store, and what finds concepts, if it has such."""

    settings: Settings
    extractor: Extractor | None = None


class _NeedsProcess(Exception):  # noqa: N818 - a signal, no error
    """One of the files may crash the process that reads it, hang it, or take all memory: not this one."""


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The outcome of a job whose document is in the store already; its file may be another, or newer."""

    origin: Origin | None


Outcome = tuple[str, Record | Skipped | Unchanged]  # with the id
Made = TypeVar("Made")


def origin_of(source: FileSource) -> Origin:
    """What the store remembers of a file, or of a member of an archive."""
    content = "" if source.data is None else blake2b(source.data, digest_size=16).hexdigest()
    return Origin(source.root, source.size, source.mtime_ns, source.prefix, content)


def prepared(
    jobs: Iterator[Job], recipe: Recipe, workers: int, limits: ItemLimits
) -> Generator[list[Outcome], None, None]:
    """The outcomes of all jobs, chunk by chunk, in order.

    Raises:
        FormatMismatchError: the stop words of the store are not known.
    """
    if recipe.settings.analysis.stop_words:
        _ = recipe.settings.analysis.stop_words.words  # found here, where what is wrong with them ends the run
    chunks = chunks_of(jobs)
    first = list(itertools.islice(chunks, _SMALL + 1)) if workers > 1 else []
    everything = itertools.chain(first, chunks)
    if len(first) > _SMALL:
        yield from by_pool(everything, _pool(workers, recipe, limits), 2 * workers)
    elif any(map(_is_risky, itertools.chain.from_iterable(first))):
        pool = _pool(min(workers, len(first)), recipe, limits)  # another process would have nothing to do
        yield from by_pool(everything, pool, len(first))
    else:
        yield from _prepared_here(everything, recipe, limits)


def _pool(workers: int, recipe: Recipe, limits: ItemLimits) -> WorkerPool[Job, Outcome]:
    return WorkerPool(workers, functools.partial(_prepare, recipe), _lost, limits)


def _is_risky(job: Job) -> bool:
    return isinstance(job.source, FileSource) and is_risky(job.source.path, job.source.size)


def _prepared_here(chunks: Iterator[list[Job]], recipe: Recipe, limits: ItemLimits) -> Iterator[list[Outcome]]:
    """In this process; but what may crash it, hang or take all memory in one other, which is started when needed."""
    pool: WorkerPool[Job, Outcome] | None = None
    try:
        for chunk in chunks:
            try:
                yield _prepare(recipe, chunk, lambda *_: None, risky=False)
            except (_NeedsProcess, MemoryError):  # what needs too much memory costs itself only there
                pool = pool or _pool(1, recipe, limits)
                yield pool.submit(chunk).result()
    finally:
        if pool:
            pool.close()


def by_pool(chunks: Iterator[list[Job]], pool: WorkerPool[Job, Made], ahead: int) -> Generator[list[Made], None, None]:
    """What a pool makes of each chunk, in order, so many chunks ahead; the pool is closed at the end."""
    waiting: deque[Future[list[Made]]] = deque()
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


def chunks_of(jobs: Iterable[Job]) -> Iterator[list[Job]]:
    """Jobs in as many as a worker gets at once."""
    chunk: list[Job] = []
    size = 0
    for job in map(_plain, jobs):
        chunk.append(job)
        size += _weight(job)
        if len(chunk) >= _CHUNK_ITEMS or size >= _CHUNK_BYTES:
            yield chunk
            chunk, size = [], 0
    if chunk:
        yield chunk


def _weight(job: Job) -> int:
    if not isinstance(job.source, FileSource):
        return sum(map(_weight_of, _values(job.source)))
    return max(job.source.size, _PACKED_BYTES) if _is_risky(job) else job.source.size


def _weight_of(value: object) -> int:
    if isinstance(value, list):
        return sum(map(len, value))
    return len(value) if isinstance(value, str) else _NUMBER_BYTES


def _plain(job: Job) -> Job:
    """A job that other processes can load, and JSON can say, whatever classes an application made its document of."""
    source = job.source
    if isinstance(source, FileSource) or (type(source) is Document and all(map(_is_plain, _values(source)))):
        return job
    try:
        metadata = json.loads(json.dumps(dict(source.metadata)))
    except (TypeError, ValueError) as error:
        return Job(Document(str(source.id), ""), None, f"metadata is no JSON: {error}")
    return Job(Document(str(source.id), str(source.text), metadata), job.known_digest)


def _values(document: Document) -> Iterator[object]:
    return itertools.chain((document.id, document.text), document.metadata, document.metadata.values())


def _is_plain(value: object) -> bool:
    return type(value) in _PLAIN or (type(value) is list and all(type(each) is str for each in value))


def _prepare(recipe: Recipe, jobs: Sequence[Job], begin_item: BeginItem, *, risky: bool = True) -> list[Outcome]:
    """Read, compare and fingerprint: what a worker does with a chunk.

    Raises:
        _NeedsProcess: if not `risky`: one of them must be read by a worker.
    """
    outcomes: list[Outcome] = []
    fresh: list[tuple[int, Document, str, Origin | None]] = []
    for place, job in enumerate(jobs):
        begin_item(place, share_of(job))
        origin = origin_of(job.source) if isinstance(job.source, FileSource) else None
        document = document_of(job, risky)
        if isinstance(document, Skipped):
            outcomes.append((job.source.id, document))
            continue
        if isinstance(job.source, FileSource):
            document = without_parts(document, job.source.path, recipe.settings.left_out)
        digest = _digest(document)
        outcomes.append((document.id, Unchanged(origin)))
        if digest != job.known_digest:
            fresh.append((place, document, digest, origin))
    begin_item(None)
    settings, texts = recipe.settings, [each[1].text for each in fresh]
    made = fingerprints(
        texts,
        settings.analysis,
        settings.minhash,
        words_hash=True,
        words=settings.words,
        passages=settings.passages,
    )
    sketches = sketches_of(texts, settings, recipe.extractor)
    for (place, document, digest, origin), fp, more in zip(fresh, made, sketches, strict=True):
        codes = fp.codes(settings.token_length)
        hashes = text_hash(document.text), fp.words_hash
        metadata = _with_language(document) if settings.language else document.metadata
        values = document.id, codes, fp.shingles, digest, metadata, document.text, origin, *hashes
        record = Record(
            *values,
            passages=fp.passages,
            sentences=more.sentences,
            concepts=more.concepts,
            words=fp.words,
        )
        outcomes[place] = (document.id, record if fp.shingles else Skipped(name_of(jobs[place].source), NO_WORDS))
    return outcomes


def share_of(job: Job) -> float:
    """The share of the time limit that a job may take, 0..1."""
    return time_share(job.source) if isinstance(job.source, FileSource) else 1.0


def document_of(job: Job, risky: bool = True) -> Document | Skipped:
    """The document of a job, read if it is a file.

    Raises:
        _NeedsProcess: if not `risky`: it must be read by a worker.
    """
    source = job.source
    if job.fault:
        return Skipped(name_of(source), job.fault)
    try:
        check_id(source.id)
        if not isinstance(source, FileSource):
            return source
        found = load(source) if risky else load_here(source)
    except DocumentError as error:
        return Skipped(name_of(source), str(error))
    if found is None:
        raise _NeedsProcess
    return found


def _with_language(document: Document) -> Mapping[str, MetadataValue]:
    """Its metadata, with the language of the text unless it says one itself."""
    if LANGUAGE in document.metadata:
        return document.metadata
    return {**document.metadata, LANGUAGE: language_of(document.text)}


def _digest(document: Document) -> str:
    """128 bits of text and metadata as they were given, as hex: what is identified may become another by an update."""
    metadata = json.dumps(dict(document.metadata), sort_keys=True)
    return text_hash(f"{metadata}\n{document.text}")
