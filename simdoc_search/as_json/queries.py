"""Converts keys of documents, queries and plans to JSON."""

from __future__ import annotations

from typing import Any

from simdoc_search.documents import DocumentKey
from simdoc_search.query.plans import BandPlan, Plan, ThresholdPlan
from simdoc_search.query.syntax import FingerprintQuery


def key_as_json(key: DocumentKey, name: str = "id") -> dict[str, Any]:
    """Convert the id of a document, and in an engine also its index and routing.

    `name` is the JSON key of the id. The other keys are `index` and `routing`, or `NAME_index` and `NAME_routing`
    if `name` is not `id`.
    """
    prefix = "" if name == "id" else f"{name}_"
    engine_values = {f"{prefix}index": key.index, f"{prefix}routing": key.routing}
    return {name: key.id, **(engine_values if key.index is not None else {})}


def query_as_json(query: FingerprintQuery, measure: str = "jaccard") -> dict[str, Any]:
    """Convert a query. Fractions are converted to floats."""
    return {
        "id": query.id or None,
        "overlap": None if query.overlap is None else float(query.overlap),
        "probability": None if query.probability is None else float(query.probability),
        "measure": measure,
    }


def plan_as_json(plan: Plan) -> dict[str, Any]:
    """Convert the kind and size of a plan, without its tokens."""
    match plan:
        case ThresholdPlan():
            return {"kind": "threshold", "clause_count": plan.clause_count, "tokens_per_band": None, "band_count": None}
        case BandPlan():
            return {
                "kind": "bands",
                "clause_count": plan.clause_count,
                "tokens_per_band": plan.tokens_per_band,
                "band_count": len(plan.bands),
            }
