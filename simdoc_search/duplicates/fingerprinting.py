"""Fingerprints documents that are not in a store, in this process or in worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

import numpy as np

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.batches import split_by_size
from simdoc_search.documents import Document
from simdoc_search.sketch.packed import PackedFingerprints, packed_fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.stores.record import Record
from simdoc_search.workers import ParallelMapper

_MAX_CHUNK_DOCUMENTS, _MAX_CHUNK_CHARACTERS = 1 << 10, 1 << 20


def fingerprint_documents(
    documents: Iterable[Document], settings: Settings, workers: ParallelMapper, texts: list[str] | None
) -> Iterator[Record]:
    """Yield a record for each document, and append its text to `texts` if this is a list."""
    chunks: list[list[Document]] = []

    def read_chunks() -> Iterator[list[str]]:
        for chunk in split_by_size(
            documents, lambda document: len(document.text), _MAX_CHUNK_CHARACTERS, _MAX_CHUNK_DOCUMENTS
        ):
            chunks.append(chunk)
            yield [document.text for document in chunk]

    for packed, text_hashes in workers.map(partial(_sketch_texts, settings), read_chunks()):
        chunk = chunks.pop(0)
        if texts is not None:
            texts.extend(document.text for document in chunk)
        token_ids_of_texts = np.split(packed.token_ids, np.cumsum(packed.token_counts)[:-1])
        for document, token_ids, shingle_count, words_hash, hash_of_text in zip(
            chunk, token_ids_of_texts, packed.shingle_counts.tolist(), packed.words_hashes, text_hashes, strict=True
        ):
            yield Record(
                document.id,
                token_ids,
                shingle_count,
                f"{hash_of_text} {sorted(document.metadata.items())}",
                document.metadata,
                text_hash=hash_of_text,
                words_hash=words_hash,
            )


def _sketch_texts(settings: Settings, texts: Sequence[str]) -> tuple[PackedFingerprints, list[str]]:
    """Return the fingerprints of texts, without `low_hash_bits`, and the `text_hash` of each text."""
    packed = packed_fingerprints(texts, settings.analysis, settings.sketch)
    return packed._replace(low_hash_bits=packed.low_hash_bits[:0]), list(map(text_hash, texts))
