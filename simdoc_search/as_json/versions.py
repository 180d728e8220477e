"""Which documents are versions of one, and which is the newest."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from simdoc_search.as_json.queries import place_as_json
from simdoc_search.versions import sentence_pairs

if TYPE_CHECKING:
    from simdoc_search.analysis.settings import Analysis
    from simdoc_search.documents import Place
    from simdoc_search.search import VersionEntry, VersionHit, VersionsResult
    from simdoc_search.search.versions_result import Contradiction


def versions_as_json(
    result: VersionsResult,
    own: str | None,
    file: str | None,
    texts: Mapping[Place | None, str],
    analysis: Analysis | None,
) -> dict[str, Any]:
    """The answer; with `analysis`, also which sentence is like which, by characters."""
    return {
        "query": {"id": own, "file": file},
        "theta": result.theta,
        "limits": asdict(result.limits),
        "newest": None if result.newest is None else entry_place_as_json(result.newest),
        "order": {
            "by": result.by,
            "certain": result.certain,
            "conflict": [contradiction_as_json(each) for each in result.conflict],
            "reason": result.reason,
        },
        "timeline": [_entry(each) for each in result.timeline],
        "undated": [_entry(each) for each in result.undated],
        "hits": [_hit(hit, result, texts, analysis) for hit in result.hits],
        "sentences": dict(zip(("of_source", "asked"), result.sentences, strict=True)),
        "found": result.found,
        "candidates": result.candidates,
        "compared": result.compared,
        "via": result.via,
        "changed": result.changed,
    }


def entry_place_as_json(entry: VersionEntry) -> dict[str, Any]:
    """Where a version is; its id is null if it is not stored."""
    return place_as_json(entry.place) if entry.place else {"id": None}


def contradiction_as_json(said: Contradiction) -> dict[str, Any]:
    """Two statements that contradict each other."""
    later, earlier = {"name": said.later, "date": said.later_shown}, {"name": said.earlier, "date": said.earlier_shown}
    return {"by": said.by, "later": later, "earlier": earlier, "counts": said.counts}


def _entry(entry: VersionEntry) -> dict[str, Any]:
    return {**entry_place_as_json(entry), "source": entry.is_source, **dated_as_json(entry), **_step(entry)}


def dated_as_json(entry: VersionEntry) -> dict[str, Any]:
    """When a version was written, and what says so."""
    dated = entry.dated
    return {
        "date": (dated.iso or dated.shown) if dated else None,
        "date_from": dated.by if dated else None,
    }


def _step(entry: VersionEntry) -> dict[str, Any]:
    step = entry.step
    words = None if step is None or step.added is None else {"added": step.added, "removed": step.removed}
    keys = [each._asdict() for each in step.key_changes] if step else []
    return {"alike": step.share if step else None, "words": words, "key_changes": keys}


def _hit(
    hit: VersionHit, result: VersionsResult, texts: Mapping[Place | None, str], analysis: Analysis | None
) -> dict[str, Any]:
    bits = hit.matched.bits
    return {
        **place_as_json(hit.place),
        "score": hit.score,
        "share": hit.share,
        "share_of_hit": hit.share_of_hit,
        "sentences": hit.sentences,
        "matched": len(hit.matched.a),
        "bits": float(bits.mean()) if len(bits) else 0.0,
        **dated_as_json(hit.entry),
        **_step(hit.entry),
        "changed": hit.changed,
        **({} if analysis is None else {"pairs": _pairs(hit, result, texts, analysis)}),
    }


def _pairs(
    hit: VersionHit, result: VersionsResult, texts: Mapping[Place | None, str], analysis: Analysis
) -> list[dict[str, Any]] | None:
    if result.text is None or hit.place not in texts:
        return None
    pairs = sentence_pairs(result.text, texts[hit.place], analysis, result.limits.bits)
    return [{"a": list(each.a), "b": list(each.b), "bits": each.bits} for each in pairs]
