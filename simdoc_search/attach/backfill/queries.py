"""Builds the queries for the documents that a backfill reads."""

from __future__ import annotations

from typing import Any

from simdoc_search.attach.backfill.options import BackfillOptions
from simdoc_search.attach.backfill.targets import Target
from simdoc_search.sketch.token_kinds import token_kind_names
from simdoc_search.stores.remote.queries import all_kinds_query, missing_kinds_query

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
    query = _not(complete) if options.stale else _any_of(_not(_exists(options, "format")), *lacking)
    if target.text_query is not None:
        has_fingerprint = _any_of(_exists(options, "format"), _exists(options, "tokens"))
        query = _any_of(
            {"bool": {"filter": [query, target.text_query]}},
            {"bool": {"filter": [has_fingerprint], "must_not": [target.text_query]}},
        )
    return build_alias_query(target, query)


def build_comparable_query(target: Target, options: BackfillOptions) -> Query:
    """Return the query for the documents with a complete fingerprint, whether or not it matches the text."""
    return build_alias_query(target, all_kinds_query(target.settings, options.field))


def combine_clauses(*clauses: Query) -> Query:
    """Return the query for the documents that match all clauses."""
    return {"bool": {"filter": [*clauses]}}


def _any_of(*clauses: Query) -> Query:
    return clauses[0] if len(clauses) == 1 else {"bool": {"should": [*clauses], "minimum_should_match": 1}}


def _not(clause: Query) -> Query:
    return {"bool": {"must_not": [clause]}}


def _exists(options: BackfillOptions, name: str) -> Query:
    return {"exists": {"field": f"{options.field}.{name}"}}
