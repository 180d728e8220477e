"""Lets the engine add fingerprints, by sending documents without a fingerprint through the pipeline.

No text leaves the engine, and all of its nodes share the work. If another writer changes a document meanwhile, this
change is kept, and the document is sent through the pipeline again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.queries import Query, alias_query, all_of, comparable_query, incomplete_query
from simdoc_search.attach.backfill.report import BackfillReport, RefusedDocument
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.display import format_count
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits

_MAX_ROUNDS = 10
"""Maximum number of rounds. A round updates the documents that other writers changed during the previous one."""

_MAX_LISTED = 10_000
"""Maximum number of refused documents in a report."""


class EngineUpdate:
    """Updates one index through the pipeline.

    Args:
        engine: the engine.
        target: the index.
        options: the options of the backfill.
        pipeline: the name of the installed pipeline.

    Attributes:
        written: number of documents that the engine wrote.
    """

    def __init__(self, engine: Engine, target: Target, options: BackfillOptions, pipeline: str) -> None:
        self.written: int = 0
        self._engine = engine
        self._target = target
        self._options = options
        self._name = target.index.name
        self._pipeline = pipeline
        self._failed: Query = {"exists": {"field": f"{options.field}.error"}}
        self._refused: dict[str, str] = {}  # reasons by id

    def run(self, unread: WriteRange, progress: Callable[[int], None]) -> BackfillReport:
        """Update the documents in rounds until no other writer interferes, and report those that failed.

        With `stale`, all documents in the range of writes are updated. `progress` is called with the number of
        documents written so far.
        """
        report = BackfillReport()
        incomplete_reason = self._update(unread, report, progress)
        failed = self._count(alias_query(self._target, self._failed))
        reasons = self._refused | {hit["_id"]: self._read_error(hit) for hit in self._failed_hits()}
        report.refused = [RefusedDocument(id, self._name, reason) for id, reason in reasons.items()]
        if incomplete_reason:
            report.skipped_indices.append(SkippedIndex(self._name, incomplete_reason))
        if self._target.text_query is None:  # documents without a text went through the pipeline too
            unfilled = all_of(incomplete_query(self._target, self._options), WriteRange(unread.up_to).any_shard_query())
            report.without_text = self._count({"bool": {"filter": [unfilled], "must_not": [self._failed]}})
        report.updated = max(0, self.written - failed - report.without_text)
        return report

    def _update(self, unread: WriteRange, report: BackfillReport, progress: Callable[[int], None]) -> str:
        """Update until no unprocessed documents remain. Return why some remain; empty if none do."""
        is_final_pipeline = self._target.index.final_pipeline == self._pipeline
        query = self._build_query(unread)
        for _ in range(_MAX_ROUNDS):
            self._engine.refresh(self._name, allow=(403,))
            before = self.written
            updated = update_by_query(
                self._engine,
                self._name,
                query,
                pipeline=None if is_final_pipeline else self._pipeline,
                throttle=self._options.throttle,
                progress=lambda documents, before=before: progress(before + documents),  # type: ignore[misc]
            )
            self.written += updated.updated
            report.conflicts += updated.conflicts
            self._refused |= updated.failures
            # The engine stops at a document that it cannot write, so the next round excludes these documents.
            not_failed = {"bool": {"must_not": [{"ids": {"values": [*self._refused]}}, self._failed]}}
            query = all_of(self._build_query(unread), not_failed)
            if not (updated.conflicts or updated.failures) or len(self._refused) > _MAX_LISTED:
                break
        self._engine.refresh(self._name, allow=(403,))
        remaining = f"{format_count(self._count(query), 'document')} not processed"
        if updated.failures:
            problem = "the engine stops at a document that it cannot write"
            return f"{remaining}, because {problem}; run the command again without --in-engine"
        problem = "other writers changed them in every round"
        return f"{remaining}, because {problem}; run the command again" if updated.conflicts else ""

    def _build_query(self, unread: WriteRange) -> Query:
        """Return the query for incomplete documents. With `stale`, it also matches documents written in the range."""
        unfilled, in_range = incomplete_query(self._target, self._options), unread.any_shard_query()
        either = [unfilled if self._target.text_query else all_of(unfilled, in_range)]
        either += [all_of(comparable_query(self._target, self._options), in_range)] if self._options.stale else []
        return {"bool": {"should": either, "minimum_should_match": 1}}

    def _failed_hits(self) -> Iterator[RawHit]:
        """Return the documents that the pipeline could not fingerprint."""
        query = alias_query(self._target, self._failed)
        body = {"query": query, "sort": ["_doc"], "_source": [f"{self._options.field}.error"]}
        return islice(all_hits(self._engine, self._name, body), _MAX_LISTED)

    def _read_error(self, hit: RawHit) -> str:
        return str((hit.get("_source", {}).get(self._options.field) or {}).get("error", "no reason given"))

    def _count(self, query: Query) -> int:
        return self._engine.count(self._name, query)
