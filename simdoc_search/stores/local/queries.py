"""Plans and filters as a tantivy query whose score is the number of equal tokens."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Literal

from tantivy import FieldType, Occur, Query, Schema

from simdoc_search.documents import Place
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import Bands, Plan, Threshold
from simdoc_search.stores.fields import fact_term, indexable, root_fact
from simdoc_search.stores.filters import Condition, Filters, FilterValue, conditions
from simdoc_search.stores.local.schema import path_terms

Wanted = Literal["ranked", "counted", "chosen"]
"""The purpose of a query: rank candidates, count them, or find those that bands let through."""


def build_query(
    schema: Schema, plan: Plan, filters: Filters, exclude: Place | None, wanted: Wanted = "ranked"
) -> Query:
    """Return the query of a plan.

    In tantivy, a query that selects by the number of equal tokens takes three times as long as one that only adds
    them up. `ranked` therefore also finds documents with too few tokens, after all others.

    Args:
        schema: the schema of the index.
        plan: the plan.
        filters: filters that must also match; see `Filters`.
        exclude: the document to leave out.
        wanted: `ranked` scores each document by the number of the plan's tokens it has; `counted` finds exactly the
            candidates; `chosen` finds the documents with a whole band.
    """
    if not plan.can_match:  # tantivy 0.26 lets a lone clause pass for two
        return Query.empty_query()
    return Query.boolean_query([*_chosen_by(schema, plan, wanted), *_beside(schema, filters, exclude)])


def sharing_query(
    schema: Schema,
    field: str,
    rows: list[list[str]],
    filters: Filters,
    exclude: Place | None,
    *,
    counted: bool = True,
) -> Query:
    """Return the query for documents with a token of any row in a field, scored by their number of rows or unscored."""
    if not rows:
        return Query.empty_query()
    if not counted:
        some = _unscored(Query.term_set_query(schema, field, [token for row in rows for token in row]))
    elif len(rows[0]) == 1:
        some = Query.boolean_query(list(_counted(schema, [row[0] for row in rows], field)), 1)
    else:
        sets = [Query.const_score_query(Query.term_set_query(schema, field, row), 1.0) for row in rows]
        some = Query.boolean_query([(Occur.Should, each) for each in sets], 1)
    return Query.boolean_query([(Occur.Must, some), *_beside(schema, filters, exclude)])


def all_words_query(schema: Schema, field: str, words: Iterable[str], filters: Filters, exclude: Place | None) -> Query:
    """Return the query for documents with all of these words in a field, short documents first."""
    clauses = [(Occur.Must, term(schema, field, each)) for each in words]
    return Query.boolean_query([*clauses, *_beside(schema, filters, exclude)])


def term(schema: Schema, field: str, value: str) -> Query:
    """Return the query for exactly this term in the field."""
    return Query.term_query(schema, field, indexable(value), "basic")


def of_root(schema: Schema, root: str | None, below: bool, filters: Filters | None = None) -> Query:
    """Return the query for matching documents with this root, or with a root below it; all without a root.

    Raises QuerySyntaxError as `build_query`.
    """
    return kept(schema, _of_root(schema, root, below), filters)


def kept(schema: Schema, query: Query, filters: Filters | None) -> Query:
    """Return the query restricted by filters. Raises QuerySyntaxError as `build_query`."""
    beside = [(Occur.Must, _unscored(each)) for each in _filters(schema, filters)]
    return Query.boolean_query([(Occur.Must, query), *beside]) if beside else query


def _of_root(schema: Schema, root: str | None, below: bool) -> Query:
    if root is None:
        return Query.all_query()
    if not below:
        return term(schema, "facts", root_fact(root))
    return Query.fuzzy_term_query(schema, "facts", root_fact(os.path.join(root, "")), distance=0, prefix=True)  # noqa: PTH118


def _chosen_by(schema: Schema, plan: Plan, wanted: Wanted) -> list[tuple[Occur, Query]]:
    match plan:
        case Threshold():
            return _threshold(schema, plan, wanted)
        case Bands():
            return _bands(schema, plan, wanted)


def _threshold(schema: Schema, plan: Threshold, wanted: Wanted) -> list[tuple[Occur, Query]]:
    clauses = [(Occur.Must, _some_tokens(schema, plan, 1 if wanted == "ranked" else plan.minimum_match))]
    if plan.buckets is not None:
        low, high = plan.buckets
        within = Query.range_query(schema, "buckets", FieldType.Unsigned, max(low, 0), max(high, 0))
        clauses.append((Occur.Must, _unscored(within)))
    return clauses


def _bands(schema: Schema, plan: Bands, wanted: Wanted) -> list[tuple[Occur, Query]]:
    bands = [_all_of(schema, band) for band in plan.bands]
    some_band = _unscored(Query.boolean_query([(Occur.Should, band) for band in bands], 1))
    clauses = [(Occur.Must, some_band)]
    if wanted == "ranked":
        clauses += _counted(schema, plan.tokens)
    elif wanted == "counted" and plan.minimum_match:
        clauses.append((Occur.Must, _some_tokens(schema, plan, plan.minimum_match)))
    return clauses


def _some_tokens(schema: Schema, plan: Plan, least: int) -> Query:
    return Query.boolean_query(list(_counted(schema, plan.tokens)), least)


def _all_of(schema: Schema, tokens: Iterable[str]) -> Query:
    return Query.boolean_query([(Occur.Must, term(schema, "tokens", each)) for each in tokens])


def _counted(schema: Schema, tokens: Iterable[str], field: str = "tokens") -> Iterator[tuple[Occur, Query]]:
    for each in tokens:
        yield Occur.Should, Query.const_score_query(term(schema, field, each), 1.0)


def _beside(schema: Schema, filters: Filters, exclude: Place | None) -> Iterator[tuple[Occur, Query]]:
    for each in _filters(schema, filters):
        yield Occur.Must, _unscored(each)
    if exclude is not None:
        yield Occur.MustNot, term(schema, "id", exclude.id)


def _filters(schema: Schema, filters: Filters | None) -> Iterator[Query]:
    for each in conditions(filters):
        if not isinstance(each, Condition):
            raise QuerySyntaxError("the local store takes filters as field and value; clauses are for an engine")
        has = _having(schema, each)
        yield _without(has) if each.excluded else has


def _having(schema: Schema, condition: Condition) -> Query:
    if condition.field == "path":
        return any_path(schema, condition.values)
    return _some_of([term(schema, "facts", fact_term(condition.field, value)) for value in condition.values])


def _without(query: Query) -> Query:
    return Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, query)])


def any_path(schema: Schema, beginnings: Iterable[FilterValue]) -> Query:
    """Return the query for documents whose path begins with one of these prefixes."""
    begins = [str(each) for each in beginnings]
    return _some_of([_path(schema, path_terms(each)[0]) if each else Query.all_query() for each in begins])


def _some_of(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, each) for each in queries])


def _path(schema: Schema, prefix: str) -> Query:
    if prefix.endswith("/"):
        return term(schema, "path", prefix)
    # A prefix by distance 0: unlike a regex it needs no escapes and takes every character as it is.
    return Query.fuzzy_term_query(schema, "path", prefix, distance=0, prefix=True)


def _unscored(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)
