"""A backfill in the engine: documents that lack a fingerprint are sent through the pipeline.

No text leaves the engine, and all of its nodes work. Writes by others meanwhile are kept, and their documents are read
again. If a run is interrupted, the next one continues.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import islice

from simdoc_search.attach.backfill.checkpoints import (
    WriteRange,
    read_shards,
    record_checkpoints,
    unread_queries,
    unread_writes,
)
from simdoc_search.attach.backfill.queries import Query, both, comparable, incomplete, selected
from simdoc_search.attach.backfill.run import Progress
from simdoc_search.attach.backfill.targets import Target, add_mapping, find_targets
from simdoc_search.attach.backfill.task import BackfillReport, Refused, Task, UnfitIndexError
from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.attach.pipeline import NO_SCRIPTS, PIPELINE, install_pipeline
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.display import counted
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits

_ROUNDS = 10
"""How often to update what is left, as others write meanwhile."""

_MAX_LISTED = 10_000
"""Maximum of refused documents in a report."""


def backfill_in_engine(
    engine: Engine, index: str, task: Task, progress: Progress | None = None, *, pipeline: str = PIPELINE
) -> BackfillReport:
    """Run a backfill in the engine. With `stale`, all documents written since the last such run get new fingerprints.

    Args:
        engine: the engine.
        index: the name of an index, an alias or a data stream.
        task: what to do.
        progress: called while documents are written.
        pipeline: the id of the pipeline. It is installed if it is missing.

    Raises:
        StoreNotFoundError: no index has this name.
        StoreError: another pipeline has this id, the engine cannot make such fingerprints, or it refuses.
        StoreUnavailableError: the engine does not answer. It completes what it has begun.
    """
    started, engine = time.monotonic(), engine.in_background()
    engine.require_scripts("ingest", NO_SCRIPTS)
    targets, skipped = find_targets(engine, index, task)
    report = BackfillReport(skipped_indices=skipped, notes=[target.note for target in targets if target.note])
    total = sum(
        engine.count(target.index.name, query) for target in targets for query in unread_queries(engine, target, task)
    )

    def on_written(documents: int) -> None:
        if progress:
            progress(report.updated + documents, total)

    for target in targets:
        try:
            add_mapping(engine, target, task.field)
            install_pipeline(engine, task.text_fields, task.field, settings=target.settings, name=pipeline)
            report.add(_IndexUpdate(engine, target, task, pipeline).run(on_written))
        except (UnfitIndexError, StoreNotFoundError) as error:
            report.skipped_indices.append(SkippedIndex(target.index.name, str(error)))
    report.seconds = time.monotonic() - started
    return report


class _IndexUpdate:
    """The update of one index."""

    def __init__(self, engine: Engine, target: Target, task: Task, pipeline: str) -> None:
        self._engine = engine
        self._target = target
        self._task = task
        self._name = target.index.name
        self._pipeline = pipeline
        self._failed: Query = {"exists": {"field": f"{task.field}.error"}}
        self._written = 0
        self._refused: dict[str, str] = {}  # reasons by id
        self._report = BackfillReport()

    def run(self, progress: Callable[[int], None]) -> BackfillReport:
        """Update round after round until nobody else was faster, and report the documents that failed."""
        shards = read_shards(self._engine, self._name, self._target.index.shards)
        is_visible = self._engine.refresh(self._name, allow=(403,))
        unread = unread_writes(self._engine, self._target, self._task, shards)
        incomplete_reason = self._update(unread, progress)
        report = self._report
        failed = self._count(selected(self._target, self._failed))
        reasons = self._refused | {hit["_id"]: self._error(hit) for hit in self._failed_hits()}
        report.refused = [Refused(id, self._name, reason) for id, reason in reasons.items()]
        if incomplete_reason:
            report.skipped_indices.append(SkippedIndex(self._name, incomplete_reason))
        elif self._task.stale and shards and is_visible and not report.refused:
            record_checkpoints(self._engine, self._target, self._task, shards, self._written)
        if self._target.text_query is None:  # documents without a text went through the pipeline too
            without = both(incomplete(self._target, self._task), WriteRange(unread.upto).in_any_shard())
            report.without_text = self._count({"bool": {"filter": [without], "must_not": [self._failed]}})
        report.updated = max(0, self._written - failed - report.without_text)
        return report

    def _update(self, unread: WriteRange, progress: Callable[[int], None]) -> str:
        """Update until nothing is left. Return why something is left, or an empty text."""
        runs_anyway = self._target.index.final_pipeline == self._pipeline
        query = self._unread(unread)
        for _ in range(_ROUNDS):
            self._engine.refresh(self._name, allow=(403,))
            before = self._written
            updated = update_by_query(
                self._engine,
                self._name,
                query,
                pipeline=None if runs_anyway else self._pipeline,
                throttle=self._task.throttle,
                progress=lambda documents, before=before: progress(before + documents),  # type: ignore[misc]
            )
            self._written += updated.updated
            self._report.conflicts += updated.conflicts
            self._refused |= updated.failures
            # The engine stops at a document that it cannot write, so the next round leaves these out.
            without = {"bool": {"must_not": [{"ids": {"values": [*self._refused]}}, self._failed]}}
            query = both(self._unread(unread), without)
            if not (updated.conflicts or updated.failures) or len(self._refused) > _MAX_LISTED:
                break
        self._engine.refresh(self._name, allow=(403,))
        left = counted(self._count(query), "document")
        if updated.failures:
            how = "leave out --in-engine to fill those that can be filled"
            return f"{left} left, as the engine stops at a document that it cannot write; {how}"
        return f"{left} left, as others changed them each time; run it again" if updated.conflicts else ""

    def _unread(self, unread: WriteRange) -> Query:
        """The documents that need something, and with `stale` those that were last written in a range."""
        needed, in_range = incomplete(self._target, self._task), unread.in_any_shard()
        either = [needed if self._target.text_query else both(needed, in_range)]
        either += [both(comparable(self._target, self._task), in_range)] if self._task.stale else []
        return {"bool": {"should": either, "minimum_should_match": 1}}

    def _failed_hits(self) -> Iterator[RawHit]:
        """The documents for which the pipeline could not make a fingerprint."""
        query = selected(self._target, self._failed)
        body = {"query": query, "sort": ["_doc"], "_source": [f"{self._task.field}.error"]}
        return islice(all_hits(self._engine, self._name, body), _MAX_LISTED)

    def _error(self, hit: RawHit) -> str:
        return str((hit.get("_source", {}).get(self._task.field) or {}).get("error", "no reason given"))

    def _count(self, query: Query) -> int:
        return self._engine.count(self._name, query)
