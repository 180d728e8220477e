"""Indexes documents: worker processes read the changed documents, and this process writes them in order.

A file is not read if its size and modification time did not change. A document is not written if its digest did not
change. The results do not depend on the number of workers.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from itertools import chain, islice

from simdoc_search.corpus.file_source import Source
from simdoc_search.errors import (
    CorpusError,
    DocumentError,
    MissingExtraError,
    UnknownDocumentError,
    WriteRefusedError,
)
from simdoc_search.indexing.archives import Archives
from simdoc_search.indexing.decisions import IndexingRun
from simdoc_search.indexing.document_filter import DocumentFilter
from simdoc_search.indexing.input_paths import InputPaths
from simdoc_search.indexing.options import IndexOptions
from simdoc_search.indexing.preparation import PreparationSettings, prepare_jobs
from simdoc_search.indexing.report import IndexReport
from simdoc_search.stores.base import Store
from simdoc_search.stores.sentences_and_concepts import check_can_index, choose_extractor
from simdoc_search.workers import DEFAULT_ITEM_SECONDS, ItemLimits, memory_per_worker

FILE_TIMEOUT = DEFAULT_ITEM_SECONDS

_COMMIT_INTERVAL_SECONDS = 20.0
_MAX_FINAL_COMMIT_SECONDS = 1.0  # maximum duration of the commit after Ctrl-C

_log = logging.getLogger(__name__)


def index_documents(
    store: Store, sources: Iterable[Source], options: IndexOptions, document_filter: DocumentFilter | None = None
) -> IndexReport:
    """Bring a store up to date with documents; see `SimilaritySearch.index`."""
    start = time.monotonic()
    errors: list[Exception] = []
    timeout = FILE_TIMEOUT if options.file_timeout is None else options.file_timeout
    limits = ItemLimits(timeout, options.worker_memory or memory_per_worker(options.workers))
    encode = None if document_filter else store.encoder  # a document filter takes records, so do not encode them
    preparation = PreparationSettings(store.settings, choose_extractor(store.settings, options.extractor), encode)
    check_can_index(store.settings, preparation.extractor, "the index")
    with store.writer() as writer:
        opened_archives = Archives(store, look_inside=options.archives, reread=options.checksum, limits=limits)
        # InputPaths reads the store, so it is created while the store is locked.
        paths = InputPaths(store, options.prefix, add_folder_prefix=options.add_folder_prefix)
        run = IndexingRun(store, writer, paths, opened_archives, document_filter, options.checksum, options.on_written)
        last_commit = start
        try:
            jobs = run.choose_jobs(
                _yield_until_error(skip_unreadable_sources(sources, run.report.problems), errors), options.progress
            )
            with closing(prepare_jobs(jobs, preparation, options.workers, limits)) as chunks:
                for outcomes in chunks:
                    run.write(outcomes)
                    options.progress(len(outcomes))
                    if time.monotonic() - last_commit > _COMMIT_INTERVAL_SECONDS or (
                        document_filter and document_filter.needs_commit
                    ):
                        run.commit()
                        last_commit = time.monotonic()
            if not errors:
                prune = options.prune_all or options.prune
                run.remove_old_documents(prune=prune, prune_all=options.prune_all)
                run.remember_skipped_files(read_all=prune is not None)
        except KeyboardInterrupt:
            writer.commit(timeout=_MAX_FINAL_COMMIT_SECONDS)
            raise
    if errors:
        raise errors[0]
    report = run.finish_report(writer.refused)
    report.seconds = time.monotonic() - start
    _log.info(
        "%d indexed, %d unchanged, %d replaced, %d deleted, %d skipped, %d refused in %.1f s",
        *(report.added_count, report.unchanged_count, report.replaced_count, report.deleted_count),
        *(len(report.skipped), len(report.refused), report.seconds),
    )
    return report


def delete_documents(store: Store, ids: Iterable[str]) -> int:
    """Delete documents; see `SimilaritySearch.delete`."""
    distinct_ids = list(dict.fromkeys(ids))
    known = {digest.id for digest in store.digests(distinct_ids)}
    for id in distinct_ids:
        if id not in known:
            raise UnknownDocumentError(id, store.suggest_ids(id))
    with store.writer() as writer:
        writer.delete(distinct_ids)
    refused = dict(writer.refused)
    if refused:
        id, reason = next(iter(refused.items()))
        raise WriteRefusedError(
            f"{len(refused):,} of {len(distinct_ids):,} documents could not be deleted (for example {id!r}: {reason}); "
            "fix the cause and run the command again",
            refused,
            accepted_count=len(distinct_ids) - len(refused),
        )
    return len(distinct_ids)


def skip_unreadable_sources(sources: Iterable[Source], problems: list[str]) -> Iterator[Source]:
    """Yield the sources. If a path cannot be read, add the error to `problems` and continue with the next path."""
    remaining = iter(sources)
    last_problem = ""
    while True:
        try:
            source = next(remaining)
        except StopIteration:
            return
        except (CorpusError, DocumentError, MissingExtraError) as error:
            if str(error) == last_problem:  # the iterator raises the same error again, so it cannot continue
                return
            last_problem = str(error)
            problems.append(last_problem)
        else:
            last_problem = ""
            yield source


def require_readable_sources(sources: Iterable[Source], problems: list[str]) -> Iterator[Source]:
    """Return the sources of `skip_unreadable_sources`, after checking that at least one source can be read.

    Raises:
        CorpusError: no path can be read.
    """
    readable = skip_unreadable_sources(sources, problems)
    first = list(islice(readable, 1))
    if problems and not first:
        raise CorpusError("; ".join(problems))
    return chain(first, readable)


def _yield_until_error(sources: Iterable[Source], errors: list[Exception]) -> Iterator[Source]:
    """Yield the sources until an error occurs, and add it to `errors`, so that the sources before it are stored."""
    try:
        yield from sources
    except Exception as error:
        errors.append(error)
