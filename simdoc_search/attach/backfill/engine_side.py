"""Fills an index in the engine: documents that lack a fingerprint are sent through the pipeline.

No text leaves the engine, and all of its nodes work. Writes by others meanwhile are kept, and their documents are read
again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.backfill.queries import Query, both, comparable, incomplete, selected
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import BackfillReport, Refused, Task
from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.display import counted
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits

_ROUNDS = 10
"""How often to update what is left, as others write meanwhile."""

_MAX_LISTED = 10_000
"""Maximum of refused documents in a report."""


class EngineUpdate:
    """The update of one index.

    Args:
        engine: the engine.
        target: the index.
        task: what to do.
        pipeline: the name of the pipeline, which is installed.

    Attributes:
        written: number of documents that the engine wrote.
    """

    def __init__(self, engine: Engine, target: Target, task: Task, pipeline: str) -> None:
        self.written: int = 0
        self._engine = engine
        self._target = target
        self._task = task
        self._name = target.index.name
        self._pipeline = pipeline
        self._failed: Query = {"exists": {"field": f"{task.field}.error"}}
        self._refused: dict[str, str] = {}  # reasons by id

    def run(self, unread: WriteRange, progress: Callable[[int], None]) -> BackfillReport:
        """Update round after round until nobody else was faster, and report the documents that failed.

        With `stale`, all documents in the range of writes are updated. Progress is the number of written documents.
        """
        report = BackfillReport()
        incomplete_reason = self._update(unread, report, progress)
        failed = self._count(selected(self._target, self._failed))
        reasons = self._refused | {hit["_id"]: self._error(hit) for hit in self._failed_hits()}
        report.refused = [Refused(id, self._name, reason) for id, reason in reasons.items()]
        if incomplete_reason:
            report.skipped_indices.append(SkippedIndex(self._name, incomplete_reason))
        if self._target.text_query is None:  # documents without a text went through the pipeline too
            without = both(incomplete(self._target, self._task), WriteRange(unread.upto).in_any_shard())
            report.without_text = self._count({"bool": {"filter": [without], "must_not": [self._failed]}})
        report.updated = max(0, self.written - failed - report.without_text)
        return report

    def _update(self, unread: WriteRange, report: BackfillReport, progress: Callable[[int], None]) -> str:
        """Update until nothing is left. Return why something is left, or an empty text."""
        runs_anyway = self._target.index.final_pipeline == self._pipeline
        query = self._unread(unread)
        for _ in range(_ROUNDS):
            self._engine.refresh(self._name, allow=(403,))
            before = self.written
            updated = update_by_query(
                self._engine,
                self._name,
                query,
                pipeline=None if runs_anyway else self._pipeline,
                throttle=self._task.throttle,
                progress=lambda documents, before=before: progress(before + documents),  # type: ignore[misc]
            )
            self.written += updated.updated
            report.conflicts += updated.conflicts
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
