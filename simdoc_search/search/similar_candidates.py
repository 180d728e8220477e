"""Finds the candidates of `similar`: plans queries, runs many plans together, and expands FINGERPRINT clauses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from simdoc_search.display import format_fields
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import NoFingerprintError, QuerySyntaxError, SimdocError
from simdoc_search.query.clauses import expand_fingerprints
from simdoc_search.query.planner import Planner, plan
from simdoc_search.query.plans import Plan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.options import SimilarOptions
from simdoc_search.search.resolver import Resolver
from simdoc_search.search.stored_texts import read_complete_record
from simdoc_search.stores.base import Candidates, Store
from simdoc_search.stores.filters import Filters
from simdoc_search.stores.record import Record


def make_plan(store: Store, query: FingerprintQuery, query_record: Record, options: SimilarOptions) -> Plan:
    """Return the plan of a query.

    Raises:
        NoFingerprintError: the document has no tokens.
    """
    check_has_tokens(store, query_record)
    tokens = query_record.query_terms()
    is_verified = options.verify and store.has_texts
    return plan(tokens, query.overlap, query.probability, planner=options.planner, is_verified=is_verified)


def check_has_tokens(store: Store, query_record: Record) -> None:
    """Raise a NoFingerprintError if a document has no tokens. The message says why."""
    if len(query_record.token_ids):
        return
    name = f"the document {query_record.id!r}" if query_record.id else "the text"
    if query_record.fault:
        raise NoFingerprintError(f"{name} {query_record.fault}, so nothing can be compared with it")
    if query_record.id and not query_record.text_hash:
        if (text_fields := store.info().text_fields) and read_complete_record(store, query_record).text is None:
            names = format_fields(text_fields)
            raise NoFingerprintError(f"{name} has no text in {names}, so nothing can be similar to it")
        raise NoFingerprintError(
            f"{name} has no fingerprint; to add missing fingerprints, run `simdoc-search backfill {store.location}`"
        )
    raise NoFingerprintError(f"{name} has no words, so nothing can be similar to it")


def run_plans(
    store: Store, plans: Sequence[tuple[Plan, DocumentKey | None]], options: SimilarOptions
) -> Iterator[Candidates | SimdocError]:
    """Yield the candidates of each plan.

    Each item of `plans` is a plan and the key of a document to exclude, which may be None. All plans
    run together. If a plan is too large for the store, the plans run one by one.
    """
    if not plans:
        return
    try:
        yield from store.candidates_of_many(plans, filters=options.filters, fields=options.fields)
    except QuerySyntaxError as error:
        if len(plans) == 1:
            yield error
            return
        for plan_and_key in plans:
            yield from run_plans(store, [plan_and_key], options)


def expand_clauses(
    store: Store, query: str | Mapping[str, Any], planner: Planner, filters: Filters | None, *, include_self: bool
) -> dict[str, Any]:
    """Expand the FINGERPRINT clauses of a query; see `SimilaritySearch.expand_fingerprints`."""
    clause = getattr(store, "clause", None)
    if clause is None:
        raise QuerySyntaxError(
            "only OpenSearch and Elasticsearch can combine FINGERPRINT with other query clauses; for a local index, "
            "use `similar` with filters"
        )
    resolver = Resolver(store, filters)
    options = SimilarOptions(planner=planner, verify=False)

    def make_clause(fingerprint: str) -> dict[str, Any]:
        parsed_query = resolver.resolve(fingerprint)
        query_record = resolver.get_record(parsed_query.id)
        plan = make_plan(store, parsed_query, query_record, options)
        return dict(clause(plan, None if include_self else query_record.key))

    return expand_fingerprints(query, make_clause)
