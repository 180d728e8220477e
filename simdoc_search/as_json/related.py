"""Which documents are about the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.asked import place_as_json

if TYPE_CHECKING:
    from simdoc_search.search import RelatedHit, RelatedResult

__all__ = ["related_as_json"]


def related_as_json(result: RelatedResult, own: str | None, file: str | None) -> dict[str, Any]:
    """The answer about one document or file."""
    return {
        "query": {"id": own, "file": file},
        "theta": result.theta,
        "limits": asdict(result.limits),
        "hits": [_hit(hit) for hit in result.hits],
        "total": result.total,
        "candidates": result.candidates,
        "compared": result.compared,
        "unnamed": result.unnamed or None,
    }


def _hit(hit: RelatedHit) -> dict[str, Any]:
    return {
        **place_as_json(hit.place),
        "score": hit.score,
        "kind": hit.kind,
        "concepts": list(hit.concepts),
        "shared": hit.shared,
    }
