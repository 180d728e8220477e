"""Compiles plans to query clauses in the JSON of OpenSearch and Elasticsearch.

There are two kinds of fields. `text` is a field that simdoc-search created. It contains one string: the tokens of a
fingerprint, separated by spaces. The field has `similarity: boolean`, so the score is the number of matching tokens.
`terms` is a `keyword` field, or a text field that a `min_hash` analyzer fills. Such an analyzer gives all tokens the
same position. A `match` query on them would become a SynonymQuery, which ignores minimum_should_match. Therefore, each
token is a separate clause.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Planner, parse_fraction, plan
from simdoc_search.query.plans import CHANCE_STEPS, BandPlan, Plan, ThresholdPlan

MAX_CLAUSES = 1024
"""The default of the engine setting `indices.query.bool.max_clause_count`. Nested clauses are counted too."""

MINIMUM_SHOULD_MATCH_BEYOND_CHANCE = " ".join(
    f"{count}<{minimum}" for minimum, count in enumerate((1, *CHANCE_STEPS), 1)
)
"""The minimum_should_match for `min_matches_beyond_chance`.

In it, `10<2` means that a query of more than 10 tokens requires at least 2 of them.
"""

ScoreKind = Literal["bands", "tokens", "nothing"]
"""The score of a clause with bands: the number of matched bands, the number of matching tokens, or no score."""

FieldKind = Literal["text", "terms"]
"""How a field contains tokens: as words of one string, or as separate terms."""

MAX_QUERY_TOKENS = 512
"""Maximum number of tokens that `more_like_this` uses. With the default settings, a document has at most 512 tokens."""

_COMPOUND_QUERIES = ("bool", "boosting", "constant_score", "dis_max", "function_score", "nested")


def to_dsl(
    plan: Plan,
    field: str = "simdoc.tokens",
    *,
    kind: FieldKind = "text",
    fingerprint_size_field: str | None = None,
    filters: Sequence[dict[str, Any]] = (),
    exclude_id: str | None = None,
    must_not: Sequence[dict[str, Any]] = (),
    score: ScoreKind = "bands",
    max_clauses: int = MAX_CLAUSES,
) -> dict[str, Any]:
    """Compile a plan to a query clause.

    Args:
        plan: the plan.
        field: the field that contains the tokens.
        kind: `text` (a field that simdoc-search created) or `terms` (a keyword field, or a field that a `min_hash`
            analyzer fills).
        fingerprint_size_field: the field that contains each document's number of tokens. If it is given, the engine
            excludes documents that are too short or too long to reach the overlap.
        filters: your own clauses that must match. They are not changed.
        exclude_id: the `_id` of a document to exclude, usually the query document. Behind an alias over several
            indices, this excludes every document with this id. To exclude only one, use `must_not` of your own `bool`
            query, with its `_index` and `_id`.
        must_not: your own clauses that must not match.
        score: the score for a plan with bands; see `ScoreKind`. `tokens` also excludes documents with fewer matching
            tokens than the plan's `minimum_match`. If `tokens` would exceed the clause limit, `bands` is used instead.
            `nothing` is the fastest.
        max_clauses: the engine's limit on the number of clauses.

    Returns:
        A clause, which you can combine with other clauses in a `bool` query. For a threshold, its score is the number
        of matching tokens. A plan without tokens matches nothing.

    Raises:
        QuerySyntaxError: the kind or the score is unknown, or the query exceeds the clause limit.
    """
    if kind not in get_args(FieldKind):
        raise QuerySyntaxError(f"kind must be 'text' or 'terms', not {kind!r}")
    if score not in get_args(ScoreKind):
        raise QuerySyntaxError(f"score must be 'bands', 'tokens' or 'nothing', not {score!r}")
    if not plan.can_match:  # for a `match` with one token, an engine would ignore that two are required
        return {"match_none": {}}
    if kind == "text" and " ".join(plan.tokens).split() != [*plan.tokens]:
        raise QuerySyntaxError(
            "a token contains white space, which separates the tokens of a text field; use kind='terms'"
        )
    required = [*filters, *_fingerprint_size_filters(plan, fingerprint_size_field)]
    excluded = [*must_not, *([{"ids": {"values": [exclude_id]}}] if exclude_id is not None else [])]
    others = count_clauses([*required, *excluded])
    if score == "tokens" and not can_count_tokens(plan, others, max_clauses):
        score = "bands"
    used = count_plan_clauses(plan, score) + others
    if used > max_clauses:
        raise QuerySyntaxError(
            f"the query has {used:,} clauses, but the engine allows {max_clauses:,}; "
            "increase indices.query.bool.max_clause_count, or reduce the number of clauses with planner='enough' and a "
            "probability below 1"
        )
    return _combine(_candidates_clause(plan, field, kind, score), required, excluded)


def similar_query(
    tokens: Sequence[str],
    overlap: float | str | Fraction | None = None,
    probability: float | str | Fraction | None = None,
    *,
    field: str = "simdoc.tokens",
    planner: Planner = "enough",
    kind: FieldKind = "text",
    fingerprint_size_field: str | None = None,
    filters: Sequence[dict[str, Any]] = (),
    exclude_id: str | None = None,
    score: ScoreKind = "bands",
    max_clauses: int = MAX_CLAUSES,
) -> dict[str, Any]:
    """Plan and compile a query in one step. For the arguments and errors, see `plan` and `to_dsl`."""
    return to_dsl(
        plan(tokens, overlap, probability, planner=planner),
        field,
        kind=kind,
        fingerprint_size_field=fingerprint_size_field,
        filters=filters,
        exclude_id=exclude_id,
        score=score,
        max_clauses=max_clauses,
    )


def similar_by_id(
    index: str,
    id: str,
    overlap: float | str | Fraction | None = None,
    *,
    field: str = "simdoc.tokens",
    routing: str | None = None,
    filters: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return a query for documents similar to a stored document. The engine reads the tokens of the stored document.

    The score is the number of matching tokens. The query finds the same documents as `similar_query` with the same
    overlap, except for the following differences:

    - The engine ignores all filters when it reads the query document, so check first that the caller may read it. For
      an unknown id, the query finds nothing. This is not an error.
    - A shard counts only tokens that occur in it. Shards without the query document therefore require fewer tokens, and
      return hits below the overlap. If the index has several shards, multiply the overlap by the `simdoc.buckets` of
      the query document, and set the product as the `min_score` of the request.
    - The caller does not know the tokens of the query document. Unlike `similar_query` with `fingerprint_size_field`,
      the query therefore also finds documents that are too long for the overlap. The hits cannot be refined.
    - The overlap is rounded down to a whole percentage. At most 512 tokens of the query document are used.

    Args:
        index: the index of the query document, as in the `_index` of a hit. It must not be an alias of several indices.
        id: the `_id` of the query document. The query document itself is not a hit.
        overlap: minimum Jaccard similarity, 0..1. None or a value under 0.01: any overlap, that is, more matching
            tokens than expected by chance (`min_matches_beyond_chance`).
        field: the field that contains the tokens of simdoc-search. It must be in `_source`.
        routing: the routing of the query document, if it has one.
        filters: your own clauses that hits must match. They are not changed. The query document need not match.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """
    query_document = {"_index": index, "_id": id}
    query_document_filters = [{"term": {"_index": index}}, {"ids": {"values": [id]}}]
    if routing is not None:
        query_document["routing"] = routing
        query_document_filters.append({"term": {"_routing": routing}})
    clause = {
        "more_like_this": {
            "fields": [field],
            "like": [query_document],
            "include": True,  # otherwise, the engine also excludes documents with this id in other indices
            "max_query_terms": MAX_QUERY_TOKENS,
            "min_term_freq": 1,
            "min_doc_freq": 1,
            "minimum_should_match": _minimum_should_match(
                Fraction(0) if overlap is None else parse_fraction(overlap, "overlap")
            ),
        }
    }
    return _combine(clause, [*filters], [{"bool": {"filter": query_document_filters}}])


