"""Reads the simhashes of sentences, and the concepts, of all documents into arrays."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from simdoc_search.analysis.distinct import distinct_in_order
from simdoc_search.analysis.settings import Analysis
from simdoc_search.batches import split_by_size
from simdoc_search.cancellation import check_stopped
from simdoc_search.documents import DocumentKey
from simdoc_search.duplicates.arrays import Ints
from simdoc_search.errors import StoreError
from simdoc_search.sketch.concepts import ParagraphConcepts, decode_paragraph_concepts
from simdoc_search.sketch.sentences import decode_simhashes
from simdoc_search.sketch.simhash import Simhashes
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record, RecordPart
from simdoc_search.stores.sentences_and_concepts import compute_sentence_simhashes
from simdoc_search.versions.equal_texts import TextHashes
from simdoc_search.workers import ParallelMapper

Progress = Callable[[str, float], None]
"""Called with the current stage (`reading`, `pairing` or `comparing`) and the share of the stage that is done, 0..1."""

_PROGRESS_STEP = 256
_CHUNK_CHARACTERS = 1 << 17
_MAX_CHUNKS_WITHOUT_WORKERS = 64  # up to 64 chunks of 131,072 characters, worker processes are not faster


@dataclass(slots=True, eq=False)
class ComparableDocuments:
    """The documents that can be compared, in the order of their ids."""

    document_keys: list[DocumentKey]  # key of each document
    # distinct simhashes of the sentences of each document, in the order of its text, one document after the other;
    # uint64
    simhashes: Simhashes
    simhash_starts: Ints  # where the simhashes of each document begin; int64, shape (documents,)
    simhash_counts: Ints  # number of simhashes of each document; int64, shape (documents,)
    # concepts of each document; empty if they were not read
    concepts: list[ParagraphConcepts] = field(default_factory=list)
    # for the key of each document that cannot be compared, the reason
    left_out: dict[DocumentKey, str] = field(default_factory=dict)
    # hashes of the text of each document; empty if they were not read
    text_hashes: list[TextHashes] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.document_keys)


def read_documents(
    store: Store,
    filters: Filters | None,
    progress: Progress,
    *,
    with_concepts: bool = False,
    workers: ParallelMapper | None = None,
) -> ComparableDocuments:
    """Read the simhashes of sentences of the documents that match the filters, and optionally their concepts.

    If the store has no simhashes, they are computed from the texts, unless `with_concepts` is true. They are computed
    by `workers`, or by this process if `workers` is None.

    Raises:
        StoreError: the store has neither sentences nor texts, or cannot be read.
        MissingExtraError: the store has no sentences, and sentencex is not installed.
    """
    from_texts = store.settings.sentences is None and not with_concepts
    if from_texts and not store.has_texts:
        raise StoreError(
            "the index has neither sentences nor texts to compare; index the documents again with --with versions"
        )
    entries: list[tuple[TextHashes, Simhashes, ParagraphConcepts | None]] = []
    left_out: dict[DocumentKey, str] = {}
    total = max(1, store.info().document_count)
    load: set[RecordPart] = {"text"} if from_texts else {"sentences"}
    if with_concepts:
        load.add("concepts")
    records = store.scan(load=load, filters=filters)
    if from_texts:
        documents = _records_with_simhashes(store.settings.analysis, records, workers or ParallelMapper())
    else:
        documents = ((record, distinct_in_order(decode_simhashes(record.sentences))) for record in records)
    for number, (record, sentences) in enumerate(documents, 1):
        paragraphs = decode_paragraph_concepts(record.concepts) if with_concepts else None
        if len(sentences) if paragraphs is None else paragraphs.paragraph_count:
            entries.append((TextHashes.from_record(record), sentences, paragraphs))
        else:
            left_out[record.key] = record.fault or ("has no concepts" if with_concepts else "has no sentences")
        if not number % _PROGRESS_STEP:
            check_stopped()
            progress("reading", min(1.0, number / total))
    progress("reading", 1.0)
    entries.sort(key=lambda entry: (entry[0].key.id, entry[0].key.index or "", entry[0].key.routing or ""))
    counts = np.array([len(sentences) for _, sentences, _ in entries], np.int64)
    return ComparableDocuments(
        [hashes.key for hashes, _, _ in entries],
        np.concatenate([np.zeros(0, np.uint64), *(sentences for _, sentences, _ in entries)]),
        np.cumsum(counts) - counts,
        counts,
        [paragraphs for _, _, paragraphs in entries if paragraphs is not None],
        left_out,
        [hashes for hashes, _, _ in entries],
    )


def _records_with_simhashes(
    analysis: Analysis, records: Iterable[Record], workers: ParallelMapper
) -> Iterator[tuple[Record, Simhashes]]:
    """Yield each record, without its text, and the distinct simhashes of the sentences in its text."""
    chunks: deque[list[Record]] = deque()

    def read_chunks() -> Iterator[list[str]]:
        for chunk in split_by_size(records, lambda record: len(record.text or ""), _CHUNK_CHARACTERS):
            chunks.append([replace(record, text=None) for record in chunk])
            yield [record.text or "" for record in chunk]

    for simhashes in workers.map(partial(_simhashes_of_texts, analysis), read_chunks(), _MAX_CHUNKS_WITHOUT_WORKERS):
        yield from zip(chunks.popleft(), simhashes, strict=True)


def _simhashes_of_texts(analysis: Analysis, texts: Sequence[str]) -> list[Simhashes]:
    return [
        distinct_in_order(compute_sentence_simhashes(text, analysis)) if text else np.zeros(0, np.uint64)
        for text in texts
    ]
