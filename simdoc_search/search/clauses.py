"""Expands FINGERPRINT clauses in an application's own query for an engine."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.clauses import expanded
from simdoc_search.query.planner import Planner
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.resolver import Resolver
from simdoc_search.search.similar_candidates import plan_for
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters


def expand_clauses(
    store: Store, query: str | Mapping[str, Any], planner: Planner, filters: Filters | None, *, include_self: bool
) -> dict[str, Any]:
    """Return the query with its FINGERPRINT clauses expanded; see `SimilaritySearch.expand_fingerprints`."""
    clause = getattr(store, "clause", None)
    if clause is None:
        raise QuerySyntaxError("only a store in an engine has other clauses; use similar with filters")
    resolver = Resolver(store, filters)
    options = SimilarOptions(planner=planner, verify=False)

    def clause_of(fingerprint: str) -> dict[str, Any]:
        resolved = resolver.resolve(fingerprint)
        source = resolver.record(resolved.id)
        plan = plan_for(store, resolved, source, options)
        return dict(clause(plan, None if include_self else source.place))

    return expanded(query, clause_of)
