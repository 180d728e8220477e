"""The texts of many sources, in their order, in which a bad one costs only itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from simdoc_search.corpus.folder import readable_path
from simdoc_search.corpus.load import load, load_here, time_share
from simdoc_search.documents import Document, FileSource, Skipped
from simdoc_search.errors import DocumentError
from simdoc_search.workers import BeginItem, ItemLimits, WorkerPool

Source = FileSource | Document | Skipped


def read_sources(
    sources: Iterable[Source], *, limits: ItemLimits | None = None
) -> Iterator[tuple[Source, Document | Skipped]]:
    """Each source with its text, read when it is its turn.

    What other people's code reads, PDF and office formats, is read by one other process, which starts when the first
    such file comes.

    Args:
        sources: what `read_corpus` gives.
        limits: the time and memory that one file may take there.
    """
    pool: WorkerPool[FileSource, Document | Skipped] | None = None
    try:
        for source in sources:
            if not isinstance(source, FileSource):
                yield source, source
                continue
            found = _read_here(source)
            if found is None:
                pool = pool or WorkerPool(1, _read_all, _lost, limits or ItemLimits())
                (found,) = pool.submit([source]).result()
            yield source, found
    finally:
        if pool:
            pool.close()


def _read_here(source: FileSource) -> Document | Skipped | None:
    try:
        return load_here(source)
    except DocumentError as error:
        return Skipped(readable_path(source.path), str(error))


def _read_all(sources: Sequence[FileSource], begin_item: BeginItem) -> list[Document | Skipped]:
    found = []
    for number, source in enumerate(sources):
        begin_item(number, time_share(source))
        found.append(load(source))
    return found


def _lost(source: FileSource, reason: str) -> Document | Skipped:
    return Skipped(readable_path(source.path), reason)
