"""Lets the engine add fingerprints, by sending documents without a fingerprint through the pipeline.

No text leaves the engine, and all of its nodes share the work. If another writer changes a document meanwhile, this
change is kept, and the document is sent through the pipeline again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from simdoc_search.attach.backfill.checkpoints import WriteRange
from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.queries import (
    Query,
    build_alias_query,
    build_comparable_query,
    build_incomplete_query,
    combine_clauses,
)
from simdoc_search.attach.backfill.report import BackfillReport, RefusedDocument
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.indices import SkippedIndex
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.display import format_count
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.queries import any_clause, exists_clause

_MAX_ROUNDS = 10
"""Maximum number of rounds. A round updates the documents that other writers changed during the previous one."""

_MAX_LISTED_DOCUMENTS = 10_000
"""Maximum number of refused documents in a report."""


class EngineUpdate:
    """Updates one index through the pipeline."""

    def __init__(self, engine: Engine, target: Target, options: BackfillOptions, pipeline: str) -> None:
        self.written_count: int = 0
        self._engine = engine
        self._target = target
        self._options = options
        self._name = target.index.name
        self._pipeline = pipeline
        self._failed_query: Query = exists_clause(f"{options.field}.error")
        self._refusal_reasons: dict[str, str] = {}  # maps document ids to reasons

    def run(self, unread: WriteRange, progress: Callable[[int], None]) -> BackfillReport:
        """Update the documents in rounds until no other writer interferes, and report the documents that failed.

        With `stale`, all documents in the range of writes are updated. `progress` is called with the number of
        documents written so far.
        """
        report = BackfillReport()
        incomplete_reason = self._run_rounds(unread, report, progress)
        failed = self._engine.count(self._name, build_alias_query(self._target, self._failed_query))
        reasons = self._refusal_reasons | {hit["_id"]: self._read_error(hit) for hit in self._find_failed_documents()}
        report.refused = [RefusedDocument(id, self._name, reason) for id, reason in reasons.items()]
        if incomplete_reason:
            report.skipped_indices.append(SkippedIndex(self._name, incomplete_reason))
        if self._target.text_query is None:  # no query can tell which documents have a text
            incomplete = combine_clauses(
                build_incomplete_query(self._target, self._options),
                WriteRange(unread.up_to_seq_nos).build_any_shard_query(),
            )
            report.textless_count = self._engine.count(
                self._name, {"bool": {"filter": [incomplete], "must_not": [self._failed_query]}}
            )
        report.updated_count = max(0, self.written_count - failed - report.textless_count)
        return report

    def _run_rounds(self, unread: WriteRange, report: BackfillReport, progress: Callable[[int], None]) -> str:
        """Update documents in rounds. Return why some were not processed; empty if all were processed."""
        is_final_pipeline = self._target.index.final_pipeline == self._pipeline
        query = self._build_query(unread)
        for _ in range(_MAX_ROUNDS):
            self._engine.refresh(self._name, allowed_statuses=(403,))
            before = self.written_count
            updated = update_by_query(
                self._engine,
                self._name,
                query,
                pipeline=None if is_final_pipeline else self._pipeline,
                throttle=self._options.throttle,
                progress=lambda documents, before=before: progress(before + documents),  # type: ignore[misc]
            )
            self.written_count += updated.updated_count
            report.conflict_count += updated.conflict_count
            self._refusal_reasons |= updated.failures
            # An update by query ends at a document that cannot be written, so the next one excludes such documents.
            not_failed = {"bool": {"must_not": [{"ids": {"values": [*self._refusal_reasons]}}, self._failed_query]}}
            query = combine_clauses(self._build_query(unread), not_failed)
            if not (updated.conflict_count or updated.failures) or len(self._refusal_reasons) > _MAX_LISTED_DOCUMENTS:
                break
        self._engine.refresh(self._name, allowed_statuses=(403,))
        if not (updated.failures or updated.conflict_count):
            return ""
        problem, advice = "other programs changed documents during the update", ""
        if updated.failures:
            problem, advice = "the update stopped at a document that the engine could not write", " without --in-engine"
        documents_were = format_count(self._engine.count(self._name, query), "document was", "documents were")
        return f"{documents_were} not processed, because {problem}; run the command again{advice}"

    def _build_query(self, unread: WriteRange) -> Query:
        """Return the query for documents without a complete fingerprint.

        With `stale`, it also matches documents that were written in the range.
        """
        incomplete, in_range = build_incomplete_query(self._target, self._options), unread.build_any_shard_query()
        alternatives = [incomplete if self._target.text_query else combine_clauses(incomplete, in_range)]
        alternatives += (
            [combine_clauses(build_comparable_query(self._target, self._options), in_range)]
            if self._options.stale
            else []
        )
        return any_clause(alternatives)

    def _find_failed_documents(self) -> Iterator[RawHit]:
        """Return the documents that the pipeline could not fingerprint."""
        query = build_alias_query(self._target, self._failed_query)
        body = {"query": query, "sort": ["_doc"], "_source": [f"{self._options.field}.error"]}
        return islice(all_hits(self._engine, self._name, body), _MAX_LISTED_DOCUMENTS)

    def _read_error(self, hit: RawHit) -> str:
        return str((hit.get("_source", {}).get(self._options.field) or {}).get("error", "the pipeline gave no reason"))
