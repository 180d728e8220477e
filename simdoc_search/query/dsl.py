"""Plans as JSON of OpenSearch and Elasticsearch: one clause for a `bool` query, next to the caller's own clauses.

There are two kinds of field. `text` is our field: one string of tokens separated by spaces, with `similarity:
boolean`, so that the score is the number of equal tokens. `terms` is a `keyword` field, or a text field that a
`min_hash` analyzer filled. In the latter all tokens have the same position, so a `match` becomes one SynonymQuery
that ignores minimum_should_match; each token is therefore a clause of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Literal, get_args

from simdoc_search.errors import QuerySyntaxError
from simdoc_search.query.planner import Planner, parse_fraction, plan
from simdoc_search.query.plans import ANY_OVERLAP, Bands, Plan, Threshold

MAX_CLAUSES = 1024
"""The engines' default for `indices.query.bool.max_clause_count`; nested clauses count."""

ANY_SHARE = f"1<-99% {100 * ANY_OVERLAP - 100}<{ANY_OVERLAP}"
"""The minimum_should_match of `chance_limit`: 1 % of the tokens, from 1 to 4."""

Score = Literal["bands", "tokens", "nothing"]
"""The score of banded clauses: number of matched bands, number of equal tokens, or none."""

FieldKind = Literal["text", "terms"]
"""How a field holds tokens: as words of a text, or as separate terms."""

_MAX_TOKENS = 512  # that `more_like_this` takes of a document; as many as the default settings make
_COMPOUNDS = ("bool", "boosting", "constant_score", "dis_max", "function_score", "nested")


def to_dsl(
    plan: Plan,
    field: str = "simdoc.tokens",
    *,
    kind: FieldKind = "text",
    buckets_field: str | None = None,
    filters: Sequence[dict[str, Any]] = (),
    exclude_id: str | None = None,
    without: Sequence[dict[str, Any]] = (),
    score: Score = "bands",
    max_clauses: int = MAX_CLAUSES,
) -> dict[str, Any]:
    """Compile a plan.

    Args:
        plan: the plan.
        field: the field that holds the tokens.
        kind: `text` (our field) or `terms` (a keyword field, or one filled by a `min_hash` analyzer).
        buckets_field: the field with each document's number of tokens. With it, the engine leaves out documents that
            are too short or too long to reach the overlap.
        filters: the caller's own clauses, unchanged.
        exclude_id: the `_id` of a document to leave out, usually the source.
        without: the caller's own clauses that must not match.
        score: the score of bands. Counting tokens leaves out documents with fewer than the plan's `minimum_match`, and
            falls back to bands if both together would exceed the clause limit; `nothing` is the cheapest.
        max_clauses: the engine's clause limit.

    Returns:
        A query clause. The score of a threshold is the number of equal tokens. A plan without tokens matches nothing.

    Raises:
        QuerySyntaxError: the kind or the score is unknown, or the plan alone exceeds the clause limit.
    """
    if kind not in get_args(FieldKind):
        raise QuerySyntaxError(f"kind must be 'text' or 'terms', not {kind!r}")
    if score not in get_args(Score):
        raise QuerySyntaxError(f"score must be 'bands', 'tokens' or 'nothing', not {score!r}")
    if not plan.can_match:  # a `match` on a single token would ignore that it asks for two
        return {"match_none": {}}
    if kind == "text" and any(len(token.split()) != 1 for token in plan.tokens):
        raise QuerySyntaxError("these tokens contain white space, like Lucene terms; query them with kind='terms'")
    required = [*filters, *_bucket_range(plan, buckets_field)]
    excluded = [*without, *([{"ids": {"values": [exclude_id]}}] if exclude_id is not None else [])]
    others = clause_count([*required, *excluded])
    clause = _candidates(plan, field, kind, score, max_clauses - others)
    used = clause_count(clause) + others
    if used > max_clauses:
        raise QuerySyntaxError(
            f"the query has {used} clauses and the engine allows {max_clauses}; "
            "raise indices.query.bool.max_clause_count, or use planner 'enough' and a probability"
        )
    return _combined(clause, required, excluded)


