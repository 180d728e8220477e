"""Fingerprints documents that are not in a store, in this process or in worker processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

from simdoc_search.analysis.hashes import text_hash
from simdoc_search.batches import split_by_size
from simdoc_search.documents import Document
from simdoc_search.sketch.packed import packed_fingerprints
from simdoc_search.sketch.settings import Settings
from simdoc_search.sketch.tokens import TokenIds
from simdoc_search.stores.record import Record
from simdoc_search.workers import ParallelMapper

_MAX_CHUNK_DOCUMENTS, _MAX_CHUNK_CHARACTERS = 1 << 10, 1 << 20


class _ChunkSketches(NamedTuple):
    """The fingerprints and hashes of the texts of a chunk; see `PackedFingerprints`."""

    token_ids: TokenIds
    token_counts: list[int]
    shingle_counts: list[int]
    words_hashes: list[str]
    text_hashes: list[str]


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

    for sketches in workers.map(partial(_sketch_texts, settings), read_chunks()):
        chunk = chunks.pop(0)
        if texts is not None:
            texts.extend(document.text for document in chunk)
        ends = np.cumsum(sketches.token_counts).tolist()
        for document, count, end, shingle_count, words_hash, hash_of_text in zip(
            chunk, sketches.token_counts, ends, *sketches[2:], strict=True
        ):
            yield Record(
                document.id,
                sketches.token_ids[end - count : end],
                shingle_count,
                f"{hash_of_text} {sorted(document.metadata.items())}",
                document.metadata,
                text_hash=hash_of_text,
                words_hash=words_hash,
            )


def _sketch_texts(settings: Settings, texts: Sequence[str]) -> _ChunkSketches:
    packed = list(packed_fingerprints(texts, settings.analysis, settings.sketch))
    return _ChunkSketches(
        np.concatenate([batch.token_ids for batch in packed]),
        [count for batch in packed for count in batch.token_counts],
        [count for batch in packed for count in batch.shingle_counts],
        [words_hash for batch in packed for words_hash in batch.words_hashes],
        list(map(text_hash, texts)),
    )
