"""Converts the result of `versions` to JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import key_as_json
from simdoc_search.sketch.thresholds import MIN_VERSION_SCORE

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.documents import DocumentKey
    from simdoc_search.search.version_order import VersionEntry, VersionOrder
    from simdoc_search.search.version_result import VersionHit, VersionsResult
    from simdoc_search.versions.timeline import ConflictingStatement


def versions_as_json(
    result: VersionsResult,
    id: str | None,
    file: str | None,
    texts: Mapping[DocumentKey | None, str],
    analysis: Analysis | None,
) -> dict[str, Any]:
    """Convert a result. `id` is the id of the query document, and `file` is its path.

    `texts` are those of the hits. The pairs of similar sentences are left out if `analysis` is None.
    """
    return {
        "query": {"id": id, "file": file},
        "min_version_score": MIN_VERSION_SCORE,
        "thresholds": asdict(result.thresholds),
        **order_as_json(result),
        "timeline": [_entry_as_json(entry) for entry in result.timeline],
        "unordered": [_entry_as_json(entry) for entry in result.unordered],
        "hits": [_hit_as_json(hit, result, texts, analysis) for hit in result.hits],
        "sentence_count": result.sentence_count,
        "queried_sentence_count": result.queried_sentence_count,
        "total": result.total,
        "candidate_count": result.candidate_count,
        "compared_count": result.compared_count,
        "candidate_source": result.candidate_source,
        "changed": result.changed,
        "text_note": result.text_note or None,
    }


def order_as_json(order: VersionOrder) -> dict[str, Any]:
    """Convert the newest version, and the evidence for the order."""
    return {
        "newest": order.newest and entry_key_as_json(order.newest),
        "newest_without_file_times": order.newest_without_file_times
        and entry_key_as_json(order.newest_without_file_times),
        "verdict": order.verdict,
        "undecided": order.undecided and asdict(order.undecided),
        "order": {
            "evidence_kind": order.evidence_kind,
            "is_certain": order.is_certain,
            "conflicts": [_conflict_as_json(statement) for statement in order.conflicting_statements],
            "reason": order.reason,
        },
    }


def entry_key_as_json(entry: VersionEntry) -> dict[str, Any]:
    """Convert the id of a version. The id is null for a text that is not stored."""
    return key_as_json(entry.key) if entry.key else {"id": None}


def date_as_json(entry: VersionEntry) -> dict[str, Any]:
    """Convert the date of a version, the kind of evidence for it, and the name of the copy that has the date."""
    date = entry.date
    return {
        "date": (date.iso or date.label) if date else None,
        "date_evidence_kind": date.evidence_kind if date else None,
        "date_copy": entry.date_copy or None,
    }


def _conflict_as_json(statement: ConflictingStatement) -> dict[str, Any]:
    return {
        "evidence_kind": statement.evidence_kind,
        "later": {"name": statement.later, "date": statement.later_label, "copy": statement.later_copy or None},
        "earlier": {"name": statement.earlier, "date": statement.earlier_label, "copy": statement.earlier_copy or None},
        "hides_newest": statement.hides_newest,
    }


def _entry_as_json(entry: VersionEntry) -> dict[str, Any]:
    return {**entry_key_as_json(entry), "is_query": entry.is_query, **date_as_json(entry), **_changes_as_json(entry)}


def _changes_as_json(entry: VersionEntry) -> dict[str, Any]:
    changes = entry.changes
    return {
        "similar_share": changes.share if changes else None,
        "added_word_count": changes.added_word_count if changes else None,
        "removed_word_count": changes.removed_word_count if changes else None,
        "significant_changes": [change._asdict() for change in changes.significant_changes] if changes else [],
    }


def _hit_as_json(
    hit: VersionHit, result: VersionsResult, texts: Mapping[DocumentKey | None, str], analysis: Analysis | None
) -> dict[str, Any]:
    distances = hit.sentence_matches.distances
    return {
        **key_as_json(hit.key),
        "score": hit.score,
        "share": hit.share,
        "share_of_hit": hit.share_of_hit,
        "sentence_count": hit.sentence_count,
        "matched_sentence_count": len(hit.sentence_matches.a),
        "mean_distance": float(distances.mean()) if len(distances) else 0.0,
        **date_as_json(hit.entry),
        **_changes_as_json(hit.entry),
        "changed": hit.changed,
        **({} if analysis is None else {"pairs": _pairs_as_json(hit, result, texts, analysis)}),
    }


def _pairs_as_json(
    hit: VersionHit, result: VersionsResult, texts: Mapping[DocumentKey | None, str], analysis: Analysis
) -> list[dict[str, Any]] | None:
    if result.text is None or hit.key not in texts:
        return None
    from simdoc_search.versions import sentence_pairs  # noqa: PLC0415 - rarely needed

    pairs = sentence_pairs(result.text, texts[hit.key], analysis, result.thresholds.max_distance)
    return [{"a": list(pair.a), "b": list(pair.b), "distance": pair.distance} for pair in pairs]