def _minimum_should_match(overlap: Fraction) -> str:
    """Return the minimum_should_match that requires ceil(n * overlap) of n tokens, for an unknown n.

    The engine rounds percentages down. A negative percentage is the share of tokens that may be missing, so the number
    of required tokens is rounded up. For example, -80% of 512 tokens allows 409 missing tokens, and requires 103
    tokens. 20% would require only 102 tokens.
    """
    percent = int(overlap * 100)
    if not percent:
        return MINIMUM_SHOULD_MATCH_BEYOND_CHANCE
    return "100%" if percent == 100 else f"{percent - 100}%"  # with 0%, no token would be required


def _fingerprint_size_filters(plan: Plan, fingerprint_size_field: str | None) -> list[dict[str, Any]]:
    """Return a filter for documents whose number of tokens allows the overlap."""
    match plan:
        case ThresholdPlan(token_range=(least, most)) if fingerprint_size_field:
            return [{"range": {fingerprint_size_field: {"gte": least, "lte": most}}}]
        case ThresholdPlan() | BandPlan():
            return []


def _candidates_clause(plan: Plan, field: str, kind: FieldKind, score: ScoreKind) -> dict[str, Any]:
    match plan:
        case ThresholdPlan():
            return _threshold_clause(plan.minimum_match, plan.tokens, field, kind)
        case BandPlan():
            return _bands_clause(plan, field, kind, score)


