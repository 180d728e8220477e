"""Converts the result of `similar` to JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json, plan_as_json, query_as_json

if TYPE_CHECKING:
    from simdoc_search.search.similar_result import Hit, SearchResult


def similar_as_json(result: SearchResult) -> dict[str, Any]:
    """Convert the result of a query."""
    return {
        "query": query_as_json(result.query, result.measure),
        "plan": plan_as_json(result.plan),
        "candidate_count": result.candidate_count,
        "total": result.total,
        "is_total_exact": result.is_total_exact,
        "changed": result.changed,
        "hits": [_hit_as_json(hit) for hit in result.hits],
        "left_out": [{**key_as_json(left_out.key), "reason": left_out.reason} for left_out in result.left_out],
    }


def _hit_as_json(hit: Hit) -> dict[str, Any]:
    values = {
        **key_as_json(hit.key),
        "overlap": round(hit.overlap, 6),
        "matched_token_count": hit.matched_token_count,
        "kind": hit.kind,
    }
    if hit.measures:
        exact = {name: getattr(hit.measures, name) for name in ("jaccard", "containment", "reverse_containment")}
        values |= {**exact, "changed": hit.changed}
    return values
