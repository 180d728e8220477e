"""Translates plans and filters into tantivy queries. The score of a document is the number of query tokens in it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Literal

from tantivy import FieldType, Occur, Query, Schema

from simdoc_search.documents import DocumentKey
from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.plans import BandPlan, Plan, ThresholdPlan
from simdoc_search.stores.fields import (
    METADATA_FIELD,
    ORIGIN_FIELD,
    escape_surrogates,
    metadata_term,
    parse_origin_value,
    root_term,
)
from simdoc_search.stores.filters import Condition, Filters, parse_filters
from simdoc_search.stores.local.schema import path_terms

QueryPurpose = Literal["rank", "count", "match_bands"]
"""The purpose of a query: to rank the candidates, to count them, or to find the documents with a complete band."""


def build_query(
    schema: Schema, plan: Plan, filters: Filters | None, exclude: DocumentKey | None, purpose: QueryPurpose = "rank"
) -> Query:
    """Return the query of a plan.

    A tantivy query that requires a minimum number of matching terms takes three times as long as a query that only
    counts them. Therefore `rank` also finds documents with too few of the plan's tokens. These documents come last.
    `count` finds exactly the candidates, and `match_bands` finds the documents with a complete band.

    Raises:
        QuerySyntaxError: the filters contain query clauses of an engine.
    """
    if not plan.can_match:  # tantivy 0.26 matches a single clause, even if two are required
        return Query.empty_query()
    if isinstance(plan, ThresholdPlan):
        clauses = _threshold_clauses(schema, plan, purpose)
    else:
        clauses = _band_clauses(schema, plan, purpose)
    return Query.boolean_query([*clauses, *_restrictions(schema, filters, exclude)])


def shared_tokens_query(
    schema: Schema,
    field: str,
    token_groups: list[list[str]],
    filters: Filters | None,
    exclude: DocumentKey | None,
    *,
    is_scored: bool = True,
) -> Query:
    """Return the query for documents that match at least one group of alternative tokens.

    A document matches a group if its field contains at least one token of the group. If `is_scored`, its score is the
    number of groups that it matches. Otherwise, the score is 0.
    """
    if not token_groups:
        return Query.empty_query()
    if not is_scored:
        matching = _unscored(Query.term_set_query(schema, field, [token for group in token_groups for token in group]))
    elif len(token_groups[0]) == 1:
        matching = _counting_query(schema, [group[0] for group in token_groups], field)
    else:
        sets = [Query.const_score_query(Query.term_set_query(schema, field, group), 1.0) for group in token_groups]
        matching = Query.boolean_query([(Occur.Should, tokens) for tokens in sets], 1)
    return restrict(schema, matching, filters, exclude)


def term_query(schema: Schema, field: str, value: str) -> Query:
    """Return the query for documents with this exact term in a field."""
    return Query.term_query(schema, field, escape_surrogates(value), "basic")


def prefix_query(schema: Schema, field: str, prefix: str) -> Query:
    """Return the query for documents with a term that begins with a prefix. An empty prefix matches all documents.

    A fuzzy query with distance 0 is used because, unlike a regular expression, it takes every character literally.
    """
    if not prefix:
        return Query.all_query()
    return Query.fuzzy_term_query(schema, field, escape_surrogates(prefix), distance=0, prefix=True)


def word_query(schema: Schema, field: str, word: str) -> Query:
    """Return the query for documents with a term that contains a word of ASCII letters, in any letter case."""
    letters = "".join(f"[{letter.lower()}{letter.upper()}]" for letter in word)
    return Query.regex_query(schema, field, f".*{letters}.*")


def root_query(schema: Schema, root_folder: str | None, only_roots_inside_folder: bool) -> Query:
    """Return the query for documents that were indexed from `root_folder`.

    If `only_roots_inside_folder`, return the query for documents that were indexed from a folder or file inside
    `root_folder`. If `root_folder` is None, the query matches all documents.
    """
    if root_folder is None:
        return Query.all_query()
    if only_roots_inside_folder:
        return prefix_query(schema, METADATA_FIELD, root_term(os.path.join(root_folder, "")))  # noqa: PTH118
    return term_query(schema, METADATA_FIELD, root_term(root_folder))


def restrict(schema: Schema, query: Query, filters: Filters | None, exclude: DocumentKey | None = None) -> Query:
    """Restrict a query by filters, and exclude a document. Raises the errors of `build_query`."""
    restrictions = list(_restrictions(schema, filters, exclude))
    return Query.boolean_query([(Occur.Must, query), *restrictions]) if restrictions else query


def condition_query(schema: Schema, condition: Condition) -> Query:
    """Return the query for documents whose field has one of the values, or whose path begins with one of them."""
    if condition.field == "path":
        queries = [_path_query(schema, str(value)) for value in condition.values]
    elif condition.field == ORIGIN_FIELD:
        queries = [_origin_query(schema, *parse_origin_value(value)) for value in condition.values]
    else:
        queries = [
            term_query(schema, METADATA_FIELD, metadata_term(condition.field, value)) for value in condition.values
        ]
    return _any_query(queries)


def _threshold_clauses(schema: Schema, plan: ThresholdPlan, purpose: QueryPurpose) -> list[tuple[Occur, Query]]:
    minimum = 1 if purpose == "rank" else plan.minimum_match
    clauses = [(Occur.Must, _counting_query(schema, plan.tokens, minimum=minimum))]
    if plan.token_range is not None:
        low, high = plan.token_range
        in_range = Query.range_query(schema, "buckets", FieldType.Unsigned, max(low, 0), max(high, 0))
        clauses.append((Occur.Must, _unscored(in_range)))
    return clauses


def _band_clauses(schema: Schema, plan: BandPlan, purpose: QueryPurpose) -> list[tuple[Occur, Query]]:
    bands = [
        Query.boolean_query([(Occur.Must, term_query(schema, "tokens", token)) for token in band])
        for band in plan.bands
    ]
    clauses = [(Occur.Must, _unscored(Query.boolean_query([(Occur.Should, band) for band in bands], 1)))]
    if purpose == "rank":
        clauses += _token_clauses(schema, plan.tokens, "tokens")
    elif purpose == "count" and plan.minimum_match:
        clauses.append((Occur.Must, _counting_query(schema, plan.tokens, minimum=plan.minimum_match)))
    return clauses


def _counting_query(schema: Schema, tokens: Iterable[str], field: str = "tokens", minimum: int = 1) -> Query:
    """Return the query for documents that contain at least `minimum` of the tokens, scored by the number of tokens."""
    return Query.boolean_query(list(_token_clauses(schema, tokens, field)), minimum)


def _token_clauses(schema: Schema, tokens: Iterable[str], field: str) -> Iterator[tuple[Occur, Query]]:
    for token in tokens:
        yield Occur.Should, Query.const_score_query(term_query(schema, field, token), 1.0)


def _restrictions(
    schema: Schema, filters: Filters | None, exclude: DocumentKey | None
) -> Iterator[tuple[Occur, Query]]:
    for condition in parse_filters(filters):
        if not isinstance(condition, Condition):
            raise QuerySyntaxError(
                "a local index does not support query clauses of an engine; use a dictionary of fields and values "
                "instead"
            )
        query = condition_query(schema, condition)
        if condition.is_negated:
            query = Query.boolean_query([(Occur.Must, Query.all_query()), (Occur.MustNot, query)])
        yield Occur.Must, _unscored(query)
    if exclude is not None:
        yield Occur.MustNot, term_query(schema, "id", exclude.id)


def _path_query(schema: Schema, prefix: str) -> Query:
    term = path_terms(prefix)[0]
    return term_query(schema, "path", term) if term.endswith("/") else prefix_query(schema, "path", term)


def _origin_query(schema: Schema, root_folder: str, path: str) -> Query:
    has_root = root_query(schema, root_folder, only_roots_inside_folder=False)
    if not path:
        return has_root
    if path.endswith("/"):
        has_path = _path_query(schema, path)
    else:
        members = [_path_query(schema, f"{path}{separator}") for separator in "/!"]
        has_path = _any_query([term_query(schema, "path", path_terms(path)[0]), *members])
    return Query.boolean_query([(Occur.Must, has_root), (Occur.Must, has_path)])


def _any_query(queries: list[Query]) -> Query:
    if not queries:
        return Query.empty_query()
    return queries[0] if len(queries) == 1 else Query.boolean_query([(Occur.Should, query) for query in queries])


def _unscored(query: Query) -> Query:
    return Query.const_score_query(query, 0.0)