def can_count_tokens(plan: Plan, other_clause_count: int, max_clauses: int) -> bool:
    """Return whether a query that selects candidates and counts tokens is within the clause limit.

    `other_clause_count` is the number of clauses that do not belong to the plan.
    """
    return count_plan_clauses(plan, "tokens") + other_clause_count <= max_clauses


def count_plan_clauses(plan: Plan, score: ScoreKind) -> int:
    """Return the number of leaf clauses of a compiled plan."""
    counting_clauses = len(plan.tokens) if score == "tokens" and isinstance(plan, BandPlan) else 0
    return plan.clause_count + counting_clauses


def _combine(clause: dict[str, Any], filters: list[dict[str, Any]], must_not: list[dict[str, Any]]) -> dict[str, Any]:
    if not filters and not must_not:
        return clause
    query = {"must": [clause], "filter": filters, "must_not": must_not}
    return {"bool": {occur: clauses for occur, clauses in query.items() if clauses}}


def _bands_clause(plan: BandPlan, field: str, kind: FieldKind, score: ScoreKind) -> dict[str, Any]:
    """Return the clause for documents with at least one whole band.

    If the score is `tokens`, the clause also excludes documents with too few matching tokens. The engine counts
    tokens only in documents that match a band.
    """
    bands = [_all_tokens_clause(band, field, kind) for band in plan.bands if band]
    if score == "bands":
        constant = [{"constant_score": {"filter": band}} for band in bands]
        return {"bool": {"should": constant, "minimum_should_match": 1}}
    query: dict[str, Any] = {"filter": [{"bool": {"should": bands, "minimum_should_match": 1}}]}
    if score == "tokens":
        query["must"] = [_threshold_clause(max(1, plan.minimum_match), plan.tokens, field, kind)]
    return {"bool": query}


def _threshold_clause(minimum: int, tokens: Sequence[str], field: str, kind: FieldKind) -> dict[str, Any]:
    """Return the clause for documents with at least `minimum` of the tokens.

    The score is the number of matching tokens.
    """
    if kind == "text":
        options = {"query": " ".join(tokens), "analyzer": "whitespace", "minimum_should_match": minimum}
        return {"match": {field: options}}
    scored = [{"constant_score": {"filter": {"term": {field: token}}}} for token in tokens]
    return {"bool": {"should": scored, "minimum_should_match": minimum}}


def _all_tokens_clause(tokens: Sequence[str], field: str, kind: FieldKind) -> dict[str, Any]:
    if kind == "text":
        return {"match": {field: {"query": " ".join(tokens), "analyzer": "whitespace", "operator": "and"}}}
    return {"bool": {"filter": [{"term": {field: token}} for token in tokens]}}


def count_clauses(query: dict[str, Any] | list[dict[str, Any]]) -> int:
    """Return the number of leaf clauses of a query as the engine counts them, including nested and repeated clauses."""
    if isinstance(query, list):
        return sum(map(count_clauses, query))
    count = 0
    for kind, body in query.items():
        if kind in _COMPOUND_QUERIES and isinstance(body, dict):
            count += sum(count_clauses(part) for part in body.values() if isinstance(part, dict | list))
        elif kind == "match" and isinstance(body, dict):
            queries = (value.get("query", "") if isinstance(value, dict) else value for value in body.values())
            count += sum(max(1, len(str(query).split())) for query in queries)
        else:
            count += 1
    return count
