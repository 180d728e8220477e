"""From a plan and filters to a tantivy query whose score is the number of equal tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from tantivy import FieldType, Occur, Query, Schema

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Bands, Threshold
from simdoc_search.stores.base import Filters
from simdoc_search.stores.fields import fact_term, indexable
from simdoc_search.stores.local_schema import path_terms

__all__ = ["build_query", "term"]


def build_query(
    schema: Schema, plan: Threshold | Bands, filters: Filters, exclude: str | None, *, scored: bool = True
) -> Query:
    """The query of a plan.

    Args:
        schema: the schema of the index.
        plan: which tokens a document must have.
        filters: what else must hold; see `Filters`.
        exclude: the id of a document to leave out.
        scored: whether bands, too, count equal tokens, which is most of their cost.

    Returns:
        A query that scores each document by how many of the plan's tokens it has.
    """
    needed = plan.minimum_match if isinstance(plan, Threshold) else 1
    if not plan.tokens or needed > len(plan.tokens):  # tantivy 0.26 lets a lone clause pass for two
        return Query.empty_query()
    clauses = _threshold(schema, plan) if isinstance(plan, Threshold) else _bands(schema, plan, scored)
    clauses += [(Occur.Must, _unscored(each)) for each in _filters(schema, filters)]
    if exclude is not None:
        clauses.append((Occur.MustNot, term(schema, "id", exclude)))
    return Query.boolean_query(clauses)


def term(schema: Schema, field: str, value: str) -> Query:
    """The documents with exactly this term in the field."""
    return Query.term_query(schema, field, indexable(value), "basic")


def _threshold(schema: Schema, plan: Threshold) -> list[tuple[Occur, Query]]:
    enough = Query.boolean_query(list(_counted(schema, plan.tokens)), plan.minimum_match)
    clauses = [(Occur.Must, enough)]
    if plan.buckets is not None:
        low, high = plan.buckets
        within = Query.range_query(schema, "buckets", FieldType.Unsigned, max(low, 0), max(high, 0))
        clauses.append((Occur.Must, _unscored(within)))
    return clauses


def _bands(schema: Schema, plan: Bands, scored: bool) -> list[tuple[Occur, Query]]:
    bands = [_all_of(schema, band) for band in plan.bands]
    some_band = Query.boolean_query([(Occur.Should, band) for band in bands], 1)
    return [(Occur.Must, _unscored(some_band)), *(_counted(schema, plan.tokens) if scored else ())]


def _all_of(schema: Schema, tokens: Iterable[str]) -> Query:
    return Query.boolean_query([(Occur.Must, term(schema, "tokens", each)) for each in tokens])


def _counted(schema: Schema, tokens: Iterable[str]) -> Iterator[tuple[Occur, Query]]:
    for each in tokens:
        yield Occur.Should, Query.const_score_query(term(schema, "tokens", each), 1.0)


def _filters(schema: Schema, filters: Filters) -> Iterator[Query]:
    if not isinstance(filters, Mapping):
        raise QuerySyntaxError("the local store takes filters as field and value; clauses are for an engine")
    for field, given in filters.items():
        for value in given if isinstance(given, list) else [given]:
            if field != "path":
                yield term(schema, "facts", fact_term(field, value))
            elif str(value):
                yield _path(schema, path_terms(str(value))[0])


def _path(schema: Schema, prefix: str) -> Query:
    if prefix.endswith("/"):
        return term(schema, "path", prefix)
    # A prefix by distance 0: unlike a regex it needs no escapes and takes every character as it is.
    return Query.fuzzy_term_query(schema, "path", prefix, distance=0, prefix=True)


def _unscored(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)
