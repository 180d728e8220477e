"""Describes how many fingerprints are stale, for `status` and `check`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice

from simdoc_search.attach.inspection.inspection import Inspection
from simdoc_search.display import format_count, format_percent

MAX_LISTED_IDS = 5
"""Maximum number of ids in a line."""


def describe_staleness(inspection: Inspection) -> str:
    """Return the number of stale fingerprints, or an estimate, how it was determined, and some ids."""
    sample = inspection.sample
    if sample.not_compared_reason:
        return f"unknown: {sample.not_compared_reason}"
    if not sample.document_count:
        return "none, because no document has a fingerprint made with the settings in the mapping"
    if not sample.unchecked_count:
        return f"none of {sample.document_count:,}, because no document was written since the last `backfill --stale`"
    examples = list_ids(sample.stale_ids, sample.stale_count)
    of_all = f"{sample.stale_count:,} of {sample.document_count:,}"
    if sample.is_exact and sample.already_compared_count:
        return f"{of_all}, after comparing {_describe_unchecked_documents(inspection)}{examples}"
    if sample.is_exact:
        return f"{of_all}, all compared{examples}"
    low, high = sample.stale_share_interval
    count = f"about {sample.stale_share * sample.document_count:,.0f} of {sample.document_count:,}"
    interval = (
        f"({format_percent(sample.stale_share)}; with 95 % confidence {format_percent(low)} to {format_percent(high)})"
    )
    evidence = f"{sample.stale_count:,} of {sample.sampled_count:,} drawn at random"
    unchecked = _describe_unchecked_documents(inspection)
    return f"{count} {interval}, based on {evidence}{f' from {unchecked}' if unchecked else ''}{examples}"


def _describe_unchecked_documents(inspection: Inspection) -> str:
    """Return the number of documents that may be stale, and what they have in common; empty if these are all documents.

    If other programs write while `backfill --stale` runs, the next run also compares what that run wrote.
    """
    were_compared = {
        bool(inspected.checkpoints) for inspected in inspection.index_inspections if inspected.counts.current_count
    }
    if True not in were_compared:
        return ""
    since = "that `backfill --stale` has not compared"
    if False not in were_compared:
        since = "written during or after the last `backfill --stale`"
    return f"{format_count(inspection.sample.unchecked_count, 'document')} {since}"


def list_ids(ids: Iterable[str], count: int) -> str:
    """Return `: 'a', 'b' and 3 more`; empty without ids."""
    listed = [*islice(ids, MAX_LISTED_IDS)]
    more = f" and {count - len(listed):,} more" if count > len(listed) else ""
    return f": {', '.join(map(repr, listed))}{more}" if listed else ""
