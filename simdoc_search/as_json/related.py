"""Converts the results of `related` and `concepts` to JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json
from simdoc_search.sketch.thresholds import MIN_VERSION_SCORE

if TYPE_CHECKING:
    from simdoc_search.search.concepts import ConceptsResult, ConceptWord
    from simdoc_search.search.related_result import Explanation, RelatedHit, RelatedResult, SharedConceptWord


def related_as_json(result: RelatedResult, id: str | None, file: str | None) -> dict[str, Any]:
    """Convert a result. `id` is the id of the query document, and `file` is its path."""
    return {
        "query": {"id": id, "file": file},
        "min_version_score": MIN_VERSION_SCORE,
        "thresholds": asdict(result.thresholds),
        "hits": [_hit_as_json(hit) for hit in result.hits],
        "total": result.total,
        "candidate_count": result.candidate_count,
        "compared_count": result.compared_count,
        "naming_problem": result.missing_names_reason or None,
    }


def _hit_as_json(hit: RelatedHit) -> dict[str, Any]:
    return {
        **key_as_json(hit.key),
        "score": hit.score,
        "kind": hit.kind,
        "concepts": list(hit.concepts),
        "shared_word_count": hit.shared_word_count,
        **({} if hit.explanation is None else {"explanation": _explanation_as_json(hit.explanation)}),
    }


def _explanation_as_json(explanation: Explanation) -> dict[str, Any]:
    return {
        "similarity": explanation.similarity,
        "document_similarity": explanation.document_similarity,
        "paragraph_similarity": explanation.paragraph_similarity,
        "words": [_word_as_json(word) for word in explanation.words],
    }


def _word_as_json(word: SharedConceptWord | ConceptWord) -> dict[str, Any]:
    return {**asdict(word), "word": word.word or None}


def concepts_as_json(result: ConceptsResult) -> dict[str, Any]:
    """Convert the concepts of a document."""
    return {
        **key_as_json(result.key),
        "paragraph_count": result.paragraph_count,
        "document_count": result.document_count,
        "words": [_word_as_json(word) for word in result.words],
        "naming_problem": result.unknown_words_reason or None,
    }
