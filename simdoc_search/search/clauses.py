"""FINGERPRINT clauses in a query of an application's own, for an engine: which documents they mean is looked up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.clauses import expanded
from simdoc_search.query.planner import Planner
from simdoc_search.search.resolver import Resolver
from simdoc_search.search.similar import planned
from simdoc_search.search.similar_options import Options
from simdoc_search.stores.base import Store
from simdoc_search.stores.filters import Filters


def expanded_in(
    store: Store, query: str | Mapping[str, Any], planner: Planner, filters: Filters | None, *, include_self: bool
) -> dict[str, Any]:
    """See `SimilaritySearch.expand_fingerprints`."""
    clause = getattr(store, "clause", None)
    if clause is None:
        raise QuerySyntaxError("a store that is not in an engine has no other clauses; ask similar, with filters")
    resolver = Resolver(store, filters)
    options = Options(planner=planner, size=1, verify=False)

    def clause_of(fingerprint: str) -> dict[str, Any]:
        meant = resolver.resolve(fingerprint)
        source = resolver.record(meant.id)
        return dict(clause(planned(store, meant, source, options), None if include_self else source.place))

    return expanded(query, clause_of)
