"""Builds the queries for the documents that a backfill reads."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.sketch.token_kinds import token_kind_names
from simdoc_search.stores.remote.queries import all_kinds_query, any_clause, exists_clause, missing_kinds_query

Query = dict[str, Any]


def build_alias_query(target: Target, *filters: Query) -> Query:
    """Return the query for documents that match all filters and are not excluded by the alias."""
    return {"bool": {"filter": [*target.index.filters, *filters]}}


def build_incomplete_query(target: Target, options: BackfillOptions) -> Query:
    """Return the query for the documents whose fingerprint is missing, or lacks passages, sentences or concepts.

    With `stale`, it also matches documents whose fingerprint was computed with other settings. If the target has a
    `text_query`, documents without a text match only if they have a fingerprint, which must be removed.
    """
    complete = all_kinds_query(target.settings, options.field)
    kinds = token_kind_names(target.settings)
    lacking = [missing_kinds_query(target.settings, options.field, *kinds)] if kinds else []
    has_format = exists_clause(f"{options.field}.format")
    query = _not(complete) if options.stale else any_clause([_not(has_format), *lacking])
    if target.text_query is not None:
        has_fingerprint = any_clause([has_format, exists_clause(f"{options.field}.tokens")])
        without_text = {"bool": {"filter": [has_fingerprint], "must_not": [target.text_query]}}
        query = any_clause([combine_clauses(query, target.text_query), without_text])
    return build_alias_query(target, query)


def build_comparable_query(target: Target, options: BackfillOptions) -> Query:
    """Return the query for the documents with a complete fingerprint, whether or not it matches the text."""
    return build_alias_query(target, all_kinds_query(target.settings, options.field))


def combine_clauses(*clauses: Query) -> Query:
    """Return the query for the documents that match all clauses."""
    return {"bool": {"filter": [*clauses]}}


def _not(clause: Query) -> Query:
    return {"bool": {"must_not": [clause]}}