def similar_query(
    tokens: Sequence[str],
    overlap: float | str | Fraction | None = None,
    probability: float | str | Fraction | None = None,
    *,
    field: str = "simdoc.tokens",
    planner: Planner = "enough",
    kind: FieldKind = "text",
    buckets_field: str | None = None,
    filters: Sequence[dict[str, Any]] = (),
    exclude_id: str | None = None,
    score: Score = "bands",
    max_clauses: int = MAX_CLAUSES,
) -> dict[str, Any]:
    """Plan and compile in one step; for arguments and errors see `plan` and `to_dsl`."""
    return to_dsl(
        plan(tokens, overlap, probability, planner=planner),
        field,
        kind=kind,
        buckets_field=buckets_field,
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
    """Return a query by the id of a stored document, whose tokens the engine reads: one request, no fingerprint.

    Its score is the number of equal tokens. In an index of one shard it finds what `similar_query` with the same
    overlap does. Differences:

    - The engine reads the source regardless of all filters; first check that the caller may read it. An unknown id
      finds nothing and is not an error.
    - A shard counts only the tokens that some document in it has. Shards without the source therefore require a share
      of fewer tokens, and add hits below the overlap. Drop hits that score less than overlap times the source's
      `simdoc.buckets`, or set that as the request's `min_score`.
    - Only the engine knows how many tokens the source has. Hits too long for the overlap are not left out, as with
      `buckets_field`, and without the source's tokens hits cannot be refined.
    - The overlap is rounded down to a whole percentage, and at most 512 tokens of the source are used.

    Args:
        index: the index of the source, as the `_index` of a hit; not an alias of several indices.
        id: the `_id` of the source, which is not among the hits.
        overlap: minimum Jaccard similarity, 0..1; None or under 0.01 for any, that is 1 % of the tokens, from 1 to 4.
        field: our field of tokens; it must be in `_source`.
        routing: the routing of the source, if it has one.
        filters: the caller's own clauses for the hits, unchanged; they do not apply to the source.

    Raises:
        QuerySyntaxError: the overlap is out of range.
    """
    source, itself = {"_index": index, "_id": id}, [{"term": {"_index": index}}, {"ids": {"values": [id]}}]
    if routing is not None:
        source["routing"] = routing
        itself.append({"term": {"_routing": routing}})
    clause = {
        "more_like_this": {
            "fields": [field],
            "like": [source],
            "include": True,  # else the engine leaves out the documents with this id in other indices, too
            "max_query_terms": _MAX_TOKENS,
            "min_term_freq": 1,
            "min_doc_freq": 1,
            "minimum_should_match": _minimum_should_match(
                Fraction(0) if overlap is None else parse_fraction(overlap, "overlap")
            ),
        }
    }
    return _combined(clause, [*filters], [{"bool": {"filter": itself}}])


def _minimum_should_match(share: Fraction) -> str:
    """Return the minimum_should_match that means ceil(n * share), for an unknown n.

    The engine rounds percentages down. Stated as the number of tokens that may be missing, this rounds correctly:
    -80% of 512 terms allows 409 to be missing, so 103 are required; 20% would require 102.
    """
    percent = int(share * 100)
    if not percent:
        return ANY_SHARE
    return "100%" if percent == 100 else f"{percent - 100}%"  # the engine reads -0% as none


def _bucket_range(plan: Plan, buckets_field: str | None) -> list[dict[str, Any]]:
    """Return a filter on the number of tokens, for documents that can reach the overlap."""
    match plan:
        case Threshold(buckets=(least, most)) if buckets_field:
            return [{"range": {buckets_field: {"gte": least, "lte": most}}}]
        case Threshold() | Bands():
            return []


def _candidates(plan: Plan, field: str, kind: FieldKind, score: Score, max_clauses: int) -> dict[str, Any]:
    """Return the clause that selects a plan's candidates."""
    match plan:
        case Threshold():
            return _count_of(plan.tokens, plan.minimum_match, field, kind)
        case Bands():
            fits = score != "tokens" or can_count_tokens(plan, 0, max_clauses)
            return _some_band(plan, field, kind, score if fits else "bands")


def can_count_tokens(plan: Plan, others: int, max_clauses: int) -> bool:
    """Whether selecting, counting and the number of other clauses together keep within the engine's limit."""
    counting = len(plan.tokens) if isinstance(plan, Bands) else 0
    return plan.clauses + counting + others <= max_clauses


def _combined(clause: dict[str, Any], filters: list[dict[str, Any]], without: list[dict[str, Any]]) -> dict[str, Any]:
    """Combine a clause with those that must and must not match."""
    if not filters and not without:
        return clause
    query = {"must": [clause], "filter": filters, "must_not": without}
    return {"bool": {occur: clauses for occur, clauses in query.items() if clauses}}


def _some_band(plan: Bands, field: str, kind: FieldKind, score: Score) -> dict[str, Any]:
    """Return the clause for at least one band; the score is the number of equal tokens, of matched bands, or nothing.

    Where tokens are counted, documents with too few are left out: only those that the bands let through are counted.
    """
    bands = [_all_of(band, field, kind) for band in plan.bands if band]
    if score == "bands":
        constant = [{"constant_score": {"filter": band}} for band in bands]
        return {"bool": {"should": constant, "minimum_should_match": 1}}
    query: dict[str, Any] = {"filter": [{"bool": {"should": bands, "minimum_should_match": 1}}]}
    if score == "tokens":
        query["must"] = [_count_of(plan.tokens, max(1, plan.minimum_match), field, kind)]
    return {"bool": query}


def _count_of(tokens: Sequence[str], least: int, field: str, kind: FieldKind) -> dict[str, Any]:
    """Return the clause for at least this many of the tokens; the score is their number."""
    if kind == "text":
        options = {"query": " ".join(tokens), "analyzer": "whitespace", "minimum_should_match": least}
        return {"match": {field: options}}
    scored = [{"constant_score": {"filter": {"term": {field: token}}}} for token in tokens]
    return {"bool": {"should": scored, "minimum_should_match": least}}


def _all_of(tokens: Sequence[str], field: str, kind: FieldKind) -> dict[str, Any]:
    if kind == "text":
        return {"match": {field: {"query": " ".join(tokens), "analyzer": "whitespace", "operator": "and"}}}
    return {"bool": {"filter": [{"term": {field: token}} for token in tokens]}}


def clause_count(query: dict[str, Any] | list[dict[str, Any]]) -> int:
    """Count the leaf clauses of a query as the engine does, nested ones and repeats included."""
    if isinstance(query, list):
        return sum(map(clause_count, query))
    count = 0
    for kind, body in query.items():
        if kind in _COMPOUNDS and isinstance(body, dict):
            count += sum(clause_count(part) for part in body.values() if isinstance(part, dict | list))
        elif kind == "match" and isinstance(body, dict):
            queries = (value.get("query", "") if isinstance(value, dict) else value for value in body.values())
            count += sum(max(1, len(str(query).split())) for query in queries)
        else:
            count += 1
    return count
