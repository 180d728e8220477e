"""Which documents share passages, and where."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.asked import place_as_json

if TYPE_CHECKING:
    from simdoc_search.search import PassageHit, PassageResult

__all__ = ["passages_as_json"]


def passages_as_json(asked: Mapping[str, Any], result: PassageResult) -> dict[str, Any]:
    """The answer about one document or text, `asked`; places are characters, `a` of what was asked about."""
    return {
        "query": dict(asked),
        "hits": [_hit(hit) for hit in result.hits],
        "candidates": result.candidates,
        "compared": result.compared,
    }


def _hit(hit: PassageHit) -> dict[str, Any]:
    return {
        **place_as_json(hit.place),
        "containment": hit.containment,
        "contained": hit.contained,
        "jaccard": hit.jaccard,
        "words": hit.words,
        "kind": hit.kind,
        "changed": hit.changed,
        "passages": [{"a": each.a, "b": each.b, "words": each.words} for each in hit.passages],
    }
