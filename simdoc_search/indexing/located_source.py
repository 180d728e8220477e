"""Sources with their ids in the store. They are looked up in the store in batches."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from simdoc_search.corpus.file_source import Source
from simdoc_search.documents import Document
from simdoc_search.indexing.input_paths import InputPath

_FILES_PER_LOOKUP, _DOCUMENTS_PER_LOOKUP = 1024, 64
"""Maximum number of files, and of documents, that are looked up together. It is smaller for documents, because their
texts are in memory."""


class LocatedSource(NamedTuple):
    """A source with its id and indexed folder in the store."""

    source: Source
    input_path: InputPath | None  # None for a document that is not a file
    id: str | None  # the id to look up in the store; None if there is none


def take_batch(located_sources: Iterator[LocatedSource]) -> list[LocatedSource]:
    """Return the next sources to look up together."""
    batch: list[LocatedSource] = []
    share = 0.0
    while share < 1 and (next_source := next(located_sources, None)):
        batch.append(next_source)
        is_in_memory = isinstance(next_source.source, Document) or getattr(next_source.source, "data", None) is not None
        share += 1 / (_DOCUMENTS_PER_LOOKUP if is_in_memory else _FILES_PER_LOOKUP)
    return batch
