"""Lets the engine add fingerprints, by sending documents through the pipeline.

No text leaves the engine, and all of its nodes share the work. A script skips documents that the pipeline would not
change. If another writer changes a document meanwhile, this change is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice

from simdoc_search.attach.backfill.checkpoints import Search, WriteRange
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
from simdoc_search.attach.pipeline import build_skip_script
from simdoc_search.attach.update_by_query import NO_PIPELINE, update_by_query
from simdoc_search.display import format_count
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits
from simdoc_search.stores.remote.queries import exists_clause

_MAX_ROUNDS = 10
"""Maximum number of rounds. A round updates the documents that the previous one could not update."""

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
        """Update the documents without a complete fingerprint, and report the documents that failed.

        With `stale`, also update the documents in the range of writes whose fingerprint does not match their text.
        `progress` is called with the number of documents processed so far.
        """
        target, options, report = self._target, self._options, BackfillReport()
        finds_texts = target.text_query is not None
        script = None if finds_texts else self._build_script(compares=False)
        incomplete = Search(build_incomplete_query(target, options))
        report.conflict_count, report.textless_count = self._run_rounds(
            incomplete, script, report, progress, repeats_conflicts=True
        )
        changed_count = 0  # a write by another program is outside the range
        if options.stale:
            comparable, script = build_comparable_query(target, options), self._build_script(compares=True)
            for query, params in unread.plan_searches():
                search = Search(combine_clauses(comparable, query), params)
                conflict_count, unchanged_count = self._run_rounds(
                    search, script, report, progress, repeats_conflicts=False
                )
                report.unchanged_count += unchanged_count
                changed_count += conflict_count
        if changed_count:
            documents = format_count(changed_count, "document")
            advice = "the next run with --stale compares them"
            report.notes.append(f"{self._name}: other programs changed {documents} during the update; {advice}")
        failed = self._engine.count(self._name, build_alias_query(target, self._failed_query))
        reasons = self._refusal_reasons | {hit["_id"]: self._read_error(hit) for hit in self._find_failed_documents()}
        report.refused = [RefusedDocument(id, self._name, reason) for id, reason in reasons.items()]
        report.updated_count = max(0, self.written_count - failed)
        return report

    def _run_rounds(
        self,
        search: Search,
        script: Query | None,
        report: BackfillReport,
        progress: Callable[[int], None],
        *,
        repeats_conflicts: bool,
    ) -> tuple[int, int]:
        """Update the documents that a search finds, in rounds. If some were not processed, report the reason.

        With `repeats_conflicts`, a round also updates the documents that other writers changed during the previous one.

        Returns:
            The number of writes that conflicted with other writers, and the number of documents that the script
            skipped.
        """
        is_final_pipeline = self._target.index.final_pipeline == self._pipeline
        query, skipped_count, conflict_count = search.query, 0, 0
        for _ in range(_MAX_ROUNDS):
            self._engine.refresh(self._name, allowed_statuses=(403,))
            before = self.written_count + report.document_count
            updated = update_by_query(
                self._engine,
                self._name,
                query,
                pipeline=NO_PIPELINE if is_final_pipeline else self._pipeline,
                script=script,
                throttle=self._options.throttle,
                progress=lambda documents, before=before: progress(before + documents),  # type: ignore[misc]
                **search.params,
            )
            self.written_count += updated.updated_count
            conflict_count += updated.conflict_count
            skipped_count = updated.skipped_count  # later rounds skip the same documents again
            self._refusal_reasons |= updated.failures
            # An update by query ends at a document that cannot be written, so the next one excludes such documents.
            not_failed = {"bool": {"must_not": [{"ids": {"values": [*self._refusal_reasons]}}, self._failed_query]}}
            query = combine_clauses(search.query, not_failed)
            has_conflicts = repeats_conflicts and updated.conflict_count
            if not (has_conflicts or updated.failures) or len(self._refusal_reasons) > _MAX_LISTED_DOCUMENTS:
                break
        self._engine.refresh(self._name, allowed_statuses=(403,))
        if has_conflicts or updated.failures:
            left_count = max(0, self._engine.count(self._name, query, **search.params) - skipped_count)
            problem, advice = "other programs changed documents during the update", ""
            if updated.failures:
                problem = "the update stopped at a document that the engine could not write"
                advice = " without --in-engine"
            documents_were = format_count(left_count, "document was", "documents were")
            reason = f"{documents_were} not processed, because {problem}; run the command again{advice}"
            report.skipped_indices.append(SkippedIndex(self._name, reason))
        return conflict_count, skipped_count

    def _build_script(self, *, compares: bool) -> Query:
        """Return the script that skips documents which the pipeline would not change."""
        options = self._options
        return build_skip_script(self._target.settings, options.text_fields, options.field, compares=compares)

    def _find_failed_documents(self) -> Iterator[RawHit]:
        """Return the documents that the pipeline could not fingerprint."""
        query = build_alias_query(self._target, self._failed_query)
        body = {"query": query, "sort": ["_doc"], "_source": [f"{self._options.field}.error"]}
        return islice(all_hits(self._engine, self._name, body), _MAX_LISTED_DOCUMENTS)

    def _read_error(self, hit: RawHit) -> str:
        return str((hit.get("_source", {}).get(self._options.field) or {}).get("error", "the pipeline gave no reason"))
