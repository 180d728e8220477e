"""Adds fingerprints to the documents of an application, one index after another."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial

from simdoc_search.attach.backfill.checkpoints import (
    WriteRange,
    find_unread_writes,
    plan_backfill_searches,
    read_shard_states,
    record_checkpoints,
)
from simdoc_search.attach.backfill.engine_update import EngineUpdate
from simdoc_search.attach.backfill.fingerprint_writer import FingerprintWriter, list_source_fields
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.pages import DocumentKeys, PageProcessor
from simdoc_search.attach.backfill.queries import (
    Query,
    build_alias_query,
    build_comparable_query,
    build_incomplete_query,
    combine_clauses,
)
from simdoc_search.attach.backfill.report import BackfillReport, UnsupportedIndexError
from simdoc_search.attach.backfill.targets import Target, add_mapping, find_targets
from simdoc_search.attach.index_pipeline import PipelineReader
from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.attach.pipeline import SCRIPT_ALTERNATIVE, UNSUPPORTED_KINDS, plan_pipeline_steps
from simdoc_search.attach.steps import run_steps
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.errors import RequestError
from simdoc_search.stores.remote.point_in_time import open_paged_hits
from simdoc_search.stores.remote.schema import without_kinds

POINT_IN_TIME_DOCUMENTS = 50_000
"""Number of documents per point in time. The engine keeps old segments on disk until a point in time is closed."""

MAX_CATCH_UP_ROUNDS = 3
"""Maximum number of rounds after the first one. Each reads the documents that other writers changed meanwhile."""

MAX_ATTEMPTS_WITHOUT_PROGRESS = 3
"""Maximum number of consecutive points in time that are lost before a further document was written."""

ProgressCallback = Callable[[int, int], None]
"""Called with the number of documents processed so far, and the total counted at the start."""

_LOST_POINT_IN_TIME_ERROR = "search_context_missing_exception"
_UNUSABLE_INDEX_ERRORS = frozenset({"index_closed_exception", "cluster_block_exception"})


class Backfill:
    """Adds fingerprints to the documents of the indices behind a name.

    Args:
        engine: the engine.
        index: the name of an index, an alias or a data stream.
        options: the options.
        progress: called while documents are written.
        pipeline: the name of the pipeline with which the engine computes the fingerprints. It is installed if it is
            missing. If the final pipeline of an index computes these fingerprints, that pipeline is used. If empty,
            this process computes the fingerprints.

    Attributes:
        report: the results so far.
    """

    def __init__(
        self,
        engine: Engine,
        index: str,
        options: BackfillOptions,
        progress: ProgressCallback | None = None,
        *,
        pipeline: str = "",
    ) -> None:
        self.report: BackfillReport = BackfillReport()
        self._engine = engine.in_background()
        self._index = index
        self._options = options
        self._progress = progress
        self._pipeline = pipeline
        self._total = 0

    def run(self) -> BackfillReport:
        """Add or replace fingerprints until all documents are up to date. To resume an interrupted run, call it again.

        Raises:
            StoreNotFoundError: no index has this name.
            StoreError: a different pipeline has this name, or the engine cannot compute the fingerprints.
        """
        started = time.monotonic()
        if self._pipeline:
            for context in ("ingest", "update"):
                self._engine.require_scripts(context, SCRIPT_ALTERNATIVE)
        try:
            with closing(PageProcessor(self._engine, self._options.throttle, self._add_report)) as pages:
                targets, skipped = find_targets(self._engine, self._index, self._options)
                self.report.skipped_indices += skipped
                self.report.notes += [note for target in targets for note in target.notes]
                self.report.unread_count = 0
                for target in targets:
                    with self._skip_if_unsupported(target):
                        searches = plan_backfill_searches(self._engine, target, self._options)
                        name, read_count = target.index.name, 0
                        for query, params in searches:
                            read_count += self._engine.count(name, query, **params)
                        document_count = self._engine.count(name, build_alias_query(target))
                        self.report.unread_count += max(0, document_count - read_count)
                        self._total += read_count
                for target in targets:
                    with self._skip_if_unsupported(target):
                        self._update_index(pages, target)
        finally:
            self.report.seconds = time.monotonic() - started
        return self.report

    def _update_index(self, pages: PageProcessor, target: Target) -> None:
        options, before, refused_before = self._options, self.report.write_count, len(self.report.refused)
        add_mapping(self._engine, target, options.field)
        pipeline = self._prepare_pipeline(target) if self._pipeline else ""
        shards = read_shard_states(self._engine, target.index.name, target.index.shard_count)
        is_complete = self._refresh(target)
        unread = find_unread_writes(self._engine, target, options, shards)
        if pipeline:
            update = EngineUpdate(self._engine, target, options, pipeline)
            report = update.run(unread, self._show_progress)
            self.report.add(report)
            write_count, is_complete = update.written_count, is_complete and not report.skipped_indices
        else:
            self._fill_incomplete(pages, target, unread)
            if options.stale:
                self._read_and_write(pages, target, build_comparable_query(target, options), unread)
                self._refresh(target)
            write_count = self.report.write_count - before
        if options.stale and shards and is_complete and refused_before == len(self.report.refused):
            record_checkpoints(self._engine, target, options, shards, write_count)

    def _prepare_pipeline(self, target: Target) -> str:
        """Return the name of the pipeline for an index. Install it, unless it is the final pipeline of the index."""
        index, text_fields = target.index, self._options.text_fields
        own = PipelineReader(self._engine).find_pipeline(index)
        supported = without_kinds(target.settings, UNSUPPORTED_KINDS)
        is_unchanged = (index.settings, index.text_fields) == (supported, text_fields)
        if own.state == "fits" and own.setting == "final_pipeline" and is_unchanged:
            return own.name
        steps = plan_pipeline_steps(
            self._engine, text_fields, self._options.field, settings=target.settings, name=self._pipeline
        )
        run_steps(self._engine, steps)
        return self._pipeline

    def _fill_incomplete(self, pages: PageProcessor, target: Target, unread: WriteRange) -> None:
        """Update the documents without a complete fingerprint, then the documents that other writers changed meanwhile.

        If the target has no `text_query`, the query finds documents without a text in every round. Later rounds
        therefore read only documents that were written after the first round began.
        """
        query, start = build_incomplete_query(target, self._options), (-1,) * target.index.shard_count
        read_count = self._read_and_write(
            pages, target, query, WriteRange(start, unread.up_to_seq_nos), write_unchanged=True
        )
        for _ in range(MAX_CATCH_UP_ROUNDS):
            if not self._refresh(target):
                return  # without a refresh, the query would find the documents that this run has just written
            previous_count = read_count
            read_count = self._read_and_write(
                pages,
                target,
                query,
                WriteRange(start if target.text_query else unread.up_to_seq_nos),
                write_unchanged=True,
            )
            if (
                not read_count or 0 < previous_count <= read_count
            ):  # there is no progress; the engine may accept fingerprints without indexing them
                return

    def _read_and_write(
        self, pages: PageProcessor, target: Target, query: Query, writes: WriteRange, *, write_unchanged: bool = False
    ) -> int:
        """Read each document in a range of writes once, and update it if necessary.

        Returns:
            The number of documents that were read.
        """
        write = partial(FingerprintWriter(self._engine, target, self._options).write, write_unchanged=write_unchanged)
        count = self._engine.count(target.index.name, combine_clauses(query, writes.build_any_shard_query()))
        parts = writes.split(math.ceil(count / POINT_IN_TIME_DOCUMENTS))
        return sum(self._read_and_write_part(pages, target, query, part, write) for part in parts)

    def _read_and_write_part(
        self, pages: PageProcessor, target: Target, query: Query, part: WriteRange, write: Callable[..., None]
    ) -> int:
        body = {
            "query": combine_clauses(query, part.build_any_shard_query()),
            "sort": ["_doc"],
            "_source": list_source_fields(self._options),
            "seq_no_primary_term": True,
        }
        index, read_count, attempts_left = target.index, 0, MAX_ATTEMPTS_WITHOUT_PROGRESS
        written_keys: DocumentKeys = set()
        while True:
            before = self.report.document_count
            opened = open_paged_hits(
                self._engine, index.name, body, {index.name: index.shard_count}, part.build_shard_query
            )
            with closing(opened) as point_in_time:
                try:
                    return read_count + pages.process(point_in_time, write, written_keys)
                except RequestError as error:
                    has_progress = self.report.document_count > before
                    attempts_left = MAX_ATTEMPTS_WITHOUT_PROGRESS if has_progress else attempts_left - 1
                    if error.error_type != _LOST_POINT_IN_TIME_ERROR or not attempts_left:
                        raise
                    # The point in time is lost. Read the remaining documents in a new one.
                    read_count += self.report.document_count - before

    def _add_report(self, page: BackfillReport) -> None:
        self.report.add(page)
        self._show_progress()

    def _show_progress(self, unreported_count: int = 0) -> None:
        if self._progress:
            self._progress(self.report.document_count + unreported_count, self._total)

    @contextmanager
    def _skip_if_unsupported(self, target: Target) -> Iterator[None]:
        """Skip an index that was closed, blocked or removed during the run."""
        try:
            yield
        except (UnsupportedIndexError, StoreNotFoundError, RequestError) as error:
            if isinstance(error, RequestError) and error.error_type not in _UNUSABLE_INDEX_ERRORS:
                raise
            skipped = SkippedIndex(target.index.name, str(error))
            if skipped not in self.report.skipped_indices:
                self.report.skipped_indices.append(skipped)

    def _refresh(self, target: Target) -> bool:
        """Make writes visible to searches. Return False if this user may not refresh the index."""
        return self._engine.refresh(target.index.name, allowed_statuses=(403,))
