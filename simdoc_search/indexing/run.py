"""Documents into a store: read and fingerprinted by worker processes, written by this one.

Indexing again is incremental. A file whose size and time of change are those of the last run is not read; a document
whose digest is the stored one is not written. The results do not depend on the number of workers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from contextlib import closing

from simdoc_search.concepts import Extractor
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.decisions import Run
from simdoc_search.indexing.gate import Gate
from simdoc_search.indexing.preparation import Recipe, prepared
from simdoc_search.indexing.report import IndexReport
from simdoc_search.indexing.roots import Places
from simdoc_search.indexing.stream import Source, Stream
from simdoc_search.stores.base import Store
from simdoc_search.stores.sketching import check_can_sketch, extractor_for
from simdoc_search.workers import ITEM_SECONDS, ItemLimits, fair_memory

FILE_TIMEOUT = ITEM_SECONDS

_COMMIT_SECONDS = 20.0
_INTERRUPTED_SECONDS = 1.0  # for what is ready when Ctrl-C comes

_log = logging.getLogger(__name__)


def index_documents(
    store: Store,
    sources: Iterable[Source],
    *,
    workers: int = 1,
    checksum: bool = False,
    archives: bool = False,
    prune: bool | None = False,
    prune_all: bool = False,
    prefix: str | None = None,
    own_ids: bool = False,
    file_timeout: float = FILE_TIMEOUT,
    worker_memory: int | None = None,
    gate: Gate | None = None,
    extractor: Extractor | None = None,
    progress: Callable[[int], None] = lambda _: None,
    written: Callable[[str], None] = lambda _: None,
) -> IndexReport:
    """Bring a store up to date with documents; see `SimilaritySearch.index`."""
    began = time.monotonic()
    stream = Stream(sources)
    limits = ItemLimits(file_timeout, worker_memory or fair_memory(workers))
    recipe = Recipe(store.settings, extractor_for(store.settings, extractor))
    check_can_sketch(store.settings, recipe.extractor, "the store")
    with store.writer() as writer:
        inside = Archives(store, asked=archives, again=checksum, limits=limits)
        places = Places(store, prefix, own_ids=own_ids)  # now that nobody else writes
        run = Run(store, writer, checksum, places, inside, gate=gate, written=written)
        committed = began
        try:
            jobs = run.jobs(stream, progress)
            with closing(prepared(jobs, recipe, workers, limits)) as chunks:
                for outcomes in chunks:
                    run.write(outcomes)
                    progress(len(outcomes))
                    if time.monotonic() - committed > _COMMIT_SECONDS or (gate and gate.is_full):
                        run.commit()
                        committed = time.monotonic()
            if stream.error is None:
                run.tidy(prune=prune_all or prune, all_may_go=prune_all)
        except KeyboardInterrupt:
            writer.commit(within=_INTERRUPTED_SECONDS)  # what is ready is kept; the next run does the rest
            raise
    if stream.error is not None:
        raise stream.error
    report = run.finish(writer.failed)
    report.problems[:0] = stream.problems
    report.seconds = time.monotonic() - began
    _log.info(
        "%d indexed, %d unchanged, %d replaced, %d deleted, %d skipped, %d refused in %.1f s",
        *(report.indexed, report.unchanged, report.replaced, report.deleted),
        *(len(report.skipped), len(report.refused), report.seconds),
    )
    return report
