"""Which documents are about the same."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import place_as_json

if TYPE_CHECKING:
    from simdoc_search.search import ConceptsResult, Explanation, RelatedHit, RelatedResult


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
        **({} if hit.explanation is None else {"explanation": _explanation(hit.explanation)}),
    }


def _explanation(made: Explanation) -> dict[str, Any]:
    concepts = [
        {
            "word": each.word or None,
            "weight": each.weight,
            "part": each.part,
            "source": list(each.source),
            "hit": list(each.hit),
        }
        for each in made.concepts
    ]
    numbers = {"similarity": made.similarity, "whole": made.whole, "paragraphs": made.paragraphs}
    return {**numbers, "concepts": concepts}


def concepts_as_json(result: ConceptsResult) -> dict[str, Any]:
    """The concepts of a document."""
    return {
        **({} if result.place is None else place_as_json(result.place)),
        "paragraphs": result.paragraphs,
        "documents": result.documents,
        "concepts": [
            {
                "word": each.word or None,
                "weight": each.weight,
                "documents": each.documents,
                "times": each.times,
                "names": list(each.names),
                "synonyms": list(each.synonyms),
            }
            for each in result.concepts
        ],
        "unnamed": result.unnamed or None,
    }
