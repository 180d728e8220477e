"""Converts the result of `passages` to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json

if TYPE_CHECKING:
    from simdoc_search.search.passage_result import PassageHit, PassageResult


def passages_as_json(query: Mapping[str, Any], result: PassageResult) -> dict[str, Any]:
    """Convert a result. `query` identifies the query document.

    Positions are in characters. In each passage, `a` is the query document and `b` the hit.
    """
    return {
        "query": dict(query),
        "word_count": result.word_count,
        "ignored_word_count": result.ignored_word_count,
        "notes": result.notes,
        "disguised_words": [word._asdict() for word in result.disguised_words],
        "covered": result.coverage._asdict(),
        "total": result.total,
        "hits": [_hit_as_json(hit) for hit in result.hits],
        "candidate_count": result.candidate_count,
        "compared_count": result.compared_count,
        "guaranteed_run_length": result.guaranteed_run_length,
        "too_common_run_count": result.too_common_run_count,
    }


def _hit_as_json(hit: PassageHit) -> dict[str, Any]:
    return {
        **key_as_json(hit.key),
        "word_count": hit.word_count,
        "share": hit.share,
        "new_word_count": hit.added_word_count,
        "kind": hit.kind,
        "changed": hit.changed,
        "passages": [{"a": passage.a, "b": passage.b, "word_count": passage.word_count} for passage in hit.passages],
        "details": {
            "containment": hit.containment,
            "reverse_containment": hit.reverse_containment,
            "jaccard": hit.jaccard,
        },
    }
