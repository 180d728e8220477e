"""Queries for the documents that a backfill reads."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.backfill.targets import Target
from simdoc_search.attach.backfill.task import Task
from simdoc_search.sketch.kinds import names_of_kinds
from simdoc_search.stores.remote.queries import complete_query, lacking_kinds_query

Query = dict[str, Any]


def selected(target: Target, *filters: Query) -> Query:
    """Return the query of the documents that the alias shows, with further filters."""
    return {"bool": {"filter": [*target.index.filters, *filters]}}


def incomplete(target: Target, task: Task) -> Query:
    """Return the query of the documents that need a fingerprint, or tokens of a kind.

    With `stale` these include fingerprints with other settings. If a query can tell which documents have a text, only
    those are included, and the documents without a text that still have a fingerprint.
    """
    complete = complete_query(target.settings, task.field)
    kinds = names_of_kinds(target.settings)
    lacking = [lacking_kinds_query(target.settings, task.field, *kinds)] if kinds else []
    need = _not(complete) if task.stale else _either(_not(_exists(task, "format")), *lacking)
    if target.text_query is not None:
        any_fingerprint = _either(_exists(task, "format"), _exists(task, "tokens"))
        need = _either(
            {"bool": {"filter": [need, target.text_query]}},
            {"bool": {"filter": [any_fingerprint], "must_not": [target.text_query]}},
        )
    return selected(target, need)


def comparable(target: Target, task: Task) -> Query:
    """Return the query of the documents whose fingerprint is complete, so that only a comparison finds stale ones."""
    return selected(target, complete_query(target.settings, task.field))


def both(*clauses: Query) -> Query:
    """Return the query of the documents that match all clauses."""
    return {"bool": {"filter": [*clauses]}}


def _either(*clauses: Query) -> Query:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": [*clauses], "minimum_should_match": 1}}


def _not(clause: Query) -> Query:
    return {"bool": {"must_not": [clause]}}


def _exists(task: Task, name: str) -> Query:
    return {"exists": {"field": f"{task.field}.{name}"}}
