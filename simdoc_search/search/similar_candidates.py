"""Finds the candidates of `similar`: plans queries, runs many plans at once, and expands FINGERPRINT clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, SimdocError
from simdoc_search.query.clauses import expand_fingerprints
from simdoc_search.query.planner import Planner, plan
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.resolver import Resolver
from simdoc_search.stores.base import Candidates, Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record


def plan_for(store: Store, query: FingerprintQuery, source: Record, options: SimilarOptions) -> Plan:
    """Return the plan of a query.

    Raises:
        NoFingerprintError: the document has no tokens.
    """
    check_has_tokens(source)
    tokens = source.tokens()
    verified = options.verify and store.has_texts
    return plan(tokens, query.overlap, query.probability, planner=options.planner, verified=verified)


def check_has_tokens(source: Record) -> None:
    """Check that a document can be compared.

    Raises:
        NoFingerprintError: the document has no tokens. The message says why.
    """
    if len(source.codes):
        return
    name = f"the document {source.id!r}" if source.id else "the text"
    if source.fault:
        raise NoFingerprintError(f"{name} {source.fault}, so nothing can be compared with this document")
    if source.id and not source.text_hash:
        raise NoFingerprintError(
            f"{name} has no fingerprint. If its text has words, add the fingerprint with: simdoc-search backfill URL "
            "--text-field FIELD"
        )
    raise NoFingerprintError(f"{name} has no words, so nothing can be similar to it")


def run_plans(
    store: Store, plans: Sequence[tuple[Plan, DocumentKey | None]], options: SimilarOptions
) -> Iterator[Candidates | SimdocError]:
    """Yield the candidates of each plan. The document whose key is paired with a plan is excluded.

    All plans run at once. If a plan is too large for the store, the plans run one by one.
    """
    if not plans:
        return
    try:
        yield from store.candidates_of_many(plans, filters=options.filters, fields=options.fields)
    except QuerySyntaxError as error:
        if len(plans) == 1:
            yield error
            return
        for single in plans:
            yield from run_plans(store, [single], options)


def expand_clauses(
    store: Store, query: str | Mapping[str, Any], planner: Planner, filters: Filters | None, *, include_self: bool
) -> dict[str, Any]:
    """Expand the FINGERPRINT clauses of a query; see `SimilaritySearch.expand_fingerprints`."""
    clause = getattr(store, "clause", None)
    if clause is None:
        raise QuerySyntaxError(
            "FINGERPRINT can only be combined with other query clauses in OpenSearch or Elasticsearch; for a local "
            "store, use similar with filters"
        )
    resolver = Resolver(store, filters)
    options = SimilarOptions(planner=planner, verify=False)

    def make_clause(fingerprint: str) -> dict[str, Any]:
        resolved = resolver.resolve(fingerprint)
        source = resolver.record(resolved.id)
        plan = plan_for(store, resolved, source, options)
        return dict(clause(plan, None if include_self else source.key))

    return expand_fingerprints(query, make_clause)
