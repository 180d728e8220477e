"""Prepares documents for a store: compares them with the stored digests, fingerprints them, and encodes the records."""

from __future__ import annotations

import functools
import json
from collections.abc import Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.concepts import Extractor
from simdoc_search.corpus.file_source import FileSource
from simdoc_search.corpus.formats import determine_format
from simdoc_search.corpus.text_filters import remove_parts
from simdoc_search.documents import Document, MetadataValue, SkippedFile
from simdoc_search.indexing.jobs import Job, make_origin, map_jobs, read_document
from simdoc_search.languages import LANGUAGE_FIELD, language_of
from simdoc_search.sketch.fingerprint import fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.token_kinds import TokenKindName
from simdoc_search.stores.base import Encoder
from simdoc_search.stores.record import EncodedRecord, Origin, Record
from simdoc_search.stores.sentences_and_concepts import compute_sentences_and_concepts, find_missing_kinds
from simdoc_search.workers import BeginItem, ItemLimits

NO_WORDS_REASON = "no words"


@dataclass(frozen=True, slots=True)
class PreparationSettings:
    """The settings and functions for preparing documents.

    `extractor` is None if the store has no concepts. `encode` is the encoder of the store, or None to return records
    without encoding them.
    """

    settings: Settings
    extractor: Extractor | None = None
    encode: Encoder | None = None


class PreparedDocument(NamedTuple):
    """The result of preparing a new or changed document.

    `missing_kinds` are kinds of data that the store contains but that could not be computed: `sentences`, `concepts`.
    `unread_attachments` are the names of the attachments of an e-mail that cannot be read.
    """

    encoded: EncodedRecord
    digest: str
    missing_kinds: list[TokenKindName]
    unread_attachments: Sequence[str] = ()

    @classmethod
    def from_records(cls, records: Sequence[Record], settings: Settings, encode: Encoder) -> list[PreparedDocument]:
        """Encode records."""
        return [
            cls(encoded, record.digest, find_missing_kinds(settings, record), _find_unread_attachments(record))
            for encoded, record in zip(encode(records), records, strict=True)
        ]


def _find_unread_attachments(record: Record) -> list[str]:
    """Return the names of an e-mail's attachments that cannot be read; empty if the document is not an e-mail."""
    attachments = record.metadata.get("attachments")
    if record.origin is None or not isinstance(attachments, list):
        return []
    format = determine_format(record.id)
    return [str(name) for name in attachments] if format.is_mail and not format.has_attachments else []


class _ChangedDocument(NamedTuple):
    """A document to fingerprint, its digest, the hash of its text, and its file."""

    document: Document
    digest: str
    text_hash: str
    origin: Origin | None


@dataclass(frozen=True, slots=True)
class UnchangedDocument:
    """The result of preparing an unchanged document. The path or modification time of its file may have changed."""

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
        # Load the stop words here, so that an error is raised in this process, not in a subprocess.
        _ = preparation.settings.analysis.stop_words.words
    yield from map_jobs(jobs, functools.partial(_prepare_chunk, preparation), _skip, workers, limits)


def _skip(job: Job, reason: str) -> Outcome:
    return job.id, SkippedFile(job.name, reason)


def _prepare_chunk(
    preparation: PreparationSettings, jobs: Sequence[Job], begin_item: BeginItem, *, allow_risky: bool = True
) -> list[Outcome]:
    """Read, compare and fingerprint a chunk of jobs.

    Raises:
        NeedsSubprocessError: a file is risky, and `allow_risky` is False.
    """
    outcomes: list[Outcome] = []
    changed: list[tuple[int, _ChangedDocument]] = []
    for number, job in enumerate(jobs):
        if isinstance(job.source, FileSource):  # only files are read here; other documents are in memory
            begin_item(number, job.time_share)
        document = read_document(job, allow_risky=allow_risky)
        if isinstance(document, SkippedFile):
            outcomes.append((job.id, document))
            continue
        origin = None
        if isinstance(job.source, FileSource):
            origin = make_origin(job.source)
            document = remove_parts(document, job.source.format, preparation.settings.excluded_parts)
        hash_of_text = text_hash(document.text)
        digest = _compute_digest(document, hash_of_text)
        outcomes.append((document.id, UnchangedDocument(origin)))
        if digest != job.stored_digest:
            changed.append((number, _ChangedDocument(document, digest, hash_of_text, origin)))
    begin_item(None)
    new_records = _make_records([document for _, document in changed], preparation)
    numbers, records = [], []
    for (number, _), record in zip(changed, new_records, strict=True):
        if record.shingle_count:
            numbers.append(number)
            records.append(record)
        else:
            outcomes[number] = (record.id, SkippedFile(jobs[number].name, NO_WORDS_REASON))
    prepared: Sequence[PreparedDocument | Record] = records
    if preparation.encode:
        prepared = PreparedDocument.from_records(records, preparation.settings, preparation.encode)
    for number, record, outcome in zip(numbers, records, prepared, strict=True):
        outcomes[number] = (record.id, outcome)
    return outcomes


def _make_records(changed_documents: Sequence[_ChangedDocument], preparation: PreparationSettings) -> Iterator[Record]:
    settings, texts = preparation.settings, [document.text for document, *_ in changed_documents]
    tokens = fingerprints(
        texts,
        settings.analysis,
        settings.sketch,
        with_words_hash=True,
        with_word_pairs=settings.indexes_word_pairs,
        passages=settings.passages,
    )
    sentences_and_concepts = compute_sentences_and_concepts(texts, settings, preparation.extractor)
    for (document, digest, hash_of_text, origin), fingerprint, computed in zip(
        changed_documents, tokens, sentences_and_concepts, strict=True
    ):
        yield Record(
            document.id,
            fingerprint.token_ids(),
            fingerprint.shingle_count,
            digest,
            _metadata_with_language(document) if settings.identifies_language else document.metadata,
            document.text,
            origin,
            hash_of_text,
            fingerprint.words_hash,
            passages=fingerprint.passages,
            sentences=computed.sentences,
            concepts=computed.concepts,
            word_pairs=fingerprint.word_pairs,
        )


def _metadata_with_language(document: Document) -> Mapping[str, MetadataValue]:
    """Return the metadata of a document. If it has no language, add the language of the text."""
    if LANGUAGE_FIELD in document.metadata:
        return document.metadata
    return {**document.metadata, LANGUAGE_FIELD: language_of(document.text)}


def _compute_digest(document: Document, hash_of_text: str) -> str:
    """Return a hash of text and metadata: 128 bits as hex. The identified language may change, so it is excluded."""
    if not document.metadata:
        return hash_of_text
    return text_hash(f"{json.dumps(dict(document.metadata), sort_keys=True)}\n{hash_of_text}")
