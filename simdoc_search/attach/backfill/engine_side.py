"""A backfill that the engine does itself: every document that lacks a fingerprint goes through the pipeline.

No text leaves the engine, and all its nodes work. What others write meanwhile counts, and is looked for again. A run
that was interrupted goes on where it was: a document that is done has a fingerprint, or says why it has none.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any

from simdoc_search.attach.backfill import queries
from simdoc_search.attach.backfill.run import Progress
from simdoc_search.attach.backfill.seq_nos import Span, remember, shards_of, span_of, work_in
from simdoc_search.attach.backfill.targets import Target, add_mapping, find_targets
from simdoc_search.attach.backfill.task import BackfillReport, Refused, SkippedIndex, Task, UnfitIndexError
from simdoc_search.attach.pipeline import PIPELINE, install_pipeline
from simdoc_search.attach.pipeline.default_pipeline import final_pipeline
from simdoc_search.attach.pipeline.install import NO_SCRIPTS
from simdoc_search.attach.update_by_query import update_by_query
from simdoc_search.display import counted
from simdoc_search.errors import StoreNotFoundError
from simdoc_search.stores.remote.engine import Engine
from simdoc_search.stores.remote.point_in_time import RawHit, all_hits

_ROUNDS = 10
"""How often what is left is asked for, as others write meanwhile."""

_LISTED = 10_000
"""Documents that are named with the reason why they have no fingerprint."""


def backfill_in_engine(
    engine: Engine, index: str, task: Task, progress: Progress | None = None, *, pipeline: str = PIPELINE
) -> BackfillReport:
    """Do what is to be done now; with `stale` what was written since the last such run is made anew.

    The engine compares no texts, so it makes the fingerprints of all these documents.

    Args:
        engine: where the indices are.
        index: the name of an index, an alias or a data stream.
        task: what is to be done.
        progress: told what is done.
        pipeline: the id of the pipeline, which is installed if there is none.

    Returns:
        Of the documents those that were written, and those that could not be fingerprinted, with the reason.

    Raises:
        StoreNotFoundError: there is no such index.
        StoreError: another pipeline has this id, the engine cannot make such fingerprints, or refuses.
        StoreUnavailableError: it does not answer; what it has begun it goes on with.
    """
    began, working = time.monotonic(), engine.in_background()
    working.require_scripts("ingest", NO_SCRIPTS)
    targets, skipped = find_targets(working, index, task)
    report = BackfillReport(skipped_indices=skipped, notes=[each.note for each in targets if each.note])
    total = sum(working.count(each.index, query) for each in targets for query in work_in(working, each, task))
    for target in targets:
        try:
            add_mapping(working, target, task.field)
            install_pipeline(working, task.text_fields, task.field, settings=target.settings, name=pipeline)
            report.add(_fill(working, target, task, pipeline, partial(_said, progress, total, report.updated)))
        except (UnfitIndexError, StoreNotFoundError) as error:
            report.skipped_indices.append(SkippedIndex(target.index, str(error)))
    report.seconds = time.monotonic() - began
    return report


def _fill(engine: Engine, target: Target, task: Task, pipeline: str, progress: Callable[[int], None]) -> BackfillReport:
    """Round after round, until no other writer was faster.

    The engine ends with a document that it cannot write; the next round goes on without that.
    """
    way = None if final_pipeline(engine, target.index) == pipeline else pipeline  # which runs by itself
    shards = shards_of(engine, target.index, target.shards)
    is_visible = engine.refresh(target.index, allow=(403,))
    span = span_of(engine, target, task, shards)
    query = _left(target, task, span, [])
    report, written, refused = BackfillReport(), 0, dict[str, str]()
    for _ in range(_ROUNDS):
        engine.refresh(target.index, allow=(403,))
        said = partial(_after, progress, written)
        done = update_by_query(engine, target.index, query, pipeline=way, throttle=task.throttle, progress=said)
        written += done.updated
        report.conflicts += done.conflicts
        refused |= done.failures
        query = _left(target, task, span, [{"ids": {"values": [*refused]}}, _failed(task)])
        if not (done.conflicts or done.failures) or len(refused) > _LISTED:
            break
    engine.refresh(target.index, allow=(403,))
    left = engine.count(target.index, query)
    failed = engine.count(target.index, queries.all_chosen(target, task, [_failed(task)]))
    reasons = refused | {hit["_id"]: _error(hit, task) for hit in _all_failed(engine, target, task)}
    report.refused = [Refused(id, target.index, reason) for id, reason in reasons.items()]
    if done.failures or done.conflicts:
        report.skipped_indices.append(SkippedIndex(target.index, _not_done(left, done.failures)))
    elif shards and is_visible and not report.refused:
        remember(engine, target, task, shards, written)
    if target.has_text is None:  # those without a text went through the pipeline too
        bare = queries.both(queries.to_do(target, task, [_failed(task)]), Span(span.upto).of_any())
        report.without_text = engine.count(target.index, bare)
    report.updated = max(0, written - failed - report.without_text)
    return report


def _left(target: Target, task: Task, span: Span, left_out: list[dict[str, Any]]) -> dict[str, Any]:
    """What is to be done still: what queries find, and what was last written in a span, before this run."""
    to_do, before = queries.to_do(target, task), span.of_any()
    either = [
        queries.both(to_do, before) if target.has_text is None else to_do,
        queries.both(queries.doubtful(target, task), before),
    ]
    chosen = {"bool": {"should": either, "minimum_should_match": 1}}
    return queries.all_chosen(target, task, [chosen], must_not=left_out)


def _not_done(left: int, failures: Mapping[str, str]) -> str:
    """Why some documents are left."""
    if failures:
        how = "leave out --in-engine to do those that can be done"
        return f"{counted(left, 'document')} not done, as the engine ends where it cannot write one; {how}"
    return f"{counted(left, 'document')} not done, as others changed them each time; run it again"


def _all_failed(engine: Engine, target: Target, task: Task) -> Iterator[RawHit]:
    """The documents of which the pipeline says why they have no fingerprint, up to many."""
    query = queries.all_chosen(target, task, [_failed(task)])
    body = {"query": query, "sort": ["_doc"], "_source": [f"{task.field}.error"]}
    return islice(all_hits(engine, target.index, body), _LISTED)


def _failed(task: Task) -> dict[str, Any]:
    return {"exists": {"field": f"{task.field}.error"}}


def _error(hit: RawHit, task: Task) -> str:
    return str((hit.get("_source", {}).get(task.field) or {}).get("error", "no reason given"))


def _after(progress: Callable[[int], None], before: int, written: int) -> None:
    progress(before + written)


def _said(progress: Progress | None, total: int, before: int, written: int) -> None:
    if progress is not None:
        progress(before + written, total)
