"""Implements `similar`: looks up documents, plans queries, runs many plans together, and ranks the candidates."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from simdoc_search.batches import split_by_count
from simdoc_search.documents import DocumentKey
from simdoc_search.errors import SimdocError
from simdoc_search.passages.unsplit_text import describe_overlaps_of_text
from simdoc_search.query.plans import Plan, ThresholdPlan
from simdoc_search.query.syntax import FingerprintQuery
from simdoc_search.search.filter_check import find_filter_error
from simdoc_search.search.options import SimilarOptions, SimilarQuery
from simdoc_search.search.query_document import QueryDocument
from simdoc_search.search.resolver import Query, Resolver, make_document_query
from simdoc_search.search.results import catch_error, raise_if_error
from simdoc_search.search.similar_candidates import make_plan, run_plans
from simdoc_search.search.similar_containment import find_by_containment
from simdoc_search.search.similar_ranking import Ranker
from simdoc_search.search.similar_result import SearchResult
from simdoc_search.search.stored_texts import read_complete_record, read_texts
from simdoc_search.stores.base import Candidates, Store
from simdoc_search.stores.record import Record, has_text_changed

_log = logging.getLogger(__name__)

QUERIES_PER_BATCH = 32
"""Maximum number of queries that are planned and run together."""


class _PlannedQuery(NamedTuple):
    query: FingerprintQuery
    query_record: Record
    plan: Plan


def find_similar(store: Store, query: SimilarQuery) -> SearchResult:
    """Return the documents that share text with a stored document or a text; see `SimilaritySearch.similar`."""
    if query.text is None:
        (outcome,) = find_similar_to_many(store, iter([query.query or ""]), query)
        return raise_if_error(outcome)
    document = QueryDocument.from_text(query.text, store.settings)
    if query.measure != "jaccard":
        parsed_query = make_document_query("", query.overlap, query.probability)
        return find_by_containment(store, parsed_query, document, query, query.exclude)
    (outcome,) = find_similar_to_records(store, [document.fingerprint_record], query, query.exclude)
    return raise_if_error(outcome)


def find_similar_to_many(
    store: Store, queries: Iterator[Query], options: SimilarOptions
) -> Iterator[SearchResult | SimdocError]:
    """Yield the result or the error of each query, in order."""
    for batch in split_by_count(queries, QUERIES_PER_BATCH):
        resolver = Resolver(store, options.query_document_filters)
        resolver.look_up_ids(batch)
        planned = [catch_error(partial(_plan_query, store, resolver, query, options)) for query in batch]
        if options.measure != "jaccard":
            for query in planned:
                yield query if isinstance(query, SimdocError) else _search_by_containment(store, query, options)
            continue
        plans = [
            (query.plan, None if options.include_self else query.query_record.key)
            for query in planned
            if isinstance(query, _PlannedQuery)
        ]
        candidates = run_plans(store, plans, options)
        for query in planned:
            yield query if isinstance(query, SimdocError) else _make_result(store, query, next(candidates), options)


def find_similar_to_records(
    store: Store, query_records: Sequence[Record], options: SimilarOptions, exclude: DocumentKey | None = None
) -> Iterator[SearchResult | SimdocError]:
    """Yield the results for documents, which need not be stored.

    All plans run together, before the first result is yielded. The candidates of a document are read when its result
    is requested.

    Raises:
        NoFingerprintError: a document has no words.
    """
    query = make_document_query("", options.overlap, options.probability)
    planned = [
        _PlannedQuery(query, query_record, make_plan(store, query, query_record, options))
        for query_record in query_records
    ]
    candidates = run_plans(store, [(planned_query.plan, exclude) for planned_query in planned], options)
    for planned_query in planned:
        yield _make_result(store, planned_query, next(candidates), options)


def _plan_query(store: Store, resolver: Resolver, query: Query, options: SimilarOptions) -> _PlannedQuery:
    parsed_query = resolver.resolve(query, overlap=options.overlap, probability=options.probability)
    query_record = resolver.get_record(parsed_query.id, query if isinstance(query, DocumentKey) else None)
    return _PlannedQuery(parsed_query, query_record, make_plan(store, parsed_query, query_record, options))


def _search_by_containment(
    store: Store, planned_query: _PlannedQuery, options: SimilarOptions
) -> SearchResult | SimdocError:
    document = QueryDocument(read_complete_record(store, planned_query.query_record), store.settings)
    exclude = None if options.include_self else document.key
    return catch_error(partial(find_by_containment, store, planned_query.query, document, options, exclude))


def _make_result(
    store: Store, planned_query: _PlannedQuery, candidates: Candidates | SimdocError, options: SimilarOptions
) -> SearchResult | SimdocError:
    if isinstance(candidates, SimdocError):
        return candidates
    if not candidates.total and (error := find_filter_error(store, options.filters)):
        return error
    query, query_record, plan = planned_query.query, planned_query.query_record, candidates.plan
    ranker = Ranker(store, query_record, plan, query.overlap, options.size, options.offset)
    text = _read_text(store, query_record) if options.verify and store.has_texts else None
    page = ranker.rank_by_tokens(candidates) if text is None else ranker.rank_by_texts(candidates, text)
    hits, total, is_total_exact, compared = page
    left_out = tuple(candidates.left_out)
    # If there is no minimum overlap, all candidates that a `ThresholdPlan` finds are hits.
    if isinstance(plan, ThresholdPlan) and not query.overlap and not is_total_exact:
        total, is_total_exact = candidates.total - len(left_out), True
    result = SearchResult(
        query,
        plan,
        candidates.total,
        hits,
        query_record.shingle_count,
        left_out,
        uncompared_count=max(0, candidates.total - compared),
        total=max(total, len(hits)),
        is_total_exact=is_total_exact,
        offset=options.offset,
        left_out_indices=store.left_out_indices(),
        changed=text is not None and has_text_changed(replace(query_record, text=text)),
        text_note=describe_overlaps_of_text(text or "", store.settings.analysis),
    )
    _log.info("%s: %s", query if query.id else "a text", result.page_description)
    return result


def _read_text(store: Store, query_record: Record) -> str | None:
    return (
        read_texts(store, [query_record.key]).get(query_record.key) if query_record.text is None else query_record.text
    )
