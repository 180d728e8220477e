"""Prepares documents for a store: compares them with the stored digests, fingerprints them, and encodes the records."""

from __future__ import annotations

import functools
import itertools
import json
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.corpus.file_reader import NeedsSubprocessError
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.text_filters import remove_parts
from simdoc_search.documents import Document, MetadataValue, SkippedFile
from simdoc_search.indexing.jobs import Job, group_into_chunks, make_origin, map_chunks, read_document
from simdoc_search.languages import LANGUAGE_FIELD, language_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.kinds import TokenKindName
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.base import Encoder
from simdoc_search.stores.record import EncodedRecord, Origin, Record
from simdoc_search.stores.sketching import compute_sketches, find_missing_kinds
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

NO_WORDS_REASON = "no words"

_MAX_CHUNKS_WITHOUT_WORKERS = 4  # for so few chunks, starting subprocesses is not faster


@dataclass(frozen=True, slots=True)
class PreparationSettings:
    """The settings and functions for preparing documents.

    Attributes:
        settings: settings of the store.
        extractor: the concept extractor; None if the store has no concepts.
        encode: the encoder of the store; None to return records without encoding them.
    """

    settings: Settings
    extractor: Extractor | None = None
    encode: Encoder | None = None


class PreparedDocument(NamedTuple):
    """The outcome for a new or changed document.

    Attributes:
        encoded: the document, for the writer.
        digest: the digest of the document, as in `Record`.
        missing_token_kinds: the kinds of tokens that the store has but that could not be computed.
    """

    encoded: EncodedRecord
    digest: str
    missing_token_kinds: list[TokenKindName]

    @classmethod
    def from_record(cls, record: Record, settings: Settings, encode: Encoder) -> PreparedDocument:
        """Encode a record."""
        return cls(encode(record), record.digest, find_missing_kinds(settings, record))


@dataclass(frozen=True, slots=True)
class UnchangedDocument:
    """The outcome for an unchanged document. The path or modification time of its file may have changed."""

    origin: Origin | None


Outcome = tuple[str, PreparedDocument | Record | SkippedFile | UnchangedDocument]  # id of a document, and its outcome


def prepare_jobs(
    jobs: Iterator[Job], preparation: PreparationSettings, workers: int, limits: ItemLimits
) -> Generator[list[Outcome], None, None]:
    """Yield the outcomes of all jobs in order, chunk by chunk.

    Raises:
        FormatMismatchError: the stop words of the store are unknown.
    """
    if preparation.settings.analysis.stop_words:
        _ = preparation.settings.analysis.stop_words.words  # raises the error in this process, not in a subprocess
    chunks = group_into_chunks(jobs)
    first = list(itertools.islice(chunks, _MAX_CHUNKS_WITHOUT_WORKERS + 1)) if workers > 1 else []
    has_many_chunks = len(first) > _MAX_CHUNKS_WITHOUT_WORKERS
    chunks = itertools.chain(first, chunks)
    if has_many_chunks or any(job.is_risky for chunk in first for job in chunk):
        count = workers if has_many_chunks else min(workers, len(first))
        yield from map_chunks(chunks, _make_pool(count, preparation, limits), 2 * workers if has_many_chunks else count)
    else:
        yield from _prepare_in_process(chunks, preparation, limits)


def _make_pool(workers: int, preparation: PreparationSettings, limits: ItemLimits) -> WorkerPool[Job, Outcome]:
    return WorkerPool(workers, functools.partial(_prepare_chunk, preparation), _skip, limits)


def _skip(job: Job, reason: str) -> Outcome:
    return job.id, SkippedFile(job.name, reason)


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
                pool = pool or _make_pool(1, preparation, limits)
                yield pool.submit(chunk).result()
    finally:
        if pool:
            pool.close()


def _prepare_chunk(
    preparation: PreparationSettings, jobs: Sequence[Job], begin_item: BeginItem, *, allow_risky: bool = True
) -> list[Outcome]:
    """Read, compare and fingerprint a chunk of jobs.

    Raises:
        NeedsSubprocessError: a file is risky, and `allow_risky` is False.
    """
    outcomes: list[Outcome] = []
    changed: list[tuple[int, Document, str, Origin | None]] = []
    for number, job in enumerate(jobs):
        begin_item(number, job.time_share)
        document = read_document(job, allow_risky=allow_risky)
        if isinstance(document, SkippedFile):
            outcomes.append((job.id, document))
            continue
        origin = None
        if isinstance(job.source, FileSource):
            origin = make_origin(job.source)
            document = remove_parts(document, job.source.format, preparation.settings.excluded_parts)
        digest = _digest(document)
        outcomes.append((document.id, UnchangedDocument(origin)))
        if digest != job.stored_digest:
            changed.append((number, document, digest, origin))
    begin_item(None)
    records = _make_records([(document, digest, origin) for _, document, digest, origin in changed], preparation)
    for (number, *_), record in zip(changed, records, strict=True):
        outcomes[number] = (record.id, _make_outcome(record, jobs[number], preparation))
    return outcomes


def _make_outcome(
    record: Record, job: Job, preparation: PreparationSettings
) -> PreparedDocument | Record | SkippedFile:
    if not record.shingles:
        return SkippedFile(job.name, NO_WORDS_REASON)
    if preparation.encode is None:
        return record
    return PreparedDocument.from_record(record, preparation.settings, preparation.encode)


def _make_records(
    documents: Sequence[tuple[Document, str, Origin | None]], preparation: PreparationSettings
) -> Iterator[Record]:
    settings, texts = preparation.settings, [document.text for document, _, _ in documents]
    tokens = fingerprints(
        texts,
        settings.analysis,
        settings.minhash,
        words_hash=True,
        words=settings.indexes_words,
        passages=settings.passages,
    )
    sketches = compute_sketches(texts, settings, preparation.extractor)
    for (document, digest, origin), fingerprint, sketch in zip(documents, tokens, sketches, strict=True):
        yield Record(
            document.id,
            fingerprint.codes(),
            fingerprint.shingles,
            digest,
            _with_language(document) if settings.identifies_language else document.metadata,
            document.text,
            origin,
            text_hash(document.text),
            fingerprint.words_hash,
            passages=fingerprint.passages,
            sentences=sketch.sentences,
            concepts=sketch.concepts,
            words=fingerprint.words,
        )


def _with_language(document: Document) -> Mapping[str, MetadataValue]:
    """Return the metadata of a document. If it has no language, add the language of the text."""
    if LANGUAGE_FIELD in document.metadata:
        return document.metadata
    return {**document.metadata, LANGUAGE_FIELD: language_of(document.text)}


def _digest(document: Document) -> str:
    """Return a hash of text and metadata: 128 bits as hex. The identified language may change, so it is excluded."""
    metadata = json.dumps(dict(document.metadata), sort_keys=True)
    return text_hash(f"{metadata}\n{document.text}")
